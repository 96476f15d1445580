/* Testudo: loaded before a program, uses up its mappings: alternate pages of
   a block get another access until the system refuses, and then as many as
   TEST_MAPPINGS_LEFT says become free again.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST ((size_t)1 << 20) /* mappings of any limit that is tested */

__attribute__((constructor)) static void use_up(void) {
  const char *text = getenv("TEST_MAPPINGS_LEFT");
  size_t left = text == NULL ? 0 : (size_t)strtoul(text, NULL, 10), used = 0;
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *block;

  if (left == 0)
    return;
  block = mmap(NULL, 2 * MOST * page, PROT_NONE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED)
    abort();
  while (used < MOST &&
         mprotect(block + 2 * used * page, page, PROT_READ) == 0)
    ++used;
  if (used == MOST || 2 * used < left)
    abort(); /* no limit, or one that says nothing */
  /* One page closed again is two mappings less. */
  for (size_t i = 0; i < left / 2; ++i)
    if (mprotect(block + 2 * --used * page, page, PROT_NONE) != 0)
      abort();
  (void)unsetenv("LD_PRELOAD"); /* not for the programs that this one runs */
}
