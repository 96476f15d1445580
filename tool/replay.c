/* Testudo: testudo-replay: a recording of a shield's requests, replayed into
   the same shield over a double that counts.
   Usage: testudo-replay RECORDING, with lines "MODE QUEUE FRESH HIT" on
   standard input; for each prints one line of JSON. Exit status 2 if the
   recording is damaged, with the offset. SPDX-License-Identifier: BSD-2-Clause

   A recording tells what was asked of the shield. How the collector and the
   program would have behaved with other settings is deduced:

   - A write that was recorded (a hit, or found by a harvest) hits if its page
     is barred here.
   - A page that this shield declines to bar, or gives up, and the recorded one
     did not, would have been scanned and offered again in each collection.
     Here it is offered again when a collection begins, unless the recording
     has the collector scan it in that session anyway (an offer, a lowering),
     or condemn it (it is retired before the next collection). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code/track_double.h"
#include "code/vm_double.h"
#include "shield/internal.h"
#include "bound.h"
#include "recording.h"

static recording_t recording;

/* ---- one replay ---- */

static tdo_vm_double_t memory;
static tdo_track_double_t track;
static tdo_shield_t shield;
static tdo_bits_t *declined; /* adopted pages without the bar that they had */
static char *base;
static tdo_bits_t *settled;  /* pages that the recording has scanned or
                                condemned in the collection that begins */
static size_t kernel_faults;
static bool tracks;
static bool guesses; /* what is declined is to be deduced */
static bound_t *bound;

static void replay_lost(void *closure, size_t first, size_t limit,
                        tdo_bar_t bars) {
  (void)closure;
  if ((bars & TDO_BAR_WRITE) != 0) {
    bound_useless(bound, first, limit);
    if (guesses) {
      tdo_bits_set_range(declined, first, limit);
    }
  }
}

static void replay_written(void *closure, size_t first, size_t limit) {
  (void)closure; /* the recording told */
  bound_written(bound, first, limit);
}

static void session_end(void) {
  tdo_shield_leave(&shield);
  bound_session(bound);
}

static void replay_write(size_t page) {
  if (!tdo_shield_adopted(&shield, page)) {
    return;
  }
  tdo_bar_t bars = tdo_shield_bars(&shield, page);
  if (tracks && shield.actual[page] == TDO_ACCESS_ARMED) {
    tdo_track_double_write(&track, base + page * recording.page_size);
    ++kernel_faults;
  } else if ((bars & TDO_BAR_WRITE) != 0 &&
             shield.actual[page] == TDO_ACCESS_READ) {
    bound_useless(bound, page, page + 1);
    tdo_shield_hit(&shield, page, bars);
    tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
    session_end();
  }
}

static void replay_hit(const step_t *step) {
  if ((step->argument & TDO_BAR_READ) != 0 || step->argument == 0) {
    if (tdo_shield_adopted(&shield, step->first)) {
      tdo_shield_hit(&shield, step->first, step->argument);
    }
  } else if (tracks) {
    replay_write(step->first);
  } else if ((tdo_shield_bars(&shield, step->first) & TDO_BAR_WRITE) != 0) {
    bound_useless(bound, step->first, step->limit);
    tdo_shield_hit(&shield, step->first, step->argument);
  }
}

/* AGAIN: nobody will offer these pages again if they were not declined. */
static void replay_offer(size_t first, size_t limit, bool again) {
  while (first < limit) {
    bool barred = false;
    size_t n = tdo_shield_offer(&shield, first, limit, &barred);
    if (barred) {
      tdo_bits_clear_range(declined, first, first + n);
    } else if (again) {
      tdo_bits_set_range(declined, first, first + n);
    }
    first += n;
  }
}

/* Note what the recording does with pages in the collection that begins at
   PLACE. */
