/* Testudo: rings against an array, at random. SPDX-License-Identifier:
   BSD-2-Clause */
#include <string.h>
#include "code/ring.h"
#include "test/random.h"
#include "test/require.h"
#include "test/suite.h"

enum { NODES = 24, ROUNDS = 20000 };

typedef struct item {
  int name;
  tdo_ring_t link;
} item_t;

static item_t items[NODES];
static tdo_ring_t rings[2];
static int model[2][NODES]; /* names in order */
static size_t lengths[2];

static void model_remove(int name) {
  for (int r = 0; r < 2; ++r) {
    for (size_t i = 0; i < lengths[r]; ++i) {
      if (model[r][i] == name) {
        --lengths[r];
        memmove(&model[r][i], &model[r][i + 1],
                (lengths[r] - i) * sizeof(int));
        return;
      }
    }
  }
}

static void compare(int r) {
  size_t i = 0;
  REQUIRE(tdo_ring_empty(&rings[r]) == (lengths[r] == 0));
  TDO_RING_FOR(node, &rings[r]) {
    item_t *item = TDO_RING_ENTRY(item_t, link, node);
    REQUIRE(i < lengths[r]);
    REQUIRE(item->name == model[r][i]);
    REQUIRE(node->next->prev == node);
    ++i;
  }
  REQUIRE(i == lengths[r]);
}

static void put(int r, item_t *item, bool first) {
  tdo_ring_remove(&item->link);
  model_remove(item->name);
  if (first) {
    tdo_ring_prepend(&rings[r], &item->link);
    memmove(&model[r][1], &model[r][0], lengths[r] * sizeof(int));
    model[r][0] = item->name;
  } else {
    tdo_ring_append(&rings[r], &item->link);
    model[r][lengths[r]] = item->name;
  }
  ++lengths[r];
}

static void splice(int to) {
  int from = 1 - to;
  tdo_ring_splice(&rings[to], &rings[from]);
  memcpy(&model[to][lengths[to]], model[from], lengths[from] * sizeof(int));
  lengths[to] += lengths[from];
  lengths[from] = 0;
}

START_TEST(against_model) {
  random_start();
  tdo_ring_init(&rings[0]);
  tdo_ring_init(&rings[1]);
  for (int i = 0; i < NODES; ++i) {
    items[i].name = i;
    tdo_ring_init(&items[i].link);
  }
  for (int round = 0; round < ROUNDS; ++round) {
    item_t *item = &items[random_below(NODES)];
    int r = (int)random_below(2);
    switch (random_below(8)) {
    case 0:
      tdo_ring_remove(&item->link);
      model_remove(item->name);
      break;
    case 1:
      splice(r);
      break;
    default:
      put(r, item, random_below(2) == 0);
    }
    compare(0);
    compare(1);
  }
}
END_TEST

START_TEST(unlink_while_visiting) {
  size_t seen = 0;
  tdo_ring_init(&rings[0]);
  for (int i = 0; i < NODES; ++i)
    tdo_ring_append(&rings[0], &items[i].link);
  TDO_RING_FOR(node, &rings[0]) {
    tdo_ring_remove(node);
    tdo_ring_remove(node); /* harmless */
    ++seen;
  }
  ck_assert_uint_eq(seen, NODES);
  ck_assert(tdo_ring_empty(&rings[0]));
}
END_TEST

SUITE_MAIN("ring", 30, against_model, unlink_while_visiting)
