#!/bin/sh
# Makes the seeds of the harnesses for xfer/.
set -e
here=$(cd "$(dirname "$0")" && pwd)
for d in sftp_server sftp_client rcp_sink; do rm -rf "$here/$d"; mkdir "$here/$d"; done
perl - "$here" <<'PERL'
use strict; use warnings;
my $here = $ARGV[0];
sub out { my ($name, @parts) = @_; open my $f, '>', "$here/$name" or die; binmode $f; print $f @parts; close $f }
sub str { pack 'N/a*', $_[0] }
sub msg { str(join '', @_) }
my $id = 0;
sub req { my ($type, @rest) = @_; msg(pack('CN', $type, ++$id), @rest) }
sub hello { $id = 0; msg(pack 'CN', 1, 3) }
sub u64 { pack 'Q>', $_[0] }
my $none = pack 'N', 0;
sub handle { str(pack 'N', $_[0]) }

# The server: each begins with the byte that the harness looks at.
out('sftp_server/write_read', "\0", hello, req(3, str('new'), pack('N', 27), pack('NN', 4, 0600)), req(6, handle(0), u64(3), str('data')),
	req(8, handle(0)), req(5, handle(0), u64(0), pack 'N', 100), req(10, handle(0), pack('NNNN', 12, 0644, 1, 2)), req(4, handle(0)));
out('sftp_server/folder', "\x18", hello, req(14, str('d/x'), pack('NN', 4, 0700)), req(11, str('d')), req(12, handle(0)), req(12, handle(0)),
	req(4, handle(0)), req(15, str('d/x')));
out('sftp_server/names', "\0", hello, req(16, str('l/../f')), req(16, str('loop')), req(17, str('f')), req(7, str('l')), req(19, str('l')),
	req(20, str('target'), str('s')), req(18, str('f'), str('g')), req(13, str('g')), req(9, str('d'), pack('NN', 4, 0711)));
my @ext = (['posix-rename@openssh.com', str('f'), str('h')], ['statvfs@openssh.com', str('.')], ['hardlink@openssh.com', str('h'), str('i')],
	['lsetstat@openssh.com', str('l'), pack('NNN', 8, 5, 6)], ['limits@openssh.com'], ['expand-path@openssh.com', str('~me/x')],
	['home-directory', str('')], ['users-groups-by-id@openssh.com', str(pack 'NN', 0, 1), str(pack 'N', 0)], ['what@is.this', 'x']);
out('sftp_server/extended', "\0", hello, map { my ($n, @r) = @$_; req(200, str($n), @r) } @ext);
out('sftp_server/copy', "\0", hello, req(3, str('f'), pack('N', 1), $none), req(3, str('c'), pack('N', 26), $none),
	req(200, str('copy-data'), handle(0), u64(0), u64(0), handle(1), u64(2)), req(200, str('fsync@openssh.com'), handle(1)),
	req(200, str('fstatvfs@openssh.com'), handle(1)));
out('sftp_server/read_only', "\1", hello, req(3, str('f'), pack('N', 1), $none), req(5, handle(0), u64(2), pack 'N', 5), req(13, str('f')));
out('sftp_server/deaf', "\6", hello, req(3, str('f'), pack('N', 1), $none), map { req(5, handle(0), u64(0), pack 'N', 10) } 1 .. 40);

# The client: ids are place and generation; one request at a time is answered in these.
sub version { msg(pack('CN', 2, 3), map { str($_) } @_) }
sub rid { my ($place, $gen) = @_; pack 'N', $gen << 20 | $place }
sub status { my ($i, $s) = @_; msg(pack('C', 101), $i, pack('N', $s), str('words'), str('')) }
sub attrs { my ($mode, $size) = @_; pack('N', 5) . u64($size) . pack('N', $mode) }
sub attrmsg { my ($i, $mode, $size) = @_; msg(pack('C', 105), $i, attrs($mode, $size)) }
sub handlemsg { msg(pack('C', 102), $_[0], str('h')) }
sub names { my ($i, @n) = @_; msg(pack('C', 104), $i, pack('N', scalar @n), map { str($_->[0]) . str("long $_->[0]") . attrs($_->[1], $_->[2]) } @n) }
sub data { my ($i, $d) = @_; msg(pack('C', 103), $i, str($d)) }
my ($dir, $reg, $link) = (040755, 0100644, 0120777);
# Pattern *, not early: OPENDIR, two READDIRs, CLOSE, STATs, OPEN, READ, CLOSE.
out('sftp_client/glob', chr(32), version, handlemsg(rid(0, 0)), names(rid(0, 1), ['a', $reg, 3], ['..', $dir, 0], ['x/y', $reg, 0]),
	status(rid(1, 0), 1), status(rid(0, 2), 1), status(rid(2, 0), 1), status(rid(2, 1), 0), attrmsg(rid(0, 3), $reg, 3),
	handlemsg(rid(0, 4)), data(rid(0, 5), 'abc'), status(rid(0, 6), 0));
out('sftp_client/expand', chr(2), version('expand-path@openssh.com', '1'), names(rid(0, 0), ['/home/u/x', $reg, 0]), attrmsg(rid(0, 1), $dir, 0),
	handlemsg(rid(0, 2)), names(rid(0, 3), ['f', $reg, 2], ['l', $link, 0], ['d', $dir, 0]), status(rid(1, 0), 1));
out('sftp_client/early', chr(10), version('limits@openssh.com', '1', 'copy-data', '1'), msg(pack('C', 201), rid(0, 0), u64(262144), u64(261120), u64(261120), u64(100)),
	names(rid(1, 0), ['/x', $reg, 0]), attrmsg(rid(1, 1), $reg, 10), handlemsg(rid(1, 2)), data(rid(1, 3), '0123'), data(rid(1, 4), '456789'), status(rid(1, 5), 1));
out('sftp_client/upload', chr(1 | 2 | 4), version, attrmsg(rid(0, 0), $dir, 0), status(rid(0, 1), 0), handlemsg(rid(0, 2)), handlemsg(rid(1, 0)), handlemsg(rid(2, 0)),
	map { (status(rid($_, 1), 0), status(rid($_, 2), 0), status(rid($_, 3), 0)) } 0 .. 3);
out('sftp_client/noise', chr(1), "Last login: yesterday\n");
out('sftp_client/refused', chr(1 | 2), version, status(rid(0, 0), 2), status(rid(0, 1), 3), status(rid(0, 2), 2));

# The old protocol: what a source sends, what a sink answers.
out('rcp_sink/file', chr(0), "T1000 0 2000 0\nC0644 3 f\nabc\0");
out('rcp_sink/tree', chr(2 | 4), "D0755 0 f\nC0600 2 x\nhi\0D0511 0 y\nE\nE\n");
out('rcp_sink/errors', chr(32), "\001scp: nothing\nC0644 1 fa\nx\001short\n\002end\n");
out('rcp_sink/evil', chr(8), "C0644 3 ../f\nabc\0");
out('rcp_sink/bytes', chr(16 | 64), "C0644 5 a\nhello\0");
out('rcp_sink/replies', chr(1 | 2 | 4), "\0" x 12);
out('rcp_sink/refusals', chr(1 | 2), "\0\0\001no\n\0\002never\n");
PERL
