# Written by hand. Autoconf reads it before configure.ac; since it is there, autoreconf does without aclocal (automake).
m4_include([m4/ws_flags.m4])
m4_include([m4/ws_lib.m4])
