#!/bin/sh
# Our ssh-keygen beside the stock one: each reads what the other wrote, and both print the same.
# Run alone: WS_BUILD=build-folder WS_SRC=source-folder sh regress/e2e/keygen.t
: "${WS_BUILD:?}" "${WS_SRC:?}"
ours=$WS_BUILD/ssh-keygen
stock=/usr/bin/ssh-keygen
dir=$(mktemp -d "${TMPDIR:-/tmp}/ws-keygen.XXXXXX") || exit 1
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
cd "$dir" || exit 1
unset DISPLAY WAYLAND_DISPLAY SSH_ASKPASS SSH_ASKPASS_REQUIRE
n=0

ok() { # status, name
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else
		echo "not ok $n - $2"
		for f in out err want got; do [ ! -s $f ] || sed "s/^/# $f: /" $f >&2; done
	fi
}
same() { # name: the files want and got hold the same
	cmp -s want got; ok $? "$1"
	rm -f want got
}
# run NAME STATUS COMMAND...: stdout in out, stderr without CR in err
run() {
	name=$1 status=$2; shift 2
	"$@" >out 2>err.cr </dev/null; rc=$?
	tr -d '\r' <err.cr >err
	[ $rc = "$status" ]; ok $? "$name: exit $status${rc:+ (was $rc)}"
}
says() { grep -qF -- "$1" "$2"; ok $? "says: $1"; }
fp() { head -1 "$1" | cut -d' ' -f2; }

if [ ! -x $stock ]; then echo "1..0 # SKIP no stock ssh-keygen"; exit 0; fi

