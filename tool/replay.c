/* Testudo: testudo-replay: a recording of a shield's requests, replayed into
   the same shield over a double that counts.
   Usage: testudo-replay RECORDING, with lines "MODE QUEUE FRESH HIT" on
   standard input; for each prints one line of JSON. Exit status 2 if the
   recording is damaged, with the offset. SPDX-License-Identifier: BSD-2-Clause

   A page that this shield declines to bar, and the recorded one did not, would
   have been scanned and offered again at each collection; here it is offered
   at each collection's start. Where the recorded shield declined it, the
   recording has those offers. A write that was recorded hits if its page is
   barred here. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code/track_double.h"
#include "code/vm_double.h"
#include "shield/internal.h"

static unsigned char *data; /* the recording */
static size_t data_size;
static size_t page_size, pages, recorded_mode;

typedef struct step {
  tdo_request_t request;
  unsigned argument;
  size_t first, limit;
} step_t;

static void damaged(size_t offset, const char *why) {
  (void)fprintf(stderr, "testudo-replay: damaged at byte %zu: %s\n", offset,
                why);
  exit(2);
}

static const bool about_pages[TDO_REQUESTS_COUNT] = {
#define ABOUT(name, is) is,
    TDO_REQUESTS(ABOUT)
#undef ABOUT
};

static uint64_t number(size_t *at) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    if (*at >= data_size) {
      damaged(*at, "it ends within a record");
    }
    unsigned char byte = data[(*at)++];
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128) {
      return value;
    }
  }
  damaged(*at, "a number is too large");
  return 0;
}

/* The step at *AT; false at the end. *LAST is the end of the range before. */
static bool next_step(step_t *step, size_t *at, size_t *last) {
  size_t start = *at;
  if (start >= data_size || (data[start] & 31) == TDO_REQUEST_END) {
    return false;
  }
  step->request = (tdo_request_t)(data[start] & 31);
  step->argument = data[start] >> 5;
  ++*at;
  if (step->request >= TDO_REQUESTS_COUNT) {
    damaged(start, "there is no such request");
  }
  if (about_pages[step->request]) {
    uint64_t move = number(at), length = number(at);
    step->first = move % 2 == 0 ? *last + move / 2 : *last - (move + 1) / 2;
    step->limit = step->first + length;
    if (step->first > pages || length > pages - step->first) {
      damaged(start, "its pages lie outside of the window");
    }
    *last = step->limit;
  }
  return true;
}

static uint64_t word(size_t offset) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) {
    value = value << 8 | data[offset + (size_t)i];
  }
  return value;
}

static void load(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t room = (size_t)1 << 20, got;
  data = malloc(room);
  while (file != NULL && data != NULL &&
         (got = fread(data + data_size, 1, room - data_size, file)) > 0) {
    data_size += got;
    if (data_size == room) {
      room *= 2;
      data = realloc(data, room);
    }
  }
  if (file == NULL || data == NULL) {
    (void)fprintf(stderr, "testudo-replay: %s: %s\n", path, strerror(errno));
    exit(2);
  }
  (void)fclose(file);
  if (data_size < TDO_RECORD_HEADER ||
      memcmp(data, TDO_RECORD_MAGIC, 8) != 0) {
    damaged(0, "this is no recording");
  }
  page_size = word(8);
  pages = word(16);
  recorded_mode = word(24);
  if (!tdo_is_pow2(page_size) || page_size < 512 || pages == 0 ||
      pages > (size_t)1 << 40 || recorded_mode >= TDO_SHIELD_MODES) {
    damaged(8, "the header makes no sense");
  }
}

/* The window need only have the pages that occur; checks the whole file. */
static void trim(void) {
  size_t at = TDO_RECORD_HEADER, last = 0, most = 1;
  step_t step = {0};
  while (next_step(&step, &at, &last)) {
    if (about_pages[step.request]) {
      most = tdo_max(most, step.limit);
    }
  }
  pages = tdo_round_up(most, TDO_SHIELD_REGION);
}

/* ---- one replay ---- */

static tdo_vm_double_t memory;
static tdo_track_double_t track;
static tdo_shield_t shield;
static tdo_bits_t *declined; /* adopted pages without the bar that they had */
static char *base;
static size_t kernel_faults;
static bool tracks;
/* The lower bound: whatever it knows, a shield needs a call to open what is
   closed, and one to close, in each session that does. */
static bool opened, closed;
static size_t bound;
static mps_res_t (*protect)(tdo_vm_t *, void *, size_t, tdo_access_t);

static mps_res_t replay_protect(tdo_vm_t *vm, void *addr, size_t size,
                                tdo_access_t access) {
  size_t first = (size_t)((char *)addr - base) / page_size;
  if (access == TDO_ACCESS_NONE) {
    closed = true;
  } else {
    opened |= memchr(memory.access + first, TDO_ACCESS_NONE,
                     size / page_size) != NULL;
  }
  return protect(vm, addr, size, access);
}

static void replay_lost(void *closure, size_t first, size_t limit,
                        tdo_bar_t bars) {
  (void)closure;
  if ((bars & TDO_BAR_WRITE) && recorded_mode != TDO_SHIELD_DEFERRED) {
    tdo_bits_set_range(declined, first, limit);
  }
}

