#!/bin/sh
# What our sshd does with clients that misbehave before there are keys.
. "$(dirname "$0")/hostile_lib.sh"

serve "KexAlgorithms +diffie-hellman-group14-sha256" || exit 1
remember
cases hostile_plain
unharmed 40000
done_testing
