/* Testudo: the default plinth, the library half (interface, section 2.27), on
   the ISO C library alone. SPDX-License-Identifier: BSD-2-Clause */
#include "code/base.h"

#if !defined(CONFIG_PLINTH_NONE)

#include <ctype.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "code/event.h"
#include "mpslib.h"

/* Weak: a client may define any of them, and leave us the rest. */
#pragma weak mps_lib_get_EOF
#pragma weak mps_lib_get_stderr
#pragma weak mps_lib_get_stdout
#pragma weak mps_lib_fputc
#pragma weak mps_lib_memset
#pragma weak mps_lib_memcpy
#pragma weak mps_lib_memcmp
#pragma weak mps_lib_assert_fail
#pragma weak mps_lib_assert_fail_install
#pragma weak mps_clock
#pragma weak mps_clocks_per_sec
#pragma weak mps_lib_telemetry_control

int mps_lib_get_EOF(void) {
  return EOF;
}

mps_lib_FILE *mps_lib_get_stderr(void) {
  return (mps_lib_FILE *)(void *)stderr;
}

mps_lib_FILE *mps_lib_get_stdout(void) {
  return (mps_lib_FILE *)(void *)stdout;
}

int mps_lib_fputc(int c, mps_lib_FILE *stream) {
  return fputc(c, (FILE *)(void *)stream);
}

void *(mps_lib_memset)(void *p, int c, size_t n) {
  return memset(p, c, n);
}

void *(mps_lib_memcpy)(void *to, const void *from, size_t n) {
  return memcpy(to, from, n);
}

int(mps_lib_memcmp)(const void *a, const void *b, size_t n) {
  return memcmp(a, b, n);
}

/* In a program that goes on one mistake may be met a million times. */
#define PLINTH_MOST 20

static void plinth_assert_fail(const char *file, unsigned line,
                               const char *condition) {
  static atomic_uint said;
  unsigned number = atomic_fetch_add(&said, 1) + 1;

  if (number <= PLINTH_MOST) {
    (void)fflush(stdout); /* so that it stands after what led to it */
    (void)fprintf(stderr, "%s:%u: Testudo: assertion failed: %s\n", file, line,
                  condition);
    if (number == PLINTH_MOST)
      (void)fputs("Testudo: no more of these are shown\n", stderr);
    (void)fflush(stderr);
  } else {
    atomic_store(&said, PLINTH_MOST);
  }
  tdo_event_flush(); /* what mps_telemetry_flush does */
  if (TDO_COOL)
    abort();
}

static _Atomic(mps_lib_assert_fail_t) plinth_handler = plinth_assert_fail;

void mps_lib_assert_fail(const char *file, unsigned line,
                         const char *condition) {
  mps_lib_assert_fail_t handler = atomic_load(&plinth_handler);
  handler(file, line, condition);
}

mps_lib_assert_fail_t
mps_lib_assert_fail_install(mps_lib_assert_fail_t handler) {
  return atomic_exchange(&plinth_handler,
                         handler != NULL ? handler : plinth_assert_fail);
}

mps_clock_t mps_clock(void) {
  return (mps_clock_t)clock();
}

mps_clock_t mps_clocks_per_sec(void) {
  return (mps_clock_t)CLOCKS_PER_SEC;
}

/* True if the SIZE bytes at TEXT are WORD (lower case), in any case. */
static bool plinth_is_word(const char *text, size_t size, const char *word) {
  for (size_t i = 0; i < size; ++i) {
    if (tolower((unsigned char)text[i]) != (unsigned char)word[i])
      return false; /* also where WORD ends early */
  }
  return word[size] == '\0';
}

/* The filter bits that a word of MPS_TELEMETRY_CONTROL stands for. */
static unsigned long plinth_category(const char *text, size_t size) {
  if (plinth_is_word(text, size, "all"))
    return ~0ul;
#define PLINTH_CATEGORY(bit, name, word)                                      \
  if (plinth_is_word(text, size, word)) {                                     \
    return 1ul << (bit);                                                      \
  }
  TDO_EVENT_KINDS(PLINTH_CATEGORY)
#undef PLINTH_CATEGORY
  return 0;
}

unsigned long mps_lib_telemetry_control(void) {
  const char *text = getenv("MPS_TELEMETRY_CONTROL");
  unsigned long filter = 0;
  char *end;
  if (text == NULL)
    return 0;
  if (isdigit((unsigned char)text[0])) {
    filter = strtoul(text, &end, 0);
    if (*end == '\0')
      return filter;
    filter = 0;
  }
  while (*text != '\0') {
    size_t size = strcspn(text, " ");
    filter |= plinth_category(text, size);
    text += size;
    text += strspn(text, " ");
  }
  return filter;
}

#endif /* !CONFIG_PLINTH_NONE */
