/* Testudo: a double of write tracking. SPDX-License-Identifier:
   BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "code/track_double.h"
#include "code/vm.h"

#define DOUBLE_COVERED ((uint8_t)1)
#define DOUBLE_ARMED   ((uint8_t)2)

static tdo_track_double_t *track_double_of(tdo_track_t *track) {
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  return TDO_PARENT(tdo_track_double_t, track, track);
}

static size_t track_double_page(const tdo_track_double_t *d,
                                const void *addr) {
  size_t page = (size_t)((const char *)addr - d->window) >> d->page_shift;
  TDO_CHECK((const char *)addr >= d->window && page <= d->pages);
  return page;
}

/* Count a call; false if it is to be refused. */
static bool track_double_call(tdo_track_double_t *d,
                              tdo_track_call_kind_t kind, size_t size) {
  bool nth = d->refuse_in > 0 && --d->refuse_in == 0;
  ++d->calls[kind];
  d->pages_called[kind] += size >> d->page_shift;
  atomic_fetch_add(&d->track.counters.calls, 1);
  if (nth || (d->refuse_kinds >> kind & 1)) {
    atomic_fetch_add(&d->track.counters.refused, 1);
    return false;
  }
  return true;
}

/* Set and clear bits of covered pages; false at the first that is not. */
static bool track_double_change(tdo_track_double_t *d, void *base, size_t size,
                                uint8_t set, uint8_t clear) {
  size_t page = track_double_page(d, base);
  size_t limit = page + (size >> d->page_shift);
  TDO_CHECK(limit <= d->pages);
  for (; page < limit; ++page) {
    if ((d->state[page] & DOUBLE_COVERED) == 0)
      return false;
    d->state[page] = (uint8_t)((d->state[page] | set) & ~clear);
  }
  return true;
}

static mps_res_t track_double_cover(tdo_track_t *track, void *base,
                                    size_t size) {
  tdo_track_double_t *d = track_double_of(track);
  size_t page = track_double_page(d, base);
  if (!track_double_call(d, TDO_TRACK_COVER, size))
    return MPS_RES_FAIL;
  for (size_t n = size >> d->page_shift; n > 0; --n)
    d->state[page++] |= DOUBLE_COVERED;
  return MPS_RES_OK;
}

static mps_res_t track_double_arm(tdo_track_t *track, void *base,
                                  size_t size) {
  tdo_track_double_t *d = track_double_of(track);
  return track_double_call(d, TDO_TRACK_ARM, size) &&
                 track_double_change(d, base, size, DOUBLE_ARMED, 0)
             ? MPS_RES_OK
             : MPS_RES_FAIL;
}

static mps_res_t track_double_disarm(tdo_track_t *track, void *base,
                                     size_t size) {
  tdo_track_double_t *d = track_double_of(track);
  return track_double_call(d, TDO_TRACK_DISARM, size) &&
                 track_double_change(d, base, size, 0, DOUBLE_ARMED)
             ? MPS_RES_OK
             : MPS_RES_FAIL;
}

static mps_res_t track_double_harvest(tdo_track_t *track, void *base,
                                      size_t size, tdo_track_visit_t visit,
                                      void *closure) {
  tdo_track_double_t *d = track_double_of(track);
  size_t page = track_double_page(d, base);
  size_t limit = page + (size >> d->page_shift);
  if (!track_double_call(d, TDO_TRACK_HARVEST, size))
    return MPS_RES_FAIL;
  while (page < limit) {
    size_t first = page;
    while (page < limit && d->state[page] == DOUBLE_COVERED)
      ++page;
    if (first < page)
      visit(closure, d->window + (first << d->page_shift),
            d->window + (page << d->page_shift));
    else if ((d->state[page++] & DOUBLE_COVERED) == 0)
      return MPS_RES_FAIL;
  }
  return MPS_RES_OK;
}

static mps_res_t track_double_reopen(tdo_track_t *track) {
  return track_double_call(track_double_of(track), TDO_TRACK_REOPEN, 0)
             ? MPS_RES_OK
             : MPS_RES_FAIL;
}

static void track_double_abandon(tdo_track_t *track) {
  TDO_CHECK(track->sig == TDO_TRACK_SIG); /* nothing forks with a double */
}

static void track_double_close(tdo_track_t *track) {
  TDO_CHECK(track->sig == TDO_TRACK_SIG);
  track->sig = TDO_SIG_DEAD;
}

mps_res_t tdo_track_double_init(tdo_track_double_t *d, char *window,
                                size_t pages, size_t page_size) {
  static const tdo_track_t methods = {.cover = track_double_cover,
                                      .arm = track_double_arm,
                                      .disarm = track_double_disarm,
                                      .harvest = track_double_harvest,
                                      .reopen = track_double_reopen,
                                      .abandon = track_double_abandon,
                                      .close = track_double_close};
  tdo_vm_t *real = tdo_vm_system();
  void *table;
  mps_res_t res;
  memset(d, 0, sizeof *d);
  memcpy(&d->track, &methods, sizeof methods);
  d->window = window;
  d->pages = pages;
  d->page_shift = tdo_log2(page_size);
  d->size = tdo_round_up(pages, real->page_size);
  res = real->reserve_table(&table, real, d->size);
  if (res == MPS_RES_OK) {
    d->state = table;
    d->track.sig = TDO_TRACK_SIG;
  }
  return res;
}

void tdo_track_double_finish(tdo_track_double_t *d) {
  d->track.sig = TDO_SIG_DEAD;
  tdo_vm_system()->release(tdo_vm_system(), d->state, d->size);
}

void tdo_track_double_write(tdo_track_double_t *d, const void *addr) {
  d->state[track_double_page(d, addr)] &= (uint8_t)~DOUBLE_ARMED;
}

void tdo_track_double_remap(tdo_track_double_t *d, const void *base,
                            size_t size) {
  memset(d->state + track_double_page(d, base), 0, size >> d->page_shift);
}

void tdo_track_double_fork(tdo_track_double_t *d) {
  memset(d->state, 0, d->pages);
}
