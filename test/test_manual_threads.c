/* Testudo: manual pools that threads share: each has its own points and frames,
   and frees what others made while they go on.
   SPDX-License-Identifier: BSD-2-Clause */
#include <pthread.h>
#include <string.h>
#include "mpscmvff.h"
#include "mpscmvt.h"
#include "test/pools.h"
#include "test/random.h"
#include "test/suite.h"
#include "testudo.h"

enum { THREADS = 3, ROUNDS = 20000, BLOCKS = 64, CHECKS = 50 };

static mps_pool_t pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  char *p;
  size_t size;
} blocks[BLOCKS]; /* of all threads; guarded by LOCK */

/* Put a new block in some place, free the one that was there. */
static void replace(uint64_t *state, char *p, size_t size) {
  size_t at = random_next(state) % BLOCKS, was;
  char *old;

  memset(p, (int)size, size);
  (void)pthread_mutex_lock(&lock);
  old = blocks[at].p;
  was = blocks[at].size;
  blocks[at].p = p;
  blocks[at].size = size;
  (void)pthread_mutex_unlock(&lock);
  if (old == NULL)
    return;
  for (size_t k = 0; k < was; ++k)
    REQUIRE(old[k] == (char)was);
  mps_free(pool, old, was);
}

static void *work(void *closure) {
  uint64_t state = (uintptr_t)closure;
  mps_ap_t ap = point(pool);
  mps_frame_t frame;

  for (size_t i = 0; i < ROUNDS; ++i) {
    size_t size = 8 * (1 + random_next(&state) % 40);
    if (i % 16 == 0) {
      REQUIRE(mps_ap_frame_push(&frame, ap) == MPS_RES_OK);
      memset(make(ap, size), 0, size);
      REQUIRE(mps_ap_frame_pop(ap, frame) == MPS_RES_OK);
    }
    replace(&state, make(ap, size), size);
  }
  mps_ap_destroy(ap);
  return NULL;
}

START_TEST(points_of_threads) {
  pthread_t threads[THREADS];

  start();
  REQUIRE(mps_pool_create_k(&pool, arena,
                            _i == 0 ? mps_class_mvff() : mps_class_mvt(),
                            mps_args_none) == MPS_RES_OK);
  for (size_t i = 0; i < THREADS; ++i)
    REQUIRE(pthread_create(&threads[i], NULL, work, (void *)(i + 1)) == 0);
  for (size_t i = 0; i < CHECKS; ++i)
    tdo_arena_check(arena); /* which does not stop them */
  for (size_t i = 0; i < THREADS; ++i)
    REQUIRE(pthread_join(threads[i], NULL) == 0);
  for (size_t i = 0; i < BLOCKS; ++i)
    if (blocks[i].p != NULL)
      mps_free(pool, blocks[i].p, blocks[i].size);
  mps_pool_destroy(pool);
  stop();
}
END_TEST

SUITE_LOOPS_MAIN("manual_threads", 100, {points_of_threads, 2})
