/* Testudo: what the main function of every Check suite does.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_SUITE_H
#define TDO_TEST_SUITE_H

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

/* Run SUITE and say whether it passed, as main returns it. */
static inline int suite_run(Suite *suite) {
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Does an emulator run this program? It has not all that the kernel has. */
static inline bool suite_emulated(void) {
  return getenv("TEST_EMULATED") != NULL;
}

/* Is this program many times slower than others? */
static inline bool suite_slow(void) {
  const char *sanitized = getenv("TEST_SANITIZED");
  return suite_emulated() || (sanitized != NULL && *sanitized != 0);
}

/* Rounds against a model: N, or fewer in such a program. */
static inline size_t suite_rounds(size_t n) {
  return suite_slow() ? n / 4 : n;
}

/* SIZE bytes in pages of the system's, which may be of up to 64 KiB. */
static inline size_t suite_pages(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  return (size + page - 1) / page * page;
}

/* Is there a collection at every chance? */
static inline bool suite_stressed(void) {
  return getenv("TESTUDO_STRESS") != NULL;
}

/* How much of something: N, or FEW where that is so, each with a check of the
   whole heap. */
static inline size_t suite_size(size_t n, size_t few) {
  return suite_stressed() ? few : n;
}

/* Is this one of the runs in other modes (test/CMakeLists.txt)? A check of all
   of the heap opens it. */
static inline bool suite_varied(void) {
  return getenv("TESTUDO_SHIELD") != NULL ||
         getenv("TESTUDO_CHECK") != NULL || suite_stressed();
}

/* The first thing that a signal handler does which threads may be stopped in:
   the thread sanitizer blocks every signal there. */
#if defined(__SANITIZE_THREAD__)
#include <signal.h>
static inline void suite_handler(void) {
  sigset_t ours;
  (void)sigemptyset(&ours);
  (void)sigaddset(&ours, SIGSEGV);
  (void)sigaddset(&ours, SIGXCPU);
  (void)sigaddset(&ours, SIGXFSZ);
  (void)pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}
#else
static inline void suite_handler(void) {
}
#endif

#ifdef TDO_COVERAGE
void __gcov_dump(void);
#endif

/* _exit, for a child process; what the child reached of the library counts
   as covered. */
static inline _Noreturn void suite_leave(int status) {
#ifdef TDO_COVERAGE
  __gcov_dump();
#endif
  _exit(status);
}

/* A cold end for the stack that has the calling function's variables. On
   AArch64 they lie above the frame's address, and below the caller's. */
#if defined(__aarch64__)
#define FRAME_COLD() (*(void **)__builtin_frame_address(0))
#else
#define FRAME_COLD() __builtin_frame_address(0)
#endif

/* A suite of one case with these tests (Check's TTest pointers), each given
   SECONDS. */
static inline Suite *suite_of(const char *name, double seconds,
                              const TTest *const tests[], size_t n) {
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  tcase_set_timeout(tcase, seconds);
  for (size_t i = 0; i < n; ++i)
    tcase_add_test(tcase, tests[i]);
  suite_add_tcase(suite, tcase);
  return suite;
}

/* A test, and how often it is played, with another `_i` each time. */
typedef struct suite_loop {
  const TTest *test;
  int times;
} suite_loop_t;

/* FIRST, if it is not null, comes before each. */
static inline Suite *suite_of_loops(const char *name, double seconds,
                                    void (*first)(void),
                                    const suite_loop_t loops[], size_t n) {
  Suite *suite = suite_create(name);
  TCase *tcase = tcase_create(name);
  tcase_set_timeout(tcase, seconds);
  tcase_add_checked_fixture(tcase, first, NULL);
  for (size_t i = 0; i < n; ++i)
    tcase_add_loop_test(tcase, loops[i].test, 0, loops[i].times);
  suite_add_tcase(suite, tcase);
  return suite;
}

#define SUITE_SETUP_MAIN(name, seconds, setup, ...)                           \
  int main(void) {                                                            \
    const suite_loop_t loops[] = {__VA_ARGS__};                               \
    size_t n = sizeof loops / sizeof loops[0];                                \
    return suite_run(suite_of_loops(name, seconds, setup, loops, n));         \
  }

#define SUITE_LOOPS_MAIN(name, seconds, ...)                                  \
  SUITE_SETUP_MAIN(name, seconds, NULL, __VA_ARGS__)

#define SUITE_MAIN(name, seconds, ...)                                        \
  int main(void) {                                                            \
    const TTest *const tests[] = {__VA_ARGS__};                               \
    size_t n = sizeof tests / sizeof tests[0];                                \
    return suite_run(suite_of(name, seconds, tests, n));                      \
  }

#endif /* TDO_TEST_SUITE_H */
