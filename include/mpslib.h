/* Testudo: what the library needs from the C library. The functions may
   be replaced by the client at link time.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpslib_h
#define mpslib_h

#include <stddef.h>
#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* They are called with locks held and in signal handlers: they may not call
   the library or touch managed memory, and any thread may call them. */

/* A stream; a FILE in the default implementation. */
typedef struct mps_lib_stream_s mps_lib_FILE;

/* As the C library's of the same names. */
int mps_lib_get_EOF(void);
#define mps_lib_EOF (mps_lib_get_EOF())
mps_lib_FILE *mps_lib_get_stderr(void);
#define mps_lib_stderr (mps_lib_get_stderr())
mps_lib_FILE *mps_lib_get_stdout(void);
#define mps_lib_stdout (mps_lib_get_stdout())
int mps_lib_fputc(int c, mps_lib_FILE *stream);
int mps_lib_fputs(const char *s, mps_lib_FILE *stream);
void *(mps_lib_memset)(void *s, int c, size_t n);
void *(mps_lib_memcpy)(void *to, const void *from, size_t n);
int (mps_lib_memcmp)(const void *s1, const void *s2, size_t n);

/* Called for each client bug and broken invariant, with a line > 0 and a
   sentence; calls the installed handler. It may return or not. The default
   handler prints, flushes telemetry and, in the cool variety, aborts. */
void mps_lib_assert_fail(const char *file, unsigned line,
                         const char *condition);

/* Install a handler and get the one before, never null. Works before any
   arena exists, needs no lock. Default implementation only. */
typedef void (*mps_lib_assert_fail_t)(const char *file, unsigned line,
                                      const char *condition);
mps_lib_assert_fail_t mps_lib_assert_fail_install(mps_lib_assert_fail_t f);

/* The processor time used, and its units in a second. */
mps_clock_t mps_clock(void);
mps_clock_t mps_clocks_per_sec(void);

/* The first value of the telemetry filter; from the environment variable
   MPS_TELEMETRY_CONTROL by default. */
unsigned long mps_lib_telemetry_control(void);

#ifdef __cplusplus
}
#endif

#endif /* mpslib_h */
