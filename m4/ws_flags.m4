# Compiler and linker flags that are taken only where they work.
# Each is tried with -Werror, so that a flag which is merely ignored with a warning counts as missing.

# WS_TRY_CFLAG(VARIABLE, FLAG): appends FLAG to VARIABLE when the compiler takes it.
AC_DEFUN([WS_TRY_CFLAG], [
  AS_VAR_PUSHDEF([ws_var], [ws_cv_cflag_$2])
  AC_CACHE_CHECK([whether $CC takes $2], [ws_var], [
    ws_keep_CFLAGS=$CFLAGS
    CFLAGS="-Werror $2 $CFLAGS"
    AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <stdlib.h>]], [[char b[64]; b[0] = (char)rand(); return b[0];]])],
      [AS_VAR_SET([ws_var], [yes])], [AS_VAR_SET([ws_var], [no])])
    CFLAGS=$ws_keep_CFLAGS
  ])
  AS_VAR_IF([ws_var], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([ws_var])
])

# WS_TRY_LDFLAG(VARIABLE, FLAG [, CFLAG]): the same for linking; CFLAG is used while compiling the probe.
AC_DEFUN([WS_TRY_LDFLAG], [
  AS_VAR_PUSHDEF([ws_var], [ws_cv_ldflag_$2])
  AC_CACHE_CHECK([whether linking takes $2], [ws_var], [
    ws_keep_CFLAGS=$CFLAGS
    ws_keep_LDFLAGS=$LDFLAGS
    CFLAGS="-Werror $3 $CFLAGS"
    LDFLAGS="$2 $LDFLAGS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])], [AS_VAR_SET([ws_var], [yes])], [AS_VAR_SET([ws_var], [no])])
    CFLAGS=$ws_keep_CFLAGS
    LDFLAGS=$ws_keep_LDFLAGS
  ])
  AS_VAR_IF([ws_var], [yes], [$1="$$1 $2"])
  AS_VAR_POPDEF([ws_var])
])
