/* Testudo: the text of prelude.scm within the program.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef SCHEME_PRELUDE_H
#define SCHEME_PRELUDE_H

extern const char scheme_prelude[], scheme_prelude_end[];

#endif /* SCHEME_PRELUDE_H */
