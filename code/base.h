/* Testudo: words, sizes and the build's switches.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_BASE_H
#define TDO_CODE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "mps.h"

/* Exactly one variety: COOL checks everything, HOT leaves out the checks on
   measured hot paths, RASH leaves out all (interface, section 1.8). */
#if defined(CONFIG_VAR_COOL)
#define TDO_COOL 1
#define TDO_RASH 0
#elif defined(CONFIG_VAR_RASH)
#define TDO_COOL 0
#define TDO_RASH 1
#else
#define TDO_COOL 0
#define TDO_RASH 0
#endif

#define TDO_LIKELY(e)   __builtin_expect(!!(e), 1)
#define TDO_UNLIKELY(e) __builtin_expect(!!(e), 0)

/* Where the compiler should not decide: what is seldom called keeps its
   registers out of its caller. */
#define TDO_NOINLINE __attribute__((noinline))

/* For functions that read stacks and other threads' words on purpose, which
   the sanitizers rightly forbid everybody else. */
#define TDO_NO_SANITIZE                                                       \
  __attribute__((no_sanitize("address"), no_sanitize("thread")))

#define TDO_CACHE_LINE ((size_t)64) /* bytes, of all processors we know */

/* Have the cache line of PLACE, an lvalue, on its way to the cache. A load
   whose value nobody waits for: what is only prefetched the processor leaves
   where it is, unless it knows the page's translation. Loads that do not depend
   on each other wait for memory together. */
#define TDO_TOUCH(place)                                                      \
  __asm__ volatile("" ::"r"(*(const volatile unsigned char *)&(place)))

typedef uintptr_t tdo_word_t;
typedef uint32_t tdo_sig_t; /* readable constant, set last, cleared first */

#define TDO_SIG_DEAD ((tdo_sig_t)0x0DEADF00)

/* Round SIZE down or up to a multiple of the power of two ALIGN. */
static inline size_t tdo_round_down(size_t size, size_t align) {
  return size & ~(align - 1);
}

static inline size_t tdo_round_up(size_t size, size_t align) {
  return (size + align - 1) & ~(align - 1);
}

static inline bool tdo_is_pow2(size_t n) {
  return n != 0 && (n & (n - 1)) == 0;
}

/* Base-2 logarithm of a power of two. */
static inline unsigned tdo_log2(size_t n) {
  return (unsigned)__builtin_ctzl(n);
}

/* The largest power of two that is at most N > 0. */
static inline size_t tdo_pow2_at_most(size_t n) {
  return (size_t)1 << (63 - __builtin_clzl(n));
}

static inline size_t tdo_min(size_t a, size_t b) {
  return a < b ? a : b;
}

static inline size_t tdo_max(size_t a, size_t b) {
  return a > b ? a : b;
}

/* The C library's fmin and fmax would need the mathematical library, which
   clients that say only -lmps do not link. */
static inline double tdo_fmin(double a, double b) {
  return a < b ? a : b;
}

static inline double tdo_fmax(double a, double b) {
  return a > b ? a : b;
}

/* The structure of type TYPE whose member FIELD is at P. */
#define TDO_PARENT(type, field, p) \
  ((type *)(void *)((char *)(p)-offsetof(type, field)))

#endif /* TDO_CODE_BASE_H */