static void look_ahead(place_t place) {
  bool session = true;
  step_t step;
  memset(settled, 0, tdo_bits_words(recording.pages) * sizeof *settled);
  while (recording_next(&recording, &step, &place) &&
         step.request != TDO_REQUEST_OFFERS) {
    bool scanned = step.request == TDO_REQUEST_OFFER ||
                   (step.request == TDO_REQUEST_LOWER &&
                    (step.argument & TDO_BAR_WRITE) != 0);
    if ((scanned && session) || step.request == TDO_REQUEST_RETIRE) {
      tdo_bits_set_range(settled, step.first, step.limit);
    }
    session &= step.request != TDO_REQUEST_LEAVE;
  }
}

/* A collection begins: what is not barred is looked at again. */
static void replay_offers(place_t place) {
  size_t page = 0, pages = recording.pages;
  tdo_shield_begin_offers(&shield);
  if (!guesses || tdo_bits_next_set(declined, 0, pages) == pages) {
    return;
  }
  look_ahead(place);
  while ((page = tdo_bits_next_set(declined, page, pages)) < pages) {
    size_t end = tdo_bits_next_clear(declined, page, pages);
    if (tdo_bits_get(settled, page)) {
      page = tdo_bits_next_clear(settled, page, end);
      continue;
    }
    end = tdo_bits_next_set(settled, page, end);
    bound_touch(bound, page, end);
    replay_offer(page, end, true);
    page = end;
  }
}

static void replay_memory(const step_t *step, bool commit) {
  void *p = base + step->first * recording.page_size;
  size_t size = (step->limit - step->first) * recording.page_size;
  if (commit) {
    (void)memory.vm.commit(&memory.vm, p, size);
    tdo_shield_committed(&shield, step->first, step->limit);
  } else {
    (void)memory.vm.decommit(&memory.vm, p, size);
    if (tracks) {
      tdo_track_double_remap(&track, p, size);
    }
    tdo_shield_decommitted(&shield, step->first, step->limit);
  }
}

static void replay_step(const step_t *step, place_t next) {
  size_t first = step->first, limit = step->limit;
  if (step->request == TDO_REQUEST_EXPOSE) {
    bound_expose(bound, first, limit);
  } else if (first < limit && step->request != TDO_REQUEST_WRITTEN) {
    bound_touch(bound, first, limit);
  }
  switch (step->request) {
  case TDO_REQUEST_COMMITTED:
  case TDO_REQUEST_DECOMMITTED:
    replay_memory(step, step->request == TDO_REQUEST_COMMITTED);
    break;
  case TDO_REQUEST_ADOPT:
    tdo_shield_adopt(&shield, first, limit);
    break;
  case TDO_REQUEST_RETIRE:
    tdo_bits_clear_range(declined, first, limit);
    tdo_shield_retire(&shield, first, limit);
    break;
  case TDO_REQUEST_RAISE:
    tdo_shield_raise(&shield, first, limit, step->argument);
    break;
  case TDO_REQUEST_LOWER:
    tdo_bits_clear_range(declined, first, limit);
    tdo_shield_lower(&shield, first, limit, step->argument);
    break;
  case TDO_REQUEST_RELEASE:
    tdo_bits_clear_range(declined, first, limit);
    tdo_shield_release(&shield, first, limit);
    break;
  case TDO_REQUEST_EXPOSE:
    tdo_shield_expose(&shield, first, limit);
    break;
  case TDO_REQUEST_COVER:
    tdo_shield_cover(&shield, first, limit);
    break;
  case TDO_REQUEST_OFFER:
    replay_offer(first, limit, guesses && step->argument != 0);
    break;
  case TDO_REQUEST_HIT:
    replay_hit(step);
    break;
  case TDO_REQUEST_FORCE:
    (void)tdo_shield_force_open(&shield, first);
    break;
  case TDO_REQUEST_FLUSH:
    tdo_shield_flush(&shield);
    break;
  case TDO_REQUEST_LEAVE:
    session_end();
    break;
  case TDO_REQUEST_STOPPED:
    tdo_shield_note_stopped(&shield);
    bound_collection(bound);
    break;
  case TDO_REQUEST_HARVEST:
    tdo_shield_harvest(&shield, replay_written, NULL);
    break;
  case TDO_REQUEST_WRITTEN:
    for (size_t page = first; page < limit; ++page) {
      replay_write(page);
    }
    break;
  case TDO_REQUEST_TRUST:
    tdo_shield_trust(&shield, first, limit);
    break;
  case TDO_REQUEST_OFFERS:
    replay_offers(next);
    break;
  default:
    break;
  }
}

