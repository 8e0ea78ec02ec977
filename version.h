/* The one place where the version stands. configure.ac reads WS_VERSION from this line. */
#ifndef WS_VERSION_H
#define WS_VERSION_H

#define WS_VERSION "0.1.0"

/* What follows "SSH-2.0-" in the version line; peers of our own kind know each other by the part before the number. */
#define WS_IDENT_PREFIX "Wirespeed_"
#define WS_IDENT WS_IDENT_PREFIX WS_VERSION

#endif
