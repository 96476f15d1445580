/* Testudo: reading the small files in which Linux tells about itself, and what
   writing needs. No stdio: it allocates. Any thread, and with others stopped.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_FILE_H
#define TDO_CODE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* As open, with O_CLOEXEC, and close: by the kernel's calls as they are. In
   the C library's a thread that another one cancels would end, with an arena's
   lock. */
int tdo_file_open(const char *path, int flags);
void tdo_file_close(int fd);

/* May a file have SIZE bytes by the limit of the process (RLIMIT_FSIZE)? To
   write beyond it is a signal that ends the process. */
bool tdo_file_may_have(size_t size);

/* The beginning of the file at PATH as a string of less than SIZE characters;
   false if there is none. */
bool tdo_file_text(char *text, size_t size, const char *path);

/* The INDEXth number in the file at PATH, or SIZE_MAX. */
size_t tdo_file_number(const char *path, unsigned index);

#endif /* TDO_CODE_FILE_H */
