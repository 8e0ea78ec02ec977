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
PERL
