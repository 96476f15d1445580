/* Testudo: memory touched ahead, on Linux. SPDX-License-Identifier:
   BSD-2-Clause

   .own  The thread shares everything with the process but has no state of the
         C library's (no errno, no stack protector's word): it calls nothing
         but the kernel, by its own hands.

   .cancel  Who cancels what is being done clears populate_busy, then waits
            while the thread works; the thread says that it works, then looks
            whether populate_busy is still what it does. One of them sees the
            other. */
#if !defined(_GNU_SOURCE)
#define _GNU_SOURCE
#endif
#include "code/populate.h"
#include "code/platform.h"

#if TDO_PF_LINUX && (defined(__x86_64__) || defined(__aarch64__)) &&          \
    !defined(__SANITIZE_THREAD__)
#define POPULATE 1
#else
#define POPULATE 0
#endif

#if POPULATE

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>

#if !defined(MADV_POPULATE_WRITE)
#define MADV_POPULATE_WRITE 23
#endif

#define POPULATE_SLOTS 16
#define POPULATE_PIECE ((size_t)64 << 10) /* the system's lock is held for it */
#define POPULATE_IDLE  50000000L           /* ns, then the thread leaves */
#define POPULATE_WAITS 10000               /* yields, for a piece to be done */
#define POPULATE_STACK 16384

/* What is asked: a base, and in its low bits the number of pieces of
   POPULATE_UNIT, the least page. */
static _Atomic(uintptr_t) populate_slots[POPULATE_SLOTS];
static _Atomic(uintptr_t) populate_busy;  /* what is being done, if nobody has
                                             cleared it since, .cancel */
static atomic_uint populate_pieces; /* twice those done; odd: one is being
                                       done */
static atomic_int populate_held;          /* how many want nothing done now, */
static atomic_bool populate_halted;       /* and the thread sleeps for them */
static _Atomic(uintptr_t) populate_taken; /* end of what the program took
                                             last */
static atomic_uint populate_turn;      /* one more each time that is asked */
static atomic_bool populate_alive;     /* the thread will look again */
static atomic_bool populate_off;       /* the system has no such thing */
static atomic_int populate_tid; /* the kernel clears it when it has left */
static atomic_bool populate_asleep;
static _Atomic(tdo_vm_t *) populate_vm;
static _Alignas(16) char populate_stack[POPULATE_STACK];

#define POPULATE_UNIT    ((size_t)4096)
#define POPULATE_BASE(r) ((r) & ~(POPULATE_UNIT - 1))
#define POPULATE_SIZE(r) (((r) & (POPULATE_UNIT - 1)) * POPULATE_UNIT)

#if defined(__has_attribute)
#if __has_attribute(no_stack_protector)
#define POPULATE_BARE __attribute__((no_stack_protector))
#endif
#endif
#if !defined(POPULATE_BARE)
#define POPULATE_BARE
#endif
#define POPULATE_OWN TDO_NO_SANITIZE POPULATE_BARE /* .own */

POPULATE_OWN static inline long populate_call(long number, long a, long b,
                                              long c, long d) {
#if defined(__x86_64__)
  long res;
  register long r10 __asm__("r10") = d;
  __asm__ volatile("syscall"
                   : "=a"(res)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
                   : "rcx", "r11", "memory");
  return res;
#else
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  __asm__ volatile("svc 0"
                   : "+r"(x0)
                   : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
                   : "memory");
  return x0;
#endif
}

/* The program may have come to what was asked by now. To touch it at the same
   time is worse than useless: each page would be cleared twice. */
POPULATE_OWN static bool populate_late(uintptr_t base) {
  unsigned char resident = 0;

  return populate_call(SYS_mincore, (long)base, (long)POPULATE_UNIT,
                       (long)&resident, 0) == 0 &&
         (resident & 1) != 0;
}

