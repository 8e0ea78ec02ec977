#!/bin/sh
# Makes the seeds of fuzz_client_auth in the folder client_auth beside this script: type, length, body of each message.
set -e
perl -e '
	use strict; use warnings;
	my $dir = shift;
	sub str { pack("N/a*", $_[0]) }
	sub msg { my ($type, $body) = @_; die if length($body) > 254; pack("CC/a*", $type, $body) }
	sub failure { msg(51, str($_[0]) . chr($_[1] || 0)) }
	my $prompts = msg(60, str("Name") . str("Do this") . str("") . pack("N", 2) . str("Password: ") . "\0" . str("Code: ") . "\1");
	my %seeds = (
		none => msg(52, ""),
		publickey => failure("publickey") . failure("publickey"),
		pk_ok => failure("publickey") . msg(60, str("ssh-ed25519") . str("blob")),
		signed => failure("publickey") . msg(0, "") . failure("publickey", 1),
		banner => msg(53, str("hello\n") . str("")) . failure("none"),
		password => failure("password") . failure("password") . msg(52, ""),
		change => failure("password") . msg(60, str("too old") . str("")) . msg(52, ""),
		kbdint => failure("keyboard-interactive") . $prompts . msg(60, str("") x 3 . pack("N", 0)) . msg(52, ""),
		kbdint_no => failure("keyboard-interactive,password") . $prompts . failure("password"),
		partial => failure("password") . failure("keyboard-interactive", 1) . $prompts . msg(52, ""),
		key_first => "\xfe" . msg(52, ""),
		key_first_refused => "\xfe" . failure("publickey,password") . failure("password") . msg(52, ""),
		key_first_asked => "\xfe" . msg(0, "") . failure("") . failure(""),
		early => "\xff" . msg(52, ""),
		service => "\xff" . msg(6, str("ssh-connection")),
	);
	for my $name (sort keys %seeds) {
		open my $f, ">:raw", "$dir/$name" or die $!;
		print $f $seeds{$name};
		close $f or die $!;
	}' "$(dirname "$0")/client_auth"
