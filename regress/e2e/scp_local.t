#!/bin/sh
# Our scp through -D and -S, against our sftp-server and the stock one: contents, modes, trees, names, many files, errors; the
# old protocol against the stock scp.
set -u
build=${WS_BUILD:-$(pwd)}
scp=$build/scp
ours=$build/sftp-server
stock=
for f in /usr/lib/openssh/sftp-server /usr/libexec/openssh/sftp-server /usr/lib/ssh/sftp-server /usr/libexec/sftp-server; do
	[ -x "$f" ] && stock=$f && break
done
stockscp=$(PATH=/usr/bin:/bin command -v scp 2>/dev/null)
n=0
ok() { n=$((n + 1)); echo "ok $n - $1"; }
bad() { n=$((n + 1)); echo "not ok $n - $1"; shift; [ $# -gt 0 ] && printf '%s\n' "$@" | head -30 | sed 's/^/# /'; }
skip() { n=$((n + 1)); echo "ok $n - $1 # SKIP $2"; }
T=$(mktemp -d /tmp/ws-scp-XXXXXX) || exit 1
trap 'chmod -R u+rwx "$T" 2>/dev/null; rm -rf "$T"' EXIT
trap 'exit 1' INT TERM HUP
cd "$T" || exit 1
umask 022
TZ=UTC; export TZ

# is WANTED_STATUS NAME COMMAND...: runs it; output goes to $T/out
is() {
	want=$1; name=$2; shift 2
	"$@" >"$T/out" 2>&1; got=$?
	if [ "$got" = "$want" ]; then ok "$name"; else bad "$name" "exit $got, wanted $want" "$(cat "$T/out")"; fi
}
says() { if grep -q -- "$1" "$T/out"; then ok "it says: $1"; else bad "it says: $1" "$(cat "$T/out")"; fi; }
silent() { if [ -s "$T/out" ]; then bad "$1: silent" "$(cat "$T/out")"; else ok "$1: silent"; fi; }
same() { if d=$(diff -r "$2" "$3" 2>&1); then ok "$1"; else bad "$1" "$d"; fi; }
equal() { if cmp -s "$2" "$3"; then ok "$1"; else bad "$1" "$(diff "$2" "$3" 2>&1)"; fi; }
gone() { if [ -e "$2" ]; then bad "$1" "$2 is there"; else ok "$1"; fi; }
listing() { (cd "$1" && find . -printf '%p %y %m %s\n' | sort); }

mkdir -p src/sub/deep src/emptydir src/ro
echo alpha >src/a; echo beta >'src/b c'; : >src/empty; head -c 3000001 /dev/urandom >src/big
echo x >src/sub/x; echo y >src/sub/deep/y; echo q >src/ro/q; echo h >src/.hidden
chmod 640 src/a; chmod 4755 src/empty; chmod 444 'src/b c'; chmod 711 src/sub; chmod 555 src/ro; chmod 600 src/.hidden
ln -s a src/link; ln -s sub src/linkdir
touch -d '2001-02-03 04:05:06' src/a src/sub/x src/sub/deep; touch -d '1999-12-31 23:59:59' src/big src/sub src/ro src
for size in 0 1 4095 4096 4097 32768 65536 258047 258048 258049 261119 261120 261121 262144 1048577; do
	head -c $size /dev/urandom >size.$size
done

for server in ${ours:+ours} ${stock:+stock}; do
	eval "path=\$$server"
	D="-D $path"
	w=$T/w.$server; mkdir "$w"
	is 0 "$server: upload" $scp $D src/big "h:$w/up"; silent "upload"; equal "upload: content" src/big "$w/up"
	is 0 "$server: download" $scp $D "h:$T/src/big" "$w/down"; silent "download"; equal "download: content" src/big "$w/down"
	mkdir "$w/sizes" "$w/sizes2" "$w/sizes3"
	is 0 "$server: sizes up" $scp $D size.* "h:$w/sizes"
	is 0 "$server: sizes down" $scp $D "h:$w/sizes/size.*" "$w/sizes2"
	is 0 "$server: sizes down, small buffer" $scp $D -X buffer=4097 -X nrequests=3 "h:$w/sizes/*" "$w/sizes3"
	for f in size.*; do cmp -s "$f" "$w/sizes/$f" && cmp -s "$f" "$w/sizes2/$f" && cmp -s "$f" "$w/sizes3/$f" || bad "$f" differs; done
	ok "$server: sizes: contents"
	is 0 "$server: over what is there" $scp $D src/a "h:$w/up"; equal "shorter than before" src/a "$w/up"
	is 0 "$server: down over what is there" $scp $D "h:$T/src/a" "$w/down"; equal "shorter than before" src/a "$w/down"

	# Trees: new and existing targets.
	is 0 "$server: tree up" $scp -r $D src "h:$w/tree"; same "tree up" src "$w/tree"
	is 0 "$server: tree up again, into it" $scp -r $D src "h:$w/tree"; same "tree up again" src "$w/tree/src"
	is 0 "$server: tree down" $scp -r $D "h:$T/src" "$w/dtree"; same "tree down" src "$w/dtree"
	is 0 "$server: tree down again" $scp -r $D "h:$T/src" "$w/dtree"; same "tree down again" src "$w/dtree/src"
	is 0 "$server: contents only" $scp -r $D src/. "h:$w/tree2"; same "contents only" src "$w/tree2"
	is 0 "$server: -p up" $scp -pr $D src "h:$w/ptree"
	is 0 "$server: -p down" $scp -pr $D "h:$T/src" "$w/pdtree"
	(cd src && find . -printf '%P %TY%Tm%Td%TH%TM\n' | grep -v link | sort) >want.times
	for t in ptree pdtree; do
		(cd "$w/$t" && find . -printf '%P %TY%Tm%Td%TH%TM\n' | grep -v link | sort) >got.times
		equal "$server: times of $t" want.times got.times
	done
	[ "$(stat -c %a "$w/ptree/a" "$w/pdtree/a" "$w/ptree/ro" "$w/pdtree/ro" "$w/ptree/sub" "$w/pdtree/sub" | tr '\n' ' ')" = \
		'640 640 555 555 711 711 ' ] && ok "$server: -p modes" || bad "$server: -p modes" "$(listing "$w/ptree")"

	# Many small files.
	if [ ! -d many ]; then mkdir many; i=0; while [ $i -lt 1000 ]; do head -c 4096 /dev/urandom >many/f$i; i=$((i + 1)); done; fi
	is 0 "$server: 1000 files up" $scp -r $D many "h:$w/many"; same "1000 files up" many "$w/many"
	is 0 "$server: 1000 files down" $scp -r $D "h:$T/many" "$w/dmany"; same "1000 files down" many "$w/dmany"

	# Sources and targets.
	is 0 "$server: several to a folder that is made" $scp $D src/a src/big "h:$w/made"; equal "made" src/a "$w/made/a"
	is 255 "$server: several to a file" $scp $D src/a src/big "h:$w/made/a"; says "$w/made/a"
	is 255 "$server: a missing source ends the job" $scp $D src/a src/missing src/big "h:$w/made2"; says 'src/missing.*No such file'
	[ -e "$w/made2/a" ] && [ ! -e "$w/made2/big" ] && ok "what was before it was copied" || bad "what was before it" "$(ls "$w/made2")"
	is 1 "$server: several down to a missing folder" $scp $D "h:$T/src/a" "h:$T/src/big" "$w/none"; says "$w/none: No such file"
	is 0 "$server: one pattern makes its folder" $scp $D "h:$T/src/[ab]*" "$w/globbed"; equal "pattern" src/a "$w/globbed/a"
	is 1 "$server: missing far file" $scp $D "h:$T/src/nope" "$w/x"; says 'src/nope: No such file or directory'; gone "nothing made" "$w/x"
	is 1 "$server: a pattern without match" $scp $D "h:$T/src/nope*" "$w/x"; says 'src/nope\*: No such file or directory'
	is 1 "$server: one of several is missing" $scp $D "h:$T/src/a" "h:$T/src/nope" "h:$T/src/empty" "$w/globbed"
	[ -e "$w/globbed/empty" ] && ok "the others came" || bad "the others came"
	is 1 "$server: folder up without -r" $scp $D src/sub "h:$w/x"; says 'src/sub.*not a regular file'; gone "nothing made" "$w/x"
	is 1 "$server: folder down without -r" $scp $D "h:$T/src/sub" "$w/x"; says 'src/sub.*not a regular file'
	is 1 "$server: to a missing folder" $scp $D src/a "h:$w/no/such"; says "$w/no/such\".*No such file or directory"
	is 1 "$server: from there to a missing folder" $scp $D "h:$T/src/a" "$w/no/such"; says "$w/no/such\".*No such file or directory"
	is 1 "$server: down to a folder that is not there" $scp $D "h:$T/src/a" "$w/nope/"; says "$w/nope/\": no such folder"
	is 1 "$server: up to one" $scp $D src/a "h:$w/nope/"; says "$w/nope/\": no such folder"
	is 1 "$server: up to one, with -r" $scp -r $D src/a "h:$w/nope/"; says "$w/nope/\": no such folder"
	is 1 "$server: from there to there, to one" $scp $D "h:$T/src/a" "h:$w/nope/"; says "$w/nope/\": no such folder"
	gone "nothing made" "$w/nope"
	is 1 "$server: a file in a folder's place" $scp $D "h:$T/src/a" "$w/up/"; says "$w/up/\": Not a directory"
	is 0 "$server: a tree makes it" $scp -r $D src/sub "h:$w/anew/"; same "tree" src/sub "$w/anew"
	is 1 "$server: full disk far away" $scp $D src/big h:/dev/full; says '/dev/full'
	is 1 "$server: full disk here" $scp $D "h:$T/src/big" /dev/full; says '/dev/full.*No space left on device'
	mkdir -p "$w/clash/a"
	is 1 "$server: a folder stands where a file goes" $scp -r $D src/. "h:$w/clash"; says "$w/clash/a"
	equal "the others came" src/big "$w/clash/big"
	is 0 "$server: home is the empty path" sh -c "cd '$w' && '$scp' $D '$T/src/a' h: && cmp a '$T/src/a'"
	is 0 "$server: ~/" sh -c "cd '$w' && '$scp' $D '$T/src/a' h:~/tilde && cmp tilde '$T/src/a' && '$scp' $D h:~/tilde tilde2 && cmp tilde2 tilde"
	is 1 "$server: ~nosuchuser" $scp $D h:~nosuchuser/x "$w/x"; says nosuchuser
	is 0 "$server: from there to there" $scp -r $D "h:$T/src" "h:$w/relay"; same "relay" src "$w/relay"
	is 0 "$server: one file from there to there" $scp -p $D "h:$T/src/big" "h:$w/relay1"; equal "relay" src/big "$w/relay1"
	is 0 "$server: 1000 files from there to there" $scp -r $D "h:$T/many" "h:$w/relaymany"; same "relay" many "$w/relaymany"

	# Links and what is no file.
	mkdir -p odd/in; echo 1 >odd/in/f; ln -sfn ../in odd/in/round; ln -sfn in odd/tolink; [ -p odd/fifo ] || mkfifo odd/fifo
	is 1 "$server: a loop of links up" $scp -r $D odd "h:$w/odd"; says 'round.*link'; equal "the rest came" odd/in/f "$w/odd/in/f"
	says 'fifo.*not a regular file'
	is 1 "$server: a loop of links down" $scp -r $D "h:$T/odd" "$w/dodd"; says 'round.*link'; equal "the rest came" odd/in/f "$w/dodd/tolink/f"
	is 1 "$server: a fifo down" $scp $D "h:$T/odd/fifo" "$w/x"; says 'not a regular file'
	is 1 "$server: a fifo up" $scp $D odd/fifo "h:$w/x"; says 'not a regular file'
	rm -f odd/in/round odd/tolink
	is 0 "$server: a fifo on the way is passed over" $scp -r $D odd "h:$w/odd2"; says 'fifo.*not a regular file'

	# Names.
	mkdir -p names; i=0
	for f in 'a b' "a'b" 'a"b' '[1]' 'a*' 'a?b' 'a\b' 'a$b' 'a`b' '-dash' 'a;b' 'a
b' 'ä€' 'a{b,c}d' '~x' ' ' 'a%sb' '#x'; do echo "$f" >"names/$f"; i=$((i + 1)); done
	is 0 "$server: odd names up" $scp -r $D names "h:$w/names"; same "odd names up" names "$w/names"
	is 0 "$server: odd names down" $scp -r $D "h:$T/names" "$w/dnames"; same "odd names down" names "$w/dnames"
	mkdir "$w/one"
	for f in 'a b' "a'b" 'a"b' 'a$b' 'a`b' '-dash' 'a;b' 'a%sb' 'ä€' 'a{b,c}d' '~x'; do
		$scp $D "h:$T/names/$f" "$w/one/" >out 2>&1 && cmp -s "names/$f" "$w/one/$f" || bad "name $f down" "$(cat out)"
	done
	for f in '[1]' 'a*' 'a?b' 'a\b'; do
		e=$(printf '%s' "$f" | sed 's/[][*?\\]/\\&/g')
		$scp $D "h:$T/names/$e" "$w/one/" >out 2>&1 && cmp -s "names/$f" "$w/one/$f" || bad "escaped $e down" "$(cat out)"
	done
	ok "$server: names one by one"
	is 0 "$server: pattern with hidden files" $scp $D "h:$T/src/.h*" "$w/one"; equal "hidden" src/.hidden "$w/one/.hidden"

	# Speed limit: 1 MB at 16 Mbit/s takes half a second, not nothing and not a minute.
	s=$(date +%s%N); is 0 "$server: -l up" $scp $D -l 16000 size.1048577 "h:$w/slow"; e=$(($(date +%s%N) - s))
	[ $((e / 1000000)) -ge 400 ] && [ $((e / 1000000)) -le 30000 ] && ok "$server: -l up took $((e / 1000000)) ms" || bad "-l" "$e ns"
	s=$(date +%s%N); is 0 "$server: -l down" $scp $D -l 16000 "h:$T/size.1048577" "$w/slow"; e=$(($(date +%s%N) - s))
	[ $((e / 1000000)) -ge 400 ] && [ $((e / 1000000)) -le 30000 ] && ok "$server: -l down took $((e / 1000000)) ms" || bad "-l" "$e ns"

	# Modes as the stock scp gives them, whatever the umask. (-p on folders is exact here, and not there: left out.)
	if [ -n "$stockscp" ]; then
		for mask in 022 077; do for flags in '' -p; do for dir in up down; do
			for who in we they; do
				rm -rf "$w/$who"; mkdir "$w/$who"; echo old >"$w/$who/a"; chmod 604 "$w/$who/a"
				p=$scp; [ $who = they ] && p=$stockscp
				for f in a 'b c' empty .hidden; do
					if [ $dir = up ]; then (umask $mask; "$p" -q $flags $D "src/$f" "h:$w/$who/")
					else (umask $mask; "$p" -q $flags $D "h:$T/src/$f" "$w/$who/"); fi
				done
				if [ -z "$flags" ]; then
					if [ $dir = up ]; then (umask $mask; "$p" -q -r $D src/sub src/ro "h:$w/$who/")
					else (umask $mask; "$p" -q -r $D "h:$T/src/sub" "h:$T/src/ro" "$w/$who/"); fi
				fi
			done
			listing "$w/we" | sed 's/ d \(.*\) .*$/ d \1/' >we.list; listing "$w/they" | sed 's/ d \(.*\) .*$/ d \1/' >they.list
			equal "$server: modes $dir, umask $mask $flags" they.list we.list
			chmod -R u+rwx "$w/we" "$w/they"
		done; done; done
	fi
done

# Interrupted: says what is incomplete, and dies of the signal.
mkdir int
"$scp" -D "$ours" -l 8000 src/big "h:$T/int/f" >int/out 2>&1 & pid=$!
i=0; while [ "$(stat -c %s int/f 2>/dev/null || echo 0)" -lt 100000 ] && [ $i -lt 200 ]; do i=$((i + 1)); sleep 0.05; done
kill -TERM $pid; wait $pid; s=$?
[ $s -gt 128 ] && grep -q "int/f.*not complete" int/out && ok "interrupted upload says so" || bad "interrupted upload" "exit $s" "$(cat int/out)"
"$scp" -D "$ours" -l 8000 "h:$T/src/big" int/g >int/out 2>&1 & pid=$!
i=0; while [ "$(stat -c %s int/g 2>/dev/null || echo 0)" -lt 100000 ] && [ $i -lt 200 ]; do i=$((i + 1)); sleep 0.05; done
kill -TERM $pid; wait $pid; s=$?
head -c "$(stat -c %s int/g)" src/big >int/want
[ $s -gt 128 ] && grep -q "int/g.*not complete" int/out && cmp -s int/want int/g && ok "interrupted download says so, what is there is right" ||
	bad "interrupted download" "exit $s" "$(cat int/out)"

# The meter: on a terminal only, percent to 100, as wide as the terminal; -q silences it.
pty=$build/regress/helpers/on_pty
if [ -x "$pty" ]; then
	"$pty" size=24x90 expect=100% -- "$scp" -D "$ours" -l 24000 src/big src/a "h:$T/int/" >int/meter 2>&1; s=$?
	tr '\r' '\n' <int/meter >int/lines
	[ $s = 0 ] && [ "$(grep -c '^big .* 100% ' int/lines)" = 1 ] && [ "$(grep -c '^a .* 100% ' int/lines)" = 1 ] &&
		ok "meter: each file ends at 100%" || bad "meter" "exit $s" "$(cat int/lines)"
	[ "$(awk '/%/ && length($0) > 89' int/lines | wc -l)" = 0 ] && ok "meter: not wider than the terminal" || bad "meter: wide" "$(cat int/lines)"
	sed -n 's/^big .* \([0-9]*\)% .*/\1/p' int/lines >int/percent
	sort -n -c int/percent && [ "$(wc -l <int/percent)" -ge 2 ] && ok "meter: never back" || bad "meter: never back" "$(cat int/percent)"
	"$pty" -- "$scp" -q -D "$ours" src/big "h:$T/int/" >int/meter 2>&1
	[ -s int/meter ] && bad "-q: silent" "$(cat int/meter)" || ok "-q: silent"
else
	skip "the meter" "no on_pty helper"
fi

# A server that goes away, one that is missing, and a shell that talks.
printf '#!/bin/sh\ndd bs=65536 count=6 2>/dev/null | "%s"\n' "$ours" >dies; chmod +x dies
is 255 "a server that goes away" $scp -D "$T/dies" src/big "h:$T/x"; says 'Connection closed'
is 255 "no server" $scp -D "$T/nosuchserver" src/a "h:$T/x"
printf '#!/bin/sh\necho hi there\nexec "%s"\n' "$ours" >talks; chmod +x talks
is 255 "a shell that talks" $scp -D "$T/talks" src/a "h:$T/x"; says 'hi there'; says 'start-up file'

# -S: the child gets what ssh would get.
cat >fakessh <<FAKE
#!/bin/sh
echo "\$@" >"$T/args"
exec "$ours"
FAKE
chmod +x fakessh
is 0 "-S" $scp -S "$T/fakessh" -P 2222 -i key -o Foo=bar -C -4 src/a "u@h:$T/viaS"; equal "-S: content" src/a viaS
for a in '-x' '-oPermitLocalCommand=no' '-oClearAllForwardings=yes' '-oForwardAgent=no' '-i key' '-o Foo=bar' '-C' '-4' '-p 2222' '-l u' \
	'-s -- h sftp'; do grep -q -- "$a" args && ok "-S passes $a" || bad "-S passes $a" "$(cat args)"; done

# Usage and local copies.
is 1 "no operands" $scp
is 1 "one operand" $scp x
is 1 "unknown flag" $scp -y a b
is 255 "bad -X" $scp -X nrequests=0 a b
is 255 "bad -P" $scp -P 0 a b
is 1 "bad user" $scp "a b@h:x" y
is 0 "local to local" $scp src/a loc; equal "local" src/a loc
is 0 "local tree" $scp -r src/sub loctree; same "local tree" src/sub loctree
is 1 "local, to a folder that is not there" $scp src/a "$T/locnone/"; says "^$scp: $T/locnone/: no such folder$"
is 1 "several to one" $scp -r src/a src/sub locnone/; says "^$scp: locnone/: no such folder$"
gone "nothing made" locnone
is 0 "a tree makes it" $scp -r src/sub locnone/; same "local tree" src/sub locnone

# The old protocol, each side being ours or stock.
if [ -n "$stockscp" ]; then
	mkdir bin.we bin.they; ln -s "$scp" bin.we/scp; ln -s "$stockscp" bin.they/scp
	for far in we they; do
		printf '#!/bin/sh\nfor a; do last=$a; done\nPATH=%s:$PATH exec sh -c "$last"\n' "$T/bin.$far" >ssh.$far; chmod +x ssh.$far
	done
	for pair in we:they they:we we:we; do
		p=$T/bin.${pair%:*}/scp; S="-S $T/ssh.${pair#*:}"; w=$T/old.$pair; mkdir "$w"
		is 0 "-O $pair: tree up" "$p" -q -O -r $S src "h:$w/tree"; same "-O $pair: tree up" src "$w/tree"
		is 0 "-O $pair: tree down" "$p" -q -O -pr $S "h:$T/src" "$w/dtree"; same "-O $pair: tree down" src "$w/dtree"
		(cd src && find . -printf '%P %m %TY%Tm%Td%TH%TM\n' | grep -v link | sort) >want.times
		(cd "$w/dtree" && find . -printf '%P %m %TY%Tm%Td%TH%TM\n' | grep -v link | sort) >got.times
		equal "-O $pair: -p is exact" want.times got.times
		is 0 "-O $pair: several" "$p" -q -O $S src/a src/big src/empty "h:$w/"; equal "-O $pair: several" src/big "$w/big"
		is 0 "-O $pair: pattern" "$p" -q -O $S "h:$T/src/[be]*g*" "$w/big2"; equal "-O $pair: pattern" src/big "$w/big2"
		is 1 "-O $pair: missing" "$p" -q -O $S "h:$T/nope" "$w/x"; says 'No such file'
		is 1 "-O $pair: folder without -r" "$p" -q -O $S "h:$T/src/sub" "$w/x"; says 'not a regular file'
		is 1 "-O $pair: no such folder" "$p" -q -O $S src/a src/big "h:$w/none"; says 'No such file'
		slash='no such folder'; [ "${pair#*:}" = they ] && slash='Is a directory'
		is 1 "-O $pair: one up, to none" "$p" -q -O $S src/a "h:$w/none/"; says "$w/none/: $slash"
		slash='no such folder'; [ "${pair%:*}" = they ] && slash='Is a directory'
		is 1 "-O $pair: one down, to none" "$p" -q -O $S "h:$T/src/a" "$w/none/"; says "$w/none/: $slash"
		gone "-O $pair: nothing made" "$w/none"
		is 1 "-O $pair: full disk" "$p" -q -O $S src/big h:/dev/full; says 'No space left'
		is 1 "-O $pair: full disk here" "$p" -q -O $S "h:$T/src/big" /dev/full; says 'No space left'
		is 0 "-O $pair: sizes" "$p" -q -O $S size.* "h:$w/"
		for f in size.*; do cmp -s "$f" "$w/$f" || bad "-O $pair: $f"; done
		for mask in 022 077; do
			rm -rf "$w/m"; mkdir "$w/m"; (umask $mask; "$p" -q -O $S src/a 'src/b c' src/.hidden "h:$w/m")
			(cd "$w/m" && stat -c '%n %a' a 'b c' .hidden) >modes.$mask.$pair
			equal "-O $pair: modes, umask $mask" modes.$mask.we:they modes.$mask.$pair
		done
	done
else
	skip "the old protocol with the stock scp" "no stock scp"
fi
echo "1..$n"