/* Sleep while somebody wants nothing done. */
POPULATE_OWN static void populate_halt(void) {
  int held;

  while ((held = atomic_load(&populate_held)) != 0) {
    atomic_store(&populate_halted, true);
    (void)populate_call(SYS_futex, (long)&populate_held,
                        FUTEX_WAIT | FUTEX_PRIVATE_FLAG, held, 0);
    atomic_store(&populate_halted, false);
  }
}

/* Touch [BASE, BASE+SIZE), a piece; false if the system does not do it. */
POPULATE_OWN static bool populate_piece(tdo_vm_t *vm, uintptr_t base,
                                        size_t size) {
  if (populate_late(base))
    return true;
  atomic_fetch_add_explicit(&vm->counters.advise, 1, memory_order_relaxed);
  if (populate_call(SYS_madvise, (long)base, (long)size, MADV_POPULATE_WRITE,
                    0) == 0)
    return true;
  atomic_fetch_add_explicit(&vm->counters.refused, 1, memory_order_relaxed);
  return false;
}

/* Touch what R asks piece by piece, as long as the system does it, and nobody
   cancels it. */
POPULATE_OWN static void populate_touch(tdo_vm_t *vm, uintptr_t r) {
  uintptr_t base = POPULATE_BASE(r), limit = base + POPULATE_SIZE(r);
  bool more = true;

  while (base < limit && more) {
    uintptr_t taken = atomic_load(&populate_taken);
    size_t piece;
    if (taken > base && taken < limit)
      base = POPULATE_BASE(taken + POPULATE_UNIT - 1);
    /* The program is close behind: get ahead of it. */
    if (base - taken < POPULATE_PIECE && limit - base > POPULATE_PIECE)
      base += POPULATE_PIECE;
    piece = tdo_min(limit - base, POPULATE_PIECE);
    populate_halt();
    atomic_fetch_add(&populate_pieces, 1);
    more = atomic_load(&populate_busy) == r && populate_piece(vm, base, piece);
    atomic_fetch_add(&populate_pieces, 1);
    base += piece;
  }
}

/* Touch what is asked in the slot; false if nothing is. */
POPULATE_OWN static bool populate_do(_Atomic(uintptr_t) *slot) {
  uintptr_t r = atomic_load(slot);

  if (r == 0)
    return false;
  atomic_store(&populate_busy, r); /* before it is nowhere else to be seen */
  if (atomic_compare_exchange_strong(slot, &r, 0))
    populate_touch(atomic_load(&populate_vm), r);
  atomic_store(&populate_busy, 0);
  return true;
}

POPULATE_OWN static bool populate_round(void) {
  bool did = false;

  for (int i = 0; i < POPULATE_SLOTS; ++i)
    did |= populate_do(&populate_slots[i]);
  return did;
}

POPULATE_OWN static int populate_main(void *closure) {
  struct timespec idle = {0, POPULATE_IDLE};

  (void)closure;
  for (;;) {
    unsigned turn = atomic_load(&populate_turn);
    bool expected = false;
    long res;
    if (populate_round())
      continue;
    atomic_store(&populate_asleep, true);
    res = populate_call(SYS_futex, (long)&populate_turn,
                        FUTEX_WAIT | FUTEX_PRIVATE_FLAG, (long)turn,
                        (long)&idle);
    atomic_store(&populate_asleep, false);
    if (res != -ETIMEDOUT)
      continue;
    atomic_store(&populate_alive, false);
    /* Who asks now starts another thread, or leaves it to this one. */
    if (atomic_load(&populate_turn) == turn ||
        !atomic_compare_exchange_strong(&populate_alive, &expected, true))
      return 0;
  }
}

/* The thread handles no signal: it has no state for a handler to run on. */
static void populate_start(void) {
  sigset_t all, old;
  int saved = errno;

  if (atomic_load(&populate_tid) != 0) { /* the last one is on its stack yet */
    atomic_store(&populate_alive, false);
    return;
  }
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &old);
  if (clone(populate_main, populate_stack + POPULATE_STACK,
            CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
                CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID,
            NULL, &populate_tid, NULL, &populate_tid) == -1)
    atomic_store(&populate_off, true);
  (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = saved;
}

