# WS_FIND_LIB(NAME, PKG-CONFIG TEST, DEFAULT LIBS, HEADER, EXPRESSION)
# Sets NAME_CFLAGS, NAME_LIBS and ws_have_NAME=yes|no. pkg-config is asked when it is there and a test is given; what it says is
# still tried by linking EXPRESSION. NAME_CFLAGS and NAME_LIBS given by the user are taken as they are.
AC_DEFUN([WS_FIND_LIB], [
  AC_ARG_VAR([$1_CFLAGS], [compiler flags for $1, instead of what pkg-config says])
  AC_ARG_VAR([$1_LIBS], [linker flags for $1, instead of what pkg-config says])
  AS_IF([test -z "$$1_LIBS"], [
    AS_IF([test -n "$2" && test -n "$PKG_CONFIG" && $PKG_CONFIG --exists "$2" 2>/dev/null], [
      $1_LIBS=`$PKG_CONFIG --libs "$2"`
      AS_IF([test -z "$$1_CFLAGS"], [$1_CFLAGS=`$PKG_CONFIG --cflags "$2"`])
    ], [$1_LIBS="$3"])
  ])
  AC_MSG_CHECKING([for $1 ($$1_LIBS)])
  ws_keep_CPPFLAGS=$CPPFLAGS
  ws_keep_LIBS=$LIBS
  CPPFLAGS="$CPPFLAGS $$1_CFLAGS"
  LIBS="$$1_LIBS $LIBS"
  AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <stdio.h>
#include <stdlib.h>
$4]], [[$5;]])], [ws_have_$1=yes], [ws_have_$1=no])
  CPPFLAGS=$ws_keep_CPPFLAGS
  LIBS=$ws_keep_LIBS
  AC_MSG_RESULT([$ws_have_$1])
  AS_IF([test $ws_have_$1 = no], [$1_CFLAGS= $1_LIBS=])
])
