/* Testudo: the default plinth. SPDX-License-Identifier: BSD-2-Clause */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "code/check.h"
#include "mpsio.h"
#include "mpslib.h"
#include "test/suite.h"

static unsigned long control(const char *text) {
  ck_assert_int_eq(setenv("MPS_TELEMETRY_CONTROL", text, 1), 0);
  return mps_lib_telemetry_control();
}

START_TEST(telemetry_control) {
  ck_assert_int_eq(unsetenv("MPS_TELEMETRY_CONTROL"), 0);
  ck_assert_uint_eq(mps_lib_telemetry_control(), 0);
  ck_assert_uint_eq(control(""), 0);
  ck_assert_uint_eq(control("6"), 6);
  ck_assert_uint_eq(control("0x41"), 0x41);
  ck_assert_uint_eq(control("017"), 15);
  ck_assert_uint_eq(control("arena"), 1);
  ck_assert_uint_eq(control("pool trace"), 6);
  ck_assert_uint_eq(control("  Seg  REF "), 24);
  ck_assert_uint_eq(control("object user nonsense"), 96);
  ck_assert_uint_eq(control("all"), ~0ul);
  ck_assert_uint_eq(control("5 arena"), 1);
  ck_assert_uint_eq(control("arenas are"), 0);
  ck_assert_uint_eq(control("-1"), 0);
}
END_TEST

static const char *failed_text;
static unsigned failed_line;
static jmp_buf escape;

static void caught(const char *file, unsigned line, const char *condition) {
  ck_assert_ptr_nonnull(file);
  failed_line = line;
  failed_text = condition;
  longjmp(escape, 1);
}

START_TEST(assertions) {
  mps_lib_assert_fail_t first = mps_lib_assert_fail_install(caught);
  ck_assert_ptr_nonnull((void *)(uintptr_t)first);
  if (setjmp(escape) == 0) {
    tdo_check_failed("a file", 0, "sentence");
    ck_abort_msg("not called");
  }
  ck_assert_uint_ne(failed_line, 0);
  ck_assert_str_eq(failed_text, "sentence");
  ck_assert(mps_lib_assert_fail_install(first) == caught);
  ck_assert(mps_lib_assert_fail_install(first) == first);
}
END_TEST

/* The default handler ends the process in the cool variety only. */
START_TEST(default_handler) {
  int status, ends[2];
  char text[256];
  ck_assert_int_eq(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    (void)dup2(ends[1], STDERR_FILENO);
    tdo_check_failed("some_file.c", 42, "all is well");
    _exit(3);
  }
  (void)close(ends[1]);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  if (TDO_COOL)
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  else
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 3);
  ssize_t n = read(ends[0], text, sizeof text - 1);
  ck_assert_int_gt(n, 0);
  text[n] = '\0';
  ck_assert_ptr_nonnull(strstr(text, "some_file.c"));
  ck_assert_ptr_nonnull(strstr(text, "42"));
  ck_assert_ptr_nonnull(strstr(text, "all is well"));
}
END_TEST

START_TEST(c_library) {
  char a[8], b[8];
  ck_assert_int_eq(mps_lib_EOF, EOF);
  ck_assert_ptr_eq(mps_lib_stderr, stderr);
  ck_assert_ptr_eq(mps_lib_stdout, stdout);
  (mps_lib_memset)(a, 'x', sizeof a);
  ck_assert_ptr_eq((mps_lib_memcpy)(b, a, sizeof a), b);
  ck_assert_int_eq((mps_lib_memcmp)(a, b, sizeof a), 0);
  b[7] = 'y';
  ck_assert_int_lt((mps_lib_memcmp)(a, b, sizeof a), 0);
  ck_assert_int_eq(mps_lib_fputc('\n', mps_lib_stdout), '\n');
  ck_assert_int_ge(mps_lib_fputs("", mps_lib_stdout), 0);
  ck_assert_uint_gt(mps_clocks_per_sec(), 0);
  mps_clock_t before = mps_clock();
  ck_assert_uint_ge(mps_clock(), before);
}
END_TEST

/* What is written to stderr keeps its place among what C functions write, also
   when the client has given it a buffer. */
