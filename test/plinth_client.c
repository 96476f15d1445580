/* Testudo: a client with a plinth of its own: with -DPART some functions, the
   default plinth giving the rest; else all. Driven by test_plinth_client.py.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "mps.h"
#include "mpsavm.h"
#include "mpscmvff.h"
#include "mpsio.h"
#include "mpslib.h"

static unsigned long asserted, clocks, created;
static unsigned last_line;

void mps_lib_assert_fail(const char *file, unsigned line, const char *text) {
  if (file == NULL || text == NULL)
    exit(2);
  last_line = line;
  ++asserted;
}

mps_clock_t mps_clock(void) {
  return 1000 * ++clocks;
}

#if !defined(PART)

static unsigned long controls, written, flushed;

mps_clock_t mps_clocks_per_sec(void) {
  return 1000000;
}

unsigned long mps_lib_telemetry_control(void) {
  ++controls;
  return 1;
}

struct mps_io_s {
  int unused;
};
static struct mps_io_s the_io;

mps_res_t mps_io_create(mps_io_t *io_o) {
  ++created;
  *io_o = &the_io;
  return MPS_RES_OK;
}

void mps_io_destroy(mps_io_t io) {
  (void)io;
}

mps_res_t mps_io_write(mps_io_t io, void *buf, size_t size) {
  if (io != &the_io || buf == NULL)
    exit(3);
  written += size;
  return MPS_RES_OK;
}

mps_res_t mps_io_flush(mps_io_t io) {
  if (io != &the_io)
    exit(4);
  ++flushed;
  return MPS_RES_OK;
}

int mps_lib_get_EOF(void) {
  return -1;
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

int mps_lib_fputs(const char *s, mps_lib_FILE *stream) {
  return fputs(s, (FILE *)(void *)stream);
}

void *(mps_lib_memset)(void *p, int c, size_t n) {
  return memset(p, c, n);
}

void *(mps_lib_memcpy)(void *to, const void *from, size_t n) {
  return memcpy(to, from, n);
}

int (mps_lib_memcmp)(const void *a, const void *b, size_t n) {
  return memcmp(a, b, n);
}

#endif

#define REQUIRE(cond)                                                         \
  do {                                                                        \
    if (!(cond)) {                                                            \
      printf("line %d: %s\n", __LINE__, #cond);                               \
      return 1;                                                               \
    }                                                                         \
  } while (0)

int main(void) {
  mps_arena_t arena;
  mps_pool_t pool;
  mps_addr_t p;
  REQUIRE(created == 0);
  REQUIRE(mps_arena_create_k(&arena, mps_arena_class_vm(), mps_args_none) ==
          MPS_RES_OK);
  REQUIRE(mps_pool_create_k(&pool, arena, mps_class_mvff(), mps_args_none) ==
          MPS_RES_OK);
  REQUIRE(mps_alloc(&p, pool, 100) == MPS_RES_OK);
  REQUIRE(asserted == 0);
  mps_free(pool, NULL, 100); /* a client's mistake */
  REQUIRE(asserted == 1 && last_line != 0);
  mps_pool_destroy(pool);
  REQUIRE(mps_clock() > 0 && mps_clocks_per_sec() > 0);
#if defined(PART)
  REQUIRE(mps_telemetry_get() == mps_lib_telemetry_control());
#else
  REQUIRE(mps_telemetry_get() == 1 && controls == 1);
#endif
  mps_arena_destroy(arena);
#if !defined(PART)
  REQUIRE(created == 1 && written > 0 && flushed > 0);
#endif
  puts("fine");
  return 0;
}
