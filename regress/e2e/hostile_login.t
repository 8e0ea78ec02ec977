#!/bin/sh
# What our sshd does with clients that misbehave while they log in.
. "$(dirname "$0")/hostile_lib.sh"

serve "UsePAM no" || exit 1
remember
cases hostile_login
unharmed 40000
done_testing