/* With one processor it would take from the program what it gives. */
static bool populate_useful(void) {
  static atomic_int known;
  int now = atomic_load(&known);
  cpu_set_t set;

  if (now == 0) {
    int saved = errno;
    now = sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) < 2
              ? -1
              : 1;
    errno = saved;
    atomic_store(&known, now);
  }
  return now > 0 && !atomic_load(&populate_off);
}

void tdo_populate_taken(void *limit) {
  atomic_store_explicit(&populate_taken, (uintptr_t)limit,
                        memory_order_relaxed);
}

void tdo_populate_ask(tdo_vm_t *vm, void *base, size_t size) {
  bool expected = false;

  if (!populate_useful() || size / POPULATE_UNIT >= POPULATE_UNIT)
    return;
  atomic_store(&populate_vm, vm);
  for (int i = 0; i < POPULATE_SLOTS; ++i) {
    uintptr_t nothing = 0;
    if (atomic_compare_exchange_strong(
            &populate_slots[i], &nothing,
            (uintptr_t)base | (size / POPULATE_UNIT)))
      break;
  }
  atomic_fetch_add(&populate_turn, 1);
  if (atomic_compare_exchange_strong(&populate_alive, &expected, true))
    populate_start();
  else if (atomic_load(&populate_asleep))
    (void)populate_call(SYS_futex, (long)&populate_turn,
                        FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0);
}

static bool populate_meets(uintptr_t r, uintptr_t base, uintptr_t limit) {
  return r != 0 && POPULATE_BASE(r) < limit &&
         POPULATE_BASE(r) + POPULATE_SIZE(r) > base;
}

/* Wait for the piece that is being done. */
static void populate_await(void) {
  unsigned pieces = atomic_load(&populate_pieces);

  for (int i = 0; pieces % 2 != 0 && i < POPULATE_WAITS &&
                  atomic_load(&populate_pieces) == pieces;
       ++i)
    (void)sched_yield();
}

void tdo_populate_cancel(void *base, size_t size) {
  uintptr_t low = (uintptr_t)base, limit = low + size, r;

  for (int i = 0; i < POPULATE_SLOTS; ++i) {
    r = atomic_load(&populate_slots[i]);
    if (populate_meets(r, low, limit))
      (void)atomic_compare_exchange_strong(&populate_slots[i], &r, 0);
  }
  r = atomic_load(&populate_busy);
  if (populate_meets(r, low, limit)) {
    (void)atomic_compare_exchange_strong(&populate_busy, &r, 0);
    populate_await();
  }
}

void tdo_populate_hold(void) {
  atomic_fetch_add(&populate_held, 1);
}

void tdo_populate_release(void) {
  if (atomic_fetch_sub(&populate_held, 1) == 1 &&
      atomic_load(&populate_halted))
    (void)populate_call(SYS_futex, (long)&populate_held,
                        FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, 0);
}

void tdo_populate_after_fork_in_child(void) {
  for (int i = 0; i < POPULATE_SLOTS; ++i)
    atomic_store(&populate_slots[i], 0);
  atomic_store(&populate_busy, 0);
  atomic_store(&populate_pieces, 0);
  atomic_store(&populate_halted, false);
  atomic_store(&populate_alive, false);
  atomic_store(&populate_tid, 0);
}

#else

void tdo_populate_ask(tdo_vm_t *vm, void *base, size_t size) {
  (void)vm, (void)base, (void)size;
}

void tdo_populate_taken(void *limit) {
  (void)limit;
}

void tdo_populate_cancel(void *base, size_t size) {
  (void)base, (void)size;
}

void tdo_populate_hold(void) {
}

void tdo_populate_release(void) {
}

void tdo_populate_after_fork_in_child(void) {
}

#endif
