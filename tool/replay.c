/* Testudo: testudo-replay: a recording of a shield's requests, replayed into
   the same shield over a double that counts.
   Usage: see replay_usage. Exit status 2 if the recording is damaged, with the
   offset. SPDX-License-Identifier: BSD-2-Clause

   A recording tells what was asked of the shield. What the program would have
   done with other settings is deduced: a write that was recorded (a hit, or
   found by a harvest) hits if its page is barred here; else all that its
   session did is left out. What the collector would have looked at: looks.h.
   Exact is that for a recording in mode naive or ranged, where each page has
   its bar, so that each first write is known. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code/settings.h"
#include "code/track_double.h"
#include "code/vm_double.h"
#include "shield/internal.h"
#include "bound.h"
#include "ending.h"
#include "looks.h"
#include "recording.h"

static recording_t recording;

/* ---- one replay ---- */

static tdo_vm_double_t memory;
static tdo_track_double_t track;
static tdo_shield_t shield;
static char *base;
static size_t kernel_faults;
static bool tracks;
static bound_t *bound;
static looks_t *looks;

static void replay_lost(void *closure, size_t first, size_t limit,
                        tdo_bar_t bars) {
  (void)closure;
  if ((bars & TDO_BAR_WRITE) != 0) {
    bound_useless(bound, first, limit);
    looks_lost(looks, first, limit);
  }
}

static void replay_written(void *closure, size_t first, size_t limit) {
  (void)closure;
  bound_written(bound, first, limit);
  looks_written(looks, first, limit);
}

static void session_end(void) {
  tdo_shield_leave(&shield);
  bound_session(bound);
}

/* The program writes PAGE. */
static void replay_write(size_t page) {
  tdo_bar_t bars = tdo_shield_bars(&shield, page);
  if (!tdo_shield_adopted(&shield, page))
    return;
  if (tracks && shield.actual[page] == TDO_ACCESS_ARMED) {
    tdo_track_double_write(&track, base + page * recording.page_size);
    ++kernel_faults;
  } else if ((bars & TDO_BAR_WRITE) != 0 &&
             shield.actual[page] == TDO_ACCESS_READ) {
    bound_useless(bound, page, page + 1);
    tdo_shield_hit(&shield, page, bars);
    looks_written(looks, page, page + 1);
    tdo_shield_lower(&shield, page, page + 1, TDO_BAR_WRITE);
    session_end();
  }
}

static void replay_step(const step_t *step, place_t *place);

/* Leave out what the session that *PLACE is in does about a write: bars and
   calls. What becomes of pages besides is not left out: a session in which bars
   were refused does more than that. */
static void skip_session(place_t *place) {
  step_t step;
  while (recording_next(&recording, &step, place) &&
         step.request != TDO_REQUEST_LEAVE) {
    switch (step.request) {
    case TDO_REQUEST_COMMITTED:
    case TDO_REQUEST_DECOMMITTED:
    case TDO_REQUEST_ADOPT:
    case TDO_REQUEST_RETIRE:
    case TDO_REQUEST_EXPOSE:
    case TDO_REQUEST_COVER:
      replay_step(&step, place);
      break;
    default:
      break;
    }
  }
}

/* A hit of a write bar only is all that its session is for. */
static void replay_hit(const step_t *step, place_t *place) {
  size_t page = step->first;
  tdo_bar_t bars = tdo_shield_bars(&shield, page);
  if (step->argument == 0) {
    tdo_shield_hit(&shield, page, 0);
  } else if ((step->argument & TDO_BAR_READ) != 0) {
    tdo_shield_hit(&shield, page, bars);
  } else if (tracks) {
    replay_write(page);
    skip_session(place);
  } else if ((bars & TDO_BAR_WRITE) != 0) {
    bound_useless(bound, page, page + 1);
    tdo_shield_hit(&shield, page, bars);
  } else {
    skip_session(place);
  }
}

/* A collection begins, at PLACE. What it finds that the program wrote, the
   program has written before. */