static void replay_written(void *closure, size_t first, size_t limit) {
  (void)closure, (void)first, (void)limit; /* the recording told */
}

static void session_end(void) {
  tdo_shield_leave(&shield);
  bound += (size_t)opened + (size_t)closed;
  opened = closed = false;
}

static void replay_write(size_t page) {
  if (!tdo_shield_adopted(&shield, page)) {
    return;
  }
  tdo_bar_t bars = tdo_shield_bars(&shield, page);
  if (tracks && shield.actual[page] == TDO_ACCESS_ARMED) {
    tdo_track_double_write(&track, base + page * page_size);
    ++kernel_faults;
  } else if ((bars & TDO_BAR_WRITE) != 0 &&
             shield.actual[page] == TDO_ACCESS_READ) {
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

/* A collection begins: what is not barred is looked at again. */
static void replay_offers(void) {
  size_t page = 0;
  tdo_shield_begin_offers(&shield);
  while ((page = tdo_bits_next_set(declined, page, pages)) < pages) {
    size_t end = tdo_bits_next_clear(declined, page, pages);
    replay_offer(page, end, true);
    page = end;
  }
}

static void replay_memory(const step_t *step, bool commit) {
  void *p = base + step->first * page_size;
  size_t size = (step->limit - step->first) * page_size;
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

static void replay_step(const step_t *step) {
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
  case TDO_REQUEST_EXPOSE:
    tdo_shield_expose(&shield, first, limit);
    break;
  case TDO_REQUEST_COVER:
    tdo_shield_cover(&shield, first, limit);
    break;
  case TDO_REQUEST_OFFER:
    replay_offer(first, limit, step->argument != 0);
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
    replay_offers();
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
  tdo_vm_double_options_t options = {.pages = pages, .page_size = page_size};
  tdo_shield_hooks_t hooks = {NULL, NULL, NULL, replay_lost};
  void *window;
  require(tdo_vm_double_init(&memory, &options));
  require(
      memory.vm.reserve(&window, &memory.vm, pages * page_size, page_size));
  base = window;
  protect = memory.vm.protect;
  memory.vm.protect = replay_protect;
  declined = calloc(tdo_bits_words(pages), sizeof *declined);
  require(declined == NULL ? MPS_RES_MEMORY : MPS_RES_OK);
  require(tdo_shield_init(&shield, &memory.vm, base, pages * page_size,
                          settings, &hooks));
  tracks = settings->mode == TDO_SHIELD_DIRTY;
  if (tracks) {
    require(tdo_track_double_init(&track, base, pages, page_size));
    require(tdo_shield_attach(&shield, &track.track));
  }
  kernel_faults = bound = 0;
  opened = closed = false;
}

static void replay_print(const tdo_shield_settings_t *settings) {
  const tdo_shield_stats_t *s = &shield.stats;
  printf("{\"mode\": \"%s\", \"queue\": %zu, \"fresh\": %u, \"hit\": %u, "
         "\"calls\": %zu, \"pages\": %zu, \"changed\": %zu, "
         "\"hits\": %zu, \"read_hits\": %zu, \"spread\": %zu, "
         "\"declined\": %zu, \"mappings\": %zu, "
         "\"track_calls\": %zu, \"track_pages\": %zu, "
         "\"harvest_pages\": %zu, \"kernel_faults\": %zu, "
         "\"bound\": %zu}\n",
         tdo_shield_mode_name(settings->mode), settings->queue_length,
         settings->defer_fresh, settings->defer_hit, s->calls, s->pages,
         s->pages_changed, s->hits_write, s->hits_read, s->hits_spread,
         s->bars_declined, s->mappings_most,
         tracks ? (size_t)atomic_load(&track.track.counters.calls) : 0,
         s->arm_pages, s->harvest_pages, kernel_faults, bound);
  (void)fflush(stdout);
}

static void replay(const tdo_shield_settings_t *settings) {
  size_t at = TDO_RECORD_HEADER, last = 0;
  step_t step = {0};
  replay_start(settings);
  while (next_step(&step, &at, &last)) {
    replay_step(&step);
  }
  replay_print(settings);
  tdo_shield_finish(&shield);
  if (tracks) {
    tdo_track_double_finish(&track);
  }
  free(declined);
  tdo_vm_double_finish(&memory);
}

int main(int argc, char **argv) {
  char mode[32];
  tdo_shield_settings_t settings;
  if (argc != 2) {
    (void)fprintf(stderr, "usage: testudo-replay RECORDING < SETTINGS\n");
    return 2;
  }
  load(argv[1]);
  trim();
  tdo_shield_settings_init(&settings);
  while (scanf("%31s %zu %u %u", mode, &settings.queue_length,
               &settings.defer_fresh, &settings.defer_hit) == 4) {
    if (!tdo_shield_mode_parse(&settings.mode, mode)) {
      (void)fprintf(stderr, "testudo-replay: no mode %s\n", mode);
      return 2;
    }
    replay(&settings);
  }
  free(data);
  return 0;
}
