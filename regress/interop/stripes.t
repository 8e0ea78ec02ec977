#!/bin/sh
# Large uploads over several channels, towards a server whose windows do not grow: when it happens, that the file is whole and has
# the right dates, and what does not get it: near servers, small files, what is no file, what may not be dated.
. "$(dirname "$0")/../lib/ssh.sh"
private_world
need "$OUR_SCP" "$OUR_SSHD"
need_stock_server
make_login || { ok 1 "a login"; finish; }
[ -n "$PASSWORD" ] || skip_all "needs an account of its own"
random_file "$T/data" 50000000
random_file "$T/small" 3000000
touch -d 2001-02-03T04:05:06Z "$T/data"
wanted=$(sum "$T/data")
there=$T/work
several='large files go over [2-8] channels'
# upload OPTION... SOURCE TARGET, TARGET in the folder there
upload() {
	limit 60 $near "$OUR_SCP" -v -F "$T/client.conf" -P "$PORT" -o Hostname=$address -o HostKeyAlias=peer "$@" 2>"$T/err"
}
whole() { is "$1" "$2 $(sum "$there/$3")" "0 $wanted"; }

# ---- near: on demand only

near= address=127.0.0.1
start_stock near "Subsystem sftp internal-sftp" "StrictModes no" || { ok 1 "stock sshd started"; finish; }
upload "$T/data" "peer:$there/near"
whole "a near server" $? near
no_line "gets one channel" "$several" "$T/err"
upload -X stripes=3 "$T/data" "peer:$there/near"
status=$?
# Before anybody reads it: that changes the date of access.
now=$(date +%s) changed=$(stat -c %Y "$there/near") read=$(stat -c %X "$there/near")
whole "asked for" $status near
is_line "it gets them" 'large files go over 3 channels' "$T/err"
is "its dates are those of the change" "$read" "$changed"
ok "$([ $((now - changed)) -lt 60 ] && [ "$changed" -le "$now" ]; echo $?)" "which was now ($changed, $now)"
upload -X stripes=3 -p "$T/data" "peer:$there/dated"
whole "with -p" $? dated
is "it has the dates of the source" "$(stat -c %Y "$there/dated")" "$(stat -c %Y "$T/data")"

# What the login may write but not date: root's file. It goes over the first channel alone.
: >"$there/root's" && chmod 666 "$there/root's"
upload -X stripes=3 "$T/data" "peer:$there/root's"
whole "a file of somebody else" $? "root's"
# Another name for the same file, and a name that leads nowhere.
: >"$there/real" && chown "$LOGIN" "$there/real" && ln -s real "$there/link"
upload -X stripes=3 "$T/data" "peer:$there/link"
whole "through a link" $? real
upload -X stripes=3 -r "$T/small" "$T/data" "peer:$there/"
whole "a large one behind a small one" $? data
is "and the small one" "$(sum "$there/small")" "$(sum "$T/small")"
upload -X stripes=9 "$T/data" "peer:$there/x"
is "more than there are" "$?" 255
# A disk that is full: one of the channels is told so.
if mkdir "$there/full" && mount -t tmpfs -o size=20m,mode=777 none "$there/full"; then
	upload -X stripes=4 "$T/data" "peer:$there/full/x"
	is "onto a full disk" "$?" 1
	is_line "says what failed" 'remote write ".*/full/x": ' "$T/err"
	is "once" "$(grep -c 'remote write' "$T/err")" 1
	umount "$there/full"
else
	skip "onto a full disk" "no tmpfs here"
fi
stop $PID
start_stock one "Subsystem sftp internal-sftp" "StrictModes no" "MaxSessions 2" || { ok 1 "stock sshd started"; finish; }
upload -X stripes=4 "$T/data" "peer:$there/refused"
whole "a server that allows two sessions" $? refused
is_line "refuses the others" 'open failed' "$T/err"
stop $PID

# ---- far: by itself

if ! far_link 20; then
	skip "a far server" "no link can be made here"
	finish
fi
near=$FROM_NEAR address=$FAR_ADDRESS
start_far "$STOCK_SSHD" far "Subsystem sftp internal-sftp" "StrictModes no" || { ok 1 "stock sshd beyond the link"; finish; }
upload "$T/data" "peer:$there/far"
whole "a far server" $? far
is_line "gets several channels" "$several" "$T/err"
upload -X stripes=1 "$T/data" "peer:$there/far"
whole "forbidden" $? far
no_line "it does not" "$several" "$T/err"
stop $PID
start_far "$OUR_SSHD" ours "Subsystem sftp internal-sftp" "StrictModes no" "PerSourcePenalties no" || { ok 1 "our sshd beyond the link"; finish; }
upload "$T/data" "peer:$there/ours"
whole "our server, whose windows grow" $? ours
no_line "needs one channel" "$several" "$T/err"
finish
