/* Testudo: the text of prelude.scm within the program.
   SPDX-License-Identifier: BSD-2-Clause */
#include "prelude.h"

#ifndef SCHEME_PRELUDE
#define SCHEME_PRELUDE "prelude.scm"
#endif

__asm__(".section .rodata\n"
        ".global scheme_prelude\n"
        ".global scheme_prelude_end\n"
        "scheme_prelude:\n"
        ".incbin \"" SCHEME_PRELUDE "\"\n"
        "scheme_prelude_end:\n"
        ".byte 0\n"
        ".previous\n");
