/* Testudo: weak: tables that keep nothing alive, under churn. Half of what is
   put into them is kept by other means and must stay.
   SPDX-License-Identifier: BSD-2-Clause */
#include "workload.h"

#define TABLES 16
#define WIDTH  4096
#define KEPT   (TABLES * WIDTH / 2)

const char workload_name[] = "weak";
const unsigned workload_batch = 32;

static obj_t **tables, **kept;
static size_t gone;

/* Put a new object at a place; the first KEPT even ones are kept. */
static void put(size_t place, size_t turn) {
  obj_t *table = tables[place / WIDTH];
  obj_t *old = heap_weak_get(table, place % WIDTH);
  gone += old == NULL && turn >= TABLES * WIDTH;
  check(old == NULL || FIXNUM_VALUE(SLOT(old, 0)) == place);
  obj_t *o = heap_pair(FIXNUM(place), FIXNUM(turn));
  heap_weak_put(tables[place / WIDTH], place % WIDTH, o);
  if (place % 2 == 0)
    kept[place / 2] = o;
}

static void check_heap(void) {
  heap_collect();
  size_t dead = 0;
  for (size_t place = 0; place < TABLES * WIDTH; ++place) {
    obj_t *o = heap_weak_get(tables[place / WIDTH], place % WIDTH);
    if (place % 2 == 0)
      check(o == kept[place / 2]);
    else if (o != NULL)
      check(FIXNUM_VALUE(SLOT(o, 0)) == place);
    else
      ++dead;
  }
  check(dead > TABLES * WIDTH / 2 - TABLES * WIDTH / 8);
}

void workload(void) {
  uint64_t state = random_state(0);
  tables = heap_roots(TABLES);
  kept = heap_roots(KEPT);
  for (size_t i = 0; i < TABLES; ++i)
    tables[i] = heap_weak_table(WIDTH);
  size_t n = 0;
  for (; n < TABLES * WIDTH; ++n)
    put(n, n);
  meter_tick(&meter);
  build_done();
  size_t done = 0;
  while (done < options.ops) {
    for (unsigned i = 0; i < workload_batch; ++i, ++n, ++done)
      put(random_below(&state, TABLES * WIDTH), n);
    meter_tick(&meter);
  }
  work_done(done);
  figure("found_dead", (double)gone);
  check_heap();
}
