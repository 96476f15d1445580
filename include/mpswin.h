/* Testudo: the system's own header, on Windows only; elsewhere nothing.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpswin_h
#define mpswin_h

#if defined(_WIN32)
#ifndef WIN32_LEAN_AND_MEAN
#define WIN32_LEAN_AND_MEAN
#endif
#include <windows.h>
#endif

#endif /* mpswin_h */