static void replay_writes(place_t place) {
  step_t step;
  while (recording_next(&recording, &step, &place) &&
         (step.request == TDO_REQUEST_OFFERS ||
          step.request == TDO_REQUEST_HARVEST ||
          step.request == TDO_REQUEST_WRITTEN)) {
    for (size_t page = step.first; page < step.limit; ++page)
      replay_write(page);
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
    if (tracks)
      tdo_track_double_remap(&track, p, size);
    tdo_shield_decommitted(&shield, step->first, step->limit);
  }
}

static void replay_page_step(const step_t *step) {
  size_t first = step->first, limit = step->limit;
  switch (step->request) {
  case TDO_REQUEST_COMMITTED:
  case TDO_REQUEST_DECOMMITTED:
    replay_memory(step, step->request == TDO_REQUEST_COMMITTED);
    break;
  case TDO_REQUEST_ADOPT:
    tdo_shield_adopt(&shield, first, limit);
    break;
  case TDO_REQUEST_RETIRE:
    tdo_shield_retire(&shield, first, limit);
    break;
  case TDO_REQUEST_RAISE:
    tdo_shield_raise(&shield, first, limit, step->argument);
    break;
  case TDO_REQUEST_LOWER:
    tdo_shield_lower(&shield, first, limit, step->argument);
    break;
  case TDO_REQUEST_RELEASE:
    tdo_shield_release(&shield, first, limit, step->argument != 0);
    break;
  case TDO_REQUEST_EXPOSE:
    tdo_shield_expose(&shield, first, limit);
    break;
  case TDO_REQUEST_COVER:
    tdo_shield_cover(&shield, first, limit);
    break;
  case TDO_REQUEST_OFFER:
    looks_offer(looks, first, limit);
    break;
  case TDO_REQUEST_FORCE:
    (void)tdo_shield_force_open(&shield, first);
    break;
  case TDO_REQUEST_TRUST:
    tdo_shield_trust(&shield, first, limit);
    break;
  default:
    break;
  }
}