START_TEST(error_stream) {
  char name[] = "/tmp/test_plinth_XXXXXX", buffer[256], data[64] = {0};
  int fd = mkstemp(name);

  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
  for (int i = 0; i < 3; ++i) {
    if (i > 0)
      ck_assert_int_eq(
          setvbuf(stderr, buffer, i == 1 ? _IOLBF : _IOFBF, sizeof buffer), 0);
    (void)fputs("1 ", stderr);
    ck_assert_int_ge(mps_lib_fputs("2 ", mps_lib_get_stderr()), 0);
    ck_assert_int_eq(mps_lib_fputc('3', mps_lib_get_stderr()), '3');
    ck_assert_int_ge(mps_lib_fputs(" 4\n", mps_lib_get_stderr()), 0);
    (void)fflush(stderr);
    ck_assert_int_eq(pread(fd, data, sizeof data, 8 * i), 8);
    ck_assert_str_eq(data, "1 2 3 4\n");
  }
  (void)setvbuf(stderr, NULL, _IONBF, 0);
  (void)close(fd);
  (void)unlink(name);
}
END_TEST

/* Of a mistake that a program makes again and again, so many lines. */
START_TEST(many_failures) {
  char name[] = "/tmp/test_plinth_XXXXXX", data[8192] = {0};
  int fd = mkstemp(name), lines = 0;

  if (TDO_COOL)
    return; /* the first one ends the program */
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
  for (int i = 0; i < 1000; ++i)
    mps_lib_assert_fail("file.c", 12, "that again");
  ck_assert_int_gt(pread(fd, data, sizeof data - 1, 0), 0);
  for (const char *p = data; (p = strchr(p, '\n')) != NULL; ++p)
    ++lines;
  ck_assert_int_eq(lines, 21);
  ck_assert_ptr_nonnull(strstr(data, "file.c:12: Testudo: assertion failed: "
                                     "that again\nTestudo: no more"));
  (void)close(fd);
  (void)unlink(name);
}
END_TEST

START_TEST(output) {
  char name[] = "/tmp/test_plinth_XXXXXX", data[16] = {0};
  char text[] = "hello";
  mps_io_t io;
  int fd = mkstemp(name);
  ck_assert_int_ge(fd, 0);
  ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", name, 1), 0);
  ck_assert_int_eq(mps_io_create(&io), MPS_RES_OK);
  ck_assert_int_eq(mps_io_write(io, text, 5), MPS_RES_OK);
  ck_assert_int_eq(mps_io_flush(io), MPS_RES_OK);
  ck_assert_int_eq(read(fd, data, sizeof data), 5);
  ck_assert_str_eq(data, text);
  mps_io_destroy(io);
  (void)close(fd);
  (void)unlink(name);
  ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", "/no/such/place", 1), 0);
  ck_assert_int_eq(mps_io_create(&io), MPS_RES_IO);
}
END_TEST

/* A file that another process writes to is left to that. */
START_TEST(output_taken) {
  char name[] = "/tmp/test_plinth_XXXXXX", data[16] = {0};
  char text[] = "hello";
  int fd = mkstemp(name), ready[2], over[2], status;
  mps_io_t io;
  ck_assert(fd >= 0 && pipe(ready) == 0 && pipe(over) == 0);
  ck_assert_int_eq(setenv("MPS_TELEMETRY_FILENAME", name, 1), 0);
  pid_t child = fork();
  if (child == 0) {
    bool done = mps_io_create(&io) == MPS_RES_OK &&
                mps_io_write(io, text, 5) == MPS_RES_OK &&
                write(ready[1], text, 1) == 1 && read(over[0], data, 1) == 1;
    suite_leave(done ? EXIT_SUCCESS : EXIT_FAILURE);
  }
  ck_assert_int_eq(read(ready[0], data, 1), 1);
  ck_assert_int_eq(mps_io_create(&io), MPS_RES_IO);
  ck_assert_int_eq(read(fd, data, sizeof data), 5);
  ck_assert_str_eq(data, text);
  ck_assert_int_eq(write(over[1], text, 1), 1);
  ck_assert_int_eq(waitpid(child, &status, 0), child);
  ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS);
  ck_assert_int_eq(mps_io_create(&io), MPS_RES_OK);
  ck_assert_int_eq(lseek(fd, 0, SEEK_END), 0);
  mps_io_destroy(io);
  (void)close(fd);
  (void)unlink(name);
}
END_TEST

SUITE_MAIN("plinth", 30, telemetry_control, assertions, default_handler,
           c_library, error_stream, many_failures, output, output_taken)
