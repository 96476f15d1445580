/* Testudo: a filter by which the system refuses a call, from now on.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_REFUSE_CALL_H
#define TDO_TEST_REFUSE_CALL_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>

/* The call NUMBER fails with ERROR if its second argument is ARGUMENT, or
   whatever it is if that is 0. False if filters are not permitted. */
static inline bool refuse_call(unsigned number, unsigned argument,
                               unsigned error) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
               offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, argument, 0, argument == 0 ? 0 : 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof code[0], code};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

#endif /* TDO_TEST_REFUSE_CALL_H */