static void replay_step(const step_t *step, place_t *place) {
  looks_note(looks, step);
  switch (step->request) {
  case TDO_REQUEST_HIT:
    bound_touch(bound, step->first, step->limit);
    replay_hit(step, place);
    break;
  case TDO_REQUEST_FLUSH:
    tdo_shield_flush(&shield);
    break;
  case TDO_REQUEST_LEAVE:
    session_end();
    break;
  case TDO_REQUEST_STOPPED:
    replay_writes(*place);
    tdo_shield_note_stopped(&shield);
    bound_collection(bound);
    break;
  case TDO_REQUEST_HARVEST:
    tdo_shield_harvest(&shield, replay_written, NULL);
    break;
  case TDO_REQUEST_OFFERS:
    tdo_shield_begin_offers(&shield);
    break;
  case TDO_REQUEST_REMEMBER:
    looks_pass(looks, &recording, step, place, replay_step);
    break;
  case TDO_REQUEST_SUMMARY:
  case TDO_REQUEST_WHITE:
  case TDO_REQUEST_PAGES:
  case TDO_REQUEST_REACHED:
  case TDO_REQUEST_WRITTEN: /* done */
    break;
  default:
    if (step->request == TDO_REQUEST_EXPOSE)
      bound_expose(bound, step->first, step->limit);
    else
      bound_touch(bound, step->first, step->limit);
    replay_page_step(step);
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
  tdo_shield_hooks_t hooks = {NULL, NULL, NULL, replay_lost, NULL};
  void *window;
  require(tdo_vm_double_init(&memory, &options));
  require(
      memory.vm.reserve(&window, &memory.vm, pages * page_size, page_size));
  base = window;
  /* The limit is for the budget; nothing is refused here. */
  memory.options.mapping_limit = recording.mapping_limit;
  require(tdo_shield_init(&shield, &memory.vm, base, pages * page_size,
                          settings, &hooks));
  memory.options.mapping_limit = SIZE_MAX;
  tracks = settings->mode == TDO_SHIELD_DIRTY;
  if (tracks) {
    require(tdo_track_double_init(&track, base, pages, page_size));
    require(tdo_shield_attach(&shield, &track.track));
  }
  kernel_faults = 0;
  bound = bound_new(&shield);
  require(bound == NULL ? MPS_RES_MEMORY : MPS_RES_OK);
  looks = looks_new(&shield, bound);
  require(looks == NULL ? MPS_RES_MEMORY : MPS_RES_OK);
}

static void replay_print(const tdo_shield_settings_t *settings) {
  const tdo_shield_stats_t *s = &shield.stats;
  printf("{\"mode\": \"%s\", \"queue\": %zu, \"fresh\": %u, \"hit\": %u, "
         "\"calls\": %zu, \"pages\": %zu, \"changed\": %zu, "
         "\"hits\": %zu, \"read_hits\": %zu, \"spread\": %zu, "
         "\"declined\": %zu, \"mappings\": %zu, "
         "\"track_calls\": %zu, \"arms\": %zu, \"harvests\": %zu, "
         "\"track_pages\": %zu, "
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
  while (recording_next(&recording, &step, &place))
    replay_step(&step, &place);
  replay_print(settings);
  tdo_shield_finish(&shield);
  if (tracks)
    tdo_track_double_finish(&track);
  looks_free(looks);
  tdo_vm_double_finish(&memory);
}

static const char replay_usage[] =
    "usage: testudo-replay RECORDING < SETTINGS\n"
    "\n"
    "RECORDING was made by TESTUDO_RECORD. SETTINGS has lines of four\n"
    "fields, MODE QUEUE FRESH HIT, such as\n"
    "\n"
    "  deferred 1024 4 16\n"
    "\n"
    "what TESTUDO_SHIELD, TESTUDO_QUEUE, TESTUDO_DEFER_FRESH and\n"
    "TESTUDO_DEFER_HIT would be. For each it prints a line of JSON: what the\n"
    "shield would have done.\n";

#define REPLAY_ROW(field, type, variable, value, words, lowest, highest,      \
                   accepted, help)                                            \
  {variable, lowest, highest},

/* Would VARIABLE accept NUMBER? */
static bool replay_accepts(const char *variable, unsigned long long number) {
  static const struct {
    const char *variable;
    double lowest, highest;
  } rows[] = {TDO_SETTINGS(REPLAY_ROW)};
  size_t i = 0;
  while (strcmp(rows[i].variable, variable) != 0)
    ++i;
  return (double)number >= rows[i].lowest && (double)number <= rows[i].highest;
}

/* Replay each setting on standard input; false if one cannot be read. */
static bool replay_all(void) {
  char mode[32];
  tdo_shield_settings_t settings;
  unsigned long long queue, fresh, hit;
  unsigned number = 1;
  int fields;
  tdo_shield_settings_defaults(&settings);
  while ((fields = scanf("%31s %llu %llu %llu", mode, &queue, &fresh,
                         &hit)) == 4) {
    if (!tdo_shield_mode_parse(&settings.mode, mode)) {
      (void)fprintf(stderr, "testudo-replay: no mode %s\n", mode);
      return false;
    }
    if (!replay_accepts("TESTUDO_QUEUE", queue) ||
        !replay_accepts("TESTUDO_DEFER_FRESH", fresh) ||
        !replay_accepts("TESTUDO_DEFER_HIT", hit))
      break;
    settings.queue_length = queue;
    settings.defer_fresh = (unsigned)fresh;
    settings.defer_hit = (unsigned)hit;
    replay(&settings);
    ++number;
  }
  if (fields != EOF || ferror(stdin)) {
    (void)fprintf(stderr,
                  "testudo-replay: setting %u cannot be read: expected MODE "
                  "QUEUE FRESH HIT, such as deferred 1024 4 16\n",
                  number);
    return false;
  }
  return true;
}

int main(int argc, char **argv) {
  bool ok;
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    (void)fputs(replay_usage, stdout);
    return tool_end("testudo-replay", 0);
  }
  if (argc != 2) {
    (void)fputs(replay_usage, stderr);
    return 2;
  }
  recording_load(&recording, argv[1]);
  ok = replay_all();
  free(recording.data);
  return tool_end("testudo-replay", ok ? 0 : 2);
}