# ---- every type, made by us, read by stock
for t in ed25519 ecdsa:256 ecdsa:384 ecdsa:521 rsa:1024 rsa:2048 ssh-rsa:1024 ecdsa-sha2-nistp384; do
	type=${t%:*} bits=${t#*:} f=k_$(echo $t | tr : _)
	[ $bits != $t ] || bits=
	for pass in '' 'a pass'; do
		rm -f $f $f.pub
		run "make $t '$pass'" 0 $ours -t $type ${bits:+-b $bits} -f $f -N "$pass" -C "comment of $t" -a 3
		[ "$(stat -c %a $f) $(stat -c %a $f.pub)" = '600 644' ]; ok $? 'modes 600 and 644'
		says "Generating public/private $type key pair." out
		says "Your identification has been saved in $f" out
		says "Your public key has been saved in $f.pub" out
		$stock -lv -f $f.pub >l
		{ echo "Generating public/private $type key pair."; echo "Your identification has been saved in $f"
		echo "Your public key has been saved in $f.pub"; echo 'The key fingerprint is:'
		echo "$(fp l) comment of $t"; echo "The key's randomart image is:"; sed 1d l; } >want
		cp out got; same "output of $t '$pass'"
		$stock -y -P "$pass" -f $f >want 2>&1; cp $f.pub got; same "stock reads our private $t '$pass'"
		$ours -y -P "$pass" -f $f >got 2>&1; cp $f.pub want; same "we read our private $t '$pass'"
	done
done

# ---- every type, made by stock, shown by both alike
for t in ed25519:256 ecdsa:256 ecdsa:384 ecdsa:521 rsa:1024 rsa:3072; do
	f=s_$(echo $t | tr : _)
	$stock -q -t ${t%:*} -b ${t#*:} -f $f -N 'open me' -C "stock $t" -a 3
	for args in '-l' '-lv' '-l -E md5' '-l -E sha1' '-lv -E sha512' '-l -E sha384' '-B' '-e'; do
		$stock $args -f $f.pub >want 2>&1; $ours $args -f $f.pub >got 2>&1; same "$args of $t"
	done
	$stock -y -f $f -P 'open me' >want; $ours -y -f $f -P 'open me' >got; same "-y of stock $t"
	$stock -l -f $f >want; $ours -l -f $f >got; same "-l of private $t"
	$ours -e -f $f.pub >rfc; cut -d' ' -f1,2 $f.pub >want
	$ours -i -f rfc >got; same "-i of our -e of $t"
	$stock -e -f $f.pub | sed 's/$/\r/' >rfc; cut -d' ' -f1,2 $f.pub >want
	$ours -i -f rfc >got; same "-i of stock -e with CRLF of $t"
	run "wrong passphrase for $t" 255 $ours -y -f $f -P wrong
	says "Load key \"$f\": incorrect passphrase supplied to decrypt private key" err
done

# ---- -p: passphrase, cipher, format; both ways
$stock -q -t rsa -b 2048 -f p -N '' -C 'p comment'
for c in aes128-ctr aes192-ctr aes256-ctr aes128-cbc aes192-cbc aes256-cbc aes128-gcm@openssh.com aes256-gcm@openssh.com \
	chacha20-poly1305@openssh.com 3des-cbc; do
	run "-p -Z $c" 0 $ours -p -f p -P secret -N secret -Z $c -a 1
	$stock -y -f p -P secret >got 2>&1; cp p.pub want; same "stock reads our $c"
	$stock -q -p -f p -P secret -N secret -Z $c -a 1 >/dev/null 2>&1
	$ours -y -f p -P secret >got 2>&1; cp p.pub want; same "we read stock's $c"
done
run '-p takes the passphrase away' 0 $ours -p -f p -P secret -N ''
printf "Key has comment 'p comment'\nYour identification has been saved with the new passphrase.\n" >want; cp out got; same '-p says'
run '-p -q' 0 $ours -q -p -f p -N 'other one'
cmp -s out /dev/null; ok $? '-q is silent'
run '-p with a wrong passphrase' 255 $ours -p -f p -P bad -N x
says 'Failed to load key p: incorrect passphrase supplied to decrypt private key' err
for m in PEM PKCS8; do for pass in '' '12345'; do for f in p k_ecdsa_384; do
	$stock -q -p -f $f -P 'other one' -N '' >/dev/null 2>&1 || $stock -q -p -f $f -P 'a pass' -N '' >/dev/null 2>&1
	run "-p -m $m '$pass' $f" 0 $ours -p -f $f -N "$pass" -m $m
	cut -d' ' -f1,2 $f.pub >want
	$stock -y -f $f -P "$pass" 2>&1 | cut -d' ' -f1,2 >got; same "stock reads our $m '$pass' of $f"
	$ours -y -f $f -P "$pass" | cut -d' ' -f1,2 >got; cut -d' ' -f1,2 $f.pub >want; same "we read our $m '$pass' of $f"
	$stock -q -p -f $f -P "$pass" -N "$pass" -m $m >/dev/null 2>&1
	$ours -y -f $f -P "$pass" | cut -d' ' -f1,2 >got; cut -d' ' -f1,2 $f.pub >want; same "we read stock's $m '$pass' of $f"
	run "-p back from $m of $f" 0 $ours -p -f $f -P "$pass" -N ''
	head -1 $f >got; echo '-----BEGIN OPENSSH PRIVATE KEY-----' >want; same "$m becomes the OpenSSH format"
done; done; done
run 'no passphrase of four letters in PEM' 1 $ours -p -f p -N 1234 -m PEM
run 'no PEM of ed25519' 1 $ours -t ed25519 -f pem -N '' -m PEM
says 'Saving key "pem" failed: invalid format' err
[ ! -e pem ]; ok $? 'nothing is left behind'
run 'PKCS8 of ed25519' 0 $ours -q -t ed25519 -f pkcs8 -N '' -m PKCS8
openssl pkey -in pkcs8 -noout >/dev/null 2>&1; ok $? 'openssl reads it'
openssl genpkey -algorithm ed25519 -out foreign 2>/dev/null; chmod 600 foreign
run 'ed25519 of openssl' 0 $ours -y -f foreign

# ---- -c
$ours -q -t ed25519 -f c -N '' -C 'first'
run '-c' 0 $ours -c -f c -C 'second'
printf "Old comment: first\nComment 'second' applied\n" >want; cp out got; same '-c says'
$stock -y -f c >got; cp c.pub want; same '-c changes both files'
run '-c same' 0 $ours -c -f c -C 'second'
says 'No change to comment' out
run '-c away' 0 $ours -c -f c -C ''
says 'Comment removed' out
run '-c from nothing' 0 $ours -c -f c -C 'third'
says 'No existing comment' out
$ours -q -p -f c -N 'keep me'
run '-c with a passphrase' 0 $ours -c -f c -P 'keep me' -C 'fourth'
run 'which is kept' 0 $ours -y -f c -P 'keep me'
says ' fourth' out
run '-c with a wrong one' 255 $ours -c -f c -P 'bad' -C 'fifth'
says 'Cannot load private key "c": incorrect passphrase supplied to decrypt private key' err

# ---- -l of lists
{ echo '# comment'; echo; cat s_rsa_1024.pub; echo garbage; echo "host,h2 $(cut -d' ' -f1,2 s_ecdsa_256.pub)"
echo "command=\"a b\",no-pty $(cat s_ed25519_256.pub)"; cat s_ecdsa_384.pub; } >list
for args in '-l' '-lv' '-l -E md5' '-B'; do
	$stock $args -f list >want 2>&1; $ours $args -f list >got 2>&1; same "$args of a list"
	$stock $args -f - <list >want 2>&1; $ours $args -f - <list >got 2>&1; same "$args of stdin"
done
echo "@revoked h $(cut -d' ' -f1,2 s_rsa_1024.pub)" >marked
run 'a marked line' 0 $ours -l -f marked
cat "$WS_SRC/regress/unit/keys/data/sk.pub" list >with_sk
run 'unknown types are skipped' 0 $ours -l -f with_sk
$stock -q -t rsa -b 2048 -m PEM -f pem1 -N ''; rm pem1.pub
$stock -q -t rsa -b 2048 -m PEM -f pem2 -N 12345; rm pem2.pub
$stock -l -f pem1 >want; $ours -l -f pem1 >got; same '-l of a PEM key'
run '-l of an encrypted PEM key' 255 $ours -l -f pem2; says 'pem2 is not a key file.' err
run '-l of no key' 255 $ours -l -f /etc/passwd; says '/etc/passwd is not a public key file.' err
run '-l of nothing' 255 $ours -l -f missing; says 'ssh-keygen: missing: No such file or directory' err
run '-l of empty stdin' 255 $ours -l -f -; says '(stdin) is not a public key file.' err

# ---- -A
conf=$($ours -A -f "$dir/nowhere" 2>&1 >/dev/null | tr -d '\r' | sed -n "s|.*private key in $dir/nowhere\\(.*\\)/ssh_host_rsa_key:.*|\\1|p")
[ -n "$conf" ]; ok $? '-A into a folder that is missing says where'
mkdir -p "root$conf"
run '-A' 0 $ours -A -f "$dir/root"
echo 'ssh-keygen: generating new host keys: RSA ECDSA ED25519 ' >want; cp out got; same '-A says'
for k in rsa ecdsa ed25519; do
	f=root$conf/ssh_host_${k}_key
	$stock -y -f "$f" >want; cp "$f.pub" got; same "-A made $k"
done
before=$(cat root$conf/*_key | sha256sum)
run '-A again' 0 $ours -A -f "$dir/root"
cmp -s out /dev/null && [ "$(cat root$conf/*_key | sha256sum)" = "$before" ]; ok $? 'changes nothing'
: >"root$conf/ssh_host_ecdsa_key"
run '-A with an empty file' 0 $ours -A -f "$dir/root"
echo 'ssh-keygen: generating new host keys: ECDSA ' >want; cp out got; same 'makes that one'

# ---- refusals
run 'unknown type' 255 $ours -t foo -f z -N ''; says 'unknown key type foo' err
run 'type of another day' 255 $ours -t ed25519-sk -f z -N ''; says 'ed25519-sk is not supported' err
run 'RSA too short' 255 $ours -t rsa -b 1023 -f z -N ''; says 'Invalid RSA key length' err
run 'RSA too long' 255 $ours -t rsa -b 16385 -f z -N ''
run 'ECDSA size' 255 $ours -t ecdsa -b 255 -f z -N ''
says 'Invalid ECDSA key length: valid lengths are 256, 384 or 521 bits' err
run 'bits' 255 $ours -b 12x -f z -N ''; says 'Bits has bad value 12x' err
run 'rounds' 255 $ours -a 0 -f z -N ''
run 'hash' 255 $ours -l -E foo -f c.pub; says 'Invalid hash algorithm "foo"' err
run 'format' 255 $ours -m foo -f z -N ''; says 'Unsupported conversion format "foo"' err
run 'cipher' 255 $ours -Z foo -f z -N x; says "Invalid OpenSSH-format cipher 'foo'" err
run 'operand' 1 $ours -l -f c.pub more; says 'Too many arguments.' err
run 'missing value' 1 $ours -E
run 'a mode that is not there' 255 $ours -F host; says 'option -F is not supported' err
run 'two modes' 255 $ours -p -c -f c
run 'no folder' 1 $ours -q -f /nonexistent/z -N ''; says 'Saving key "/nonexistent/z" failed: ' err
run '-y of nothing' 255 $ours -y -f missing; says 'missing: No such file or directory' err
cp c open; chmod 644 open
run 'open modes' 255 $ours -y -f open; says "Permissions 0644 for 'open' are too open." err
says 'UNPROTECTED PRIVATE KEY FILE!' err
[ ! -e z ]; ok $? 'none of these made a file'

# ---- questions without a terminal (setsid takes it away)
if command -v setsid >/dev/null; then
	ask() { name=$1 status=$2 text=$3; shift 3
		printf "$text" | setsid -w "$@" >out 2>err; rc=$?; [ $rc = "$status" ]; ok $? "$name: exit $status (was $rc)"; }
	ask 'no overwriting' 1 'n\n' $ours -f c -N ''
	says 'c already exists.' out; says 'Overwrite (y/n)? ' out
	ask 'end of file is no' 1 '' $ours -f c -N ''
	run 'still the old one' 0 $ours -y -f c -P 'keep me'; says ' fourth' out
	ask 'overwriting' 0 'y\n' $ours -f c -N '' -C fresh
	run 'the new one' 0 $ours -y -f c; says ' fresh' out
	ask 'file name' 0 'named\n' $ours -N ''
	says '/.ssh/id_ed25519): ' out
	[ -f named ] && [ -f named.pub ]; ok $? 'the file that was named'
	ask 'passphrases from stdin' 0 'abc\nabd\nabc\nabc\n' $ours -f q1 -a 1
	says 'Enter passphrase for "q1" (empty for no passphrase): ' err; says 'Enter same passphrase again: ' err
	says 'Passphrases do not match.  Try again.' out
	ask 'and back' 0 'abc\n' $ours -y -f q1; says 'Enter passphrase for "q1": ' err
	ask '-p asks' 0 'abc\nde\nde\n' $ours -p -f q1 -a 1
	says 'Enter old passphrase: ' err; says 'Enter new passphrase (empty for no passphrase): ' err
	ask '-p mismatch' 1 'de\nx\ny\n' $ours -p -f q1; says 'Pass phrases do not match.  Try again.' out
	run 'the passphrase that was set' 0 $ours -y -f q1 -P de
	ask 'nothing on stdin is no passphrase' 0 '' $ours -q -f q2
	run 'really none' 0 $ours -y -f q2
	ask '-c asks' 0 'typed comment\n' $ours -c -f q2; says "Comment 'typed comment' applied" out

	# askpass
	printf '#!/bin/sh\necho "$1" >>%s/asked\necho "from askpass"\n' "$dir" >askpass; chmod 755 askpass
	printf '#!/bin/sh\nexit 1\n' >refuse; chmod 755 refuse
	SSH_ASKPASS=$dir/askpass; DISPLAY=:9; export SSH_ASKPASS DISPLAY
	ask 'askpass' 0 '' $ours -q -f q3 -a 1
	printf 'Enter passphrase for "q3" (empty for no passphrase): \nEnter same passphrase again: \n' >want; cp asked got; same 'askpass was asked'
	run 'its answer' 0 $ours -y -f q3 -P 'from askpass'
	SSH_ASKPASS_REQUIRE=never; export SSH_ASKPASS_REQUIRE
	ask 'never' 0 'from askpass\n' $ours -y -f q3
	SSH_ASKPASS_REQUIRE=force; unset DISPLAY
	ask 'force' 0 '' $ours -y -f q3
	SSH_ASKPASS=$dir/refuse
	ask 'cancelled' 255 '' $ours -y -f q3; says 'cancelled' err
	unset SSH_ASKPASS SSH_ASKPASS_REQUIRE
fi

# ---- questions on a terminal
if command -v expect >/dev/null; then
	cat >tty.exp <<-'X'
	set timeout 20
	log_user 0
	proc must {what} { expect -ex $what {} timeout { puts "no: $what"; exit 1 } eof { puts "end before: $what"; exit 1 } }
	set ours [lindex $argv 0]
	spawn $ours -q -f t1 -a 1
	must "Enter passphrase for \"t1\" (empty for no passphrase): "
	send "typed pass\r"
	must "Enter same passphrase again: "
	send "typed pass\r"
	expect eof
	set all $expect_out(buffer)
	if {[string match "*typed*" $all]} { puts "echoed"; exit 1 }
	if {[lindex [wait] 3] != 0} { puts "status"; exit 1 }
	spawn sh -c "trap : INT; stty -a | grep -o ' -*echo '; $ours -y -f t1; stty -a | grep -o ' -*echo '; echo done"
	must " echo "
	must "Enter passphrase for \"t1\": "
	send "\003"
	must " echo "
	must "done"
	expect eof
	spawn $ours -y -f t1
	must "Enter passphrase for \"t1\": "
	send "typed pass\r"
	must "ssh-ed25519 "
	expect eof
	puts fine
	X
	expect tty.exp $ours >out 2>err; [ "$(tail -1 out)" = fine ]; ok $? 'questions on a terminal, without echo, interrupted'
fi
echo "1..$n"