static void require(mps_res_t res) {
  if (res != MPS_RES_OK) {
    (void)fprintf(stderr, "testudo-replay: out of memory\n");
    exit(1);
  }
}

static void replay_start(const tdo_shield_settings_t *settings) {
  size_t pages = recording.pages, page_size = recording.page_size;
  tdo_vm_double_options_t options = {.pages = pages, .page_size = page_size};
  tdo_shield_hooks_t hooks = {NULL, NULL, NULL, replay_lost};
  void *window;
  require(tdo_vm_double_init(&memory, &options));
  require(
      memory.vm.reserve(&window, &memory.vm, pages * page_size, page_size));
  base = window;
  declined = calloc(tdo_bits_words(pages), sizeof *declined);
  settled = calloc(tdo_bits_words(pages), sizeof *settled);
  require(declined == NULL || settled == NULL ? MPS_RES_MEMORY : MPS_RES_OK);
  require(tdo_shield_init(&shield, &memory.vm, base, pages * page_size,
                          settings, &hooks));
  tracks = settings->mode == TDO_SHIELD_DIRTY;
  if (tracks) {
    require(tdo_track_double_init(&track, base, pages, page_size));
    require(tdo_shield_attach(&shield, &track.track));
  }
  guesses = recording.mode != TDO_SHIELD_DEFERRED;
  kernel_faults = 0;
  bound = bound_new(&shield);
  require(bound == NULL ? MPS_RES_MEMORY : MPS_RES_OK);
}

static void replay_print(const tdo_shield_settings_t *settings) {
  const tdo_shield_stats_t *s = &shield.stats;
  printf("{\"mode\": \"%s\", \"queue\": %zu, \"fresh\": %u, \"hit\": %u, "
         "\"calls\": %zu, \"pages\": %zu, \"changed\": %zu, "
         "\"hits\": %zu, \"read_hits\": %zu, \"spread\": %zu, "
         "\"declined\": %zu, \"mappings\": %zu, "
         "\"track_calls\": %zu, \"arms\": %zu, \"harvests\": %zu, \"track_pages\": %zu, "
         "\"harvest_pages\": %zu, \"kernel_faults\": %zu, "
         "\"bound\": %zu}\n",
         tdo_shield_mode_name(settings->mode), settings->queue_length,
         settings->defer_fresh, settings->defer_hit, s->calls, s->pages,
         s->pages_changed, s->hits_write, s->hits_read, s->hits_spread,
         s->bars_declined, s->mappings_most,
         tracks ? (size_t)atomic_load(&track.track.counters.calls) : 0,
         s->arms, s->harvests, s->arm_pages, s->harvest_pages, kernel_faults,
         bound_finish(bound));
  (void)fflush(stdout);
}

static void replay(const tdo_shield_settings_t *settings) {
  place_t place = {TDO_RECORD_HEADER, 0};
  step_t step;
  replay_start(settings);
  while (recording_next(&recording, &step, &place)) {
    replay_step(&step, place);
  }
  replay_print(settings);
  tdo_shield_finish(&shield);
  if (tracks) {
    tdo_track_double_finish(&track);
  }
  free(declined);
  free(settled);
  tdo_vm_double_finish(&memory);
}

int main(int argc, char **argv) {
  char mode[32];
  tdo_shield_settings_t settings;
  if (argc != 2) {
    (void)fprintf(stderr, "usage: testudo-replay RECORDING < SETTINGS\n");
    return 2;
  }
  recording_load(&recording, argv[1]);
  tdo_shield_settings_init(&settings);
  while (scanf("%31s %zu %u %u", mode, &settings.queue_length,
               &settings.defer_fresh, &settings.defer_hit) == 4) {
    if (!tdo_shield_mode_parse(&settings.mode, mode)) {
      (void)fprintf(stderr, "testudo-replay: no mode %s\n", mode);
      return 2;
    }
    replay(&settings);
  }
  free(recording.data);
  return 0;
}
