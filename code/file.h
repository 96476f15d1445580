/* Testudo: reading the small files in which Linux tells about itself. No stdio:
   it allocates. Any thread, and with others stopped.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_FILE_H
#define TDO_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* The beginning of the file at PATH as a string of less than SIZE characters;
   false if there is none. */
bool tdo_file_text(char *text, size_t size, const char *path);

/* The INDEXth number in the file at PATH, or SIZE_MAX. */
size_t tdo_file_number(const char *path, unsigned index);

#endif /* TDO_CODE_FILE_H */
