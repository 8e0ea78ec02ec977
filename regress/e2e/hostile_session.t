#!/bin/sh
# What our sshd does with clients that misbehave after they have logged in.
. "$(dirname "$0")/hostile_lib.sh"

serve "UsePAM no" "AcceptEnv LC_*" || exit 1
remember
cases hostile_session
for name in .zlib-many .zlib-bomb .zlib-damaged; do
	one hostile_session $name "$(log_of hostile_session $name)" compress=zlib@openssh.com
done
unharmed 60000

serve "UsePAM no" "RekeyLimit 16K" || exit 1
one hostile_session .data-in-flight ""
done_testing
