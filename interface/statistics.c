/* Testudo: statistics and descriptions of arenas.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "interface/entry.h"
#include "interface/statistics.h"
#include "testudo.h"
#include "trace/heaps.h"

static void statistics_shield(tdo_statistics_s *s,
                              const tdo_shield_stats_t *t) {
  s->raises = t->raises;
  s->lowers = t->lowers;
  s->exposes = t->exposes;
  s->covers = t->covers;
  s->flushes_leave = t->flushes_leave;
  s->flushes_quantum = t->flushes_quantum;
  s->flushes_full = t->flushes_full;
  s->flushes_stop = t->flushes_stop;
  s->protect_calls = t->calls;
  s->protect_refused = t->calls_refused;
  s->protect_pages = t->pages;
  s->protect_changed = t->pages_changed;
  memcpy(s->pages_per_call, t->pages_per_call, sizeof s->pages_per_call);
  memcpy(s->changed_per_call, t->changed_per_call,
         sizeof s->changed_per_call);
  s->hits_read = t->hits_read;
  s->hits_write = t->hits_write;
  s->hits_stale = t->hits_stale;
  s->hits_spread = t->hits_spread;
  s->arms = t->arms;
  s->arms_refused = t->arms_refused;
  s->arm_pages = t->arm_pages;
  s->disarms = t->disarms;
  s->harvests = t->harvests;
  s->harvest_pages = t->harvest_pages;
  s->harvest_written = t->harvest_written;
  s->unseen_dropped = t->unseen_dropped;
  s->regions_closed = t->regions_closed;
  s->regions_opened = t->regions_opened;
  s->bars_lost = t->bars_lost;
  s->bars_conceded = t->bars_conceded;
  s->bars_declined = t->bars_declined;
  s->pages_hidden = t->pages_hidden;
  s->mappings = t->mappings;
  s->mappings_most = t->mappings_most;
}

static void statistics_heap(tdo_statistics_s *s, const tdo_heap_t *heap) {
  const tdo_heap_stats_t *t = &heap->stats;

  s->collections = t->collections;
  s->full_collections = t->full_collections;
  s->tenured = t->tenured;
  s->survived = t->survived;
  s->copied = t->copied;
  s->trace_seconds = (double)t->traced_ns / 1e9;
  s->populated = heap->space.populated;
  s->huge_bytes = heap->space.huge_bytes;
  s->huge_refused = heap->space.huge_refused;
  s->collect_seconds = (double)t->paused_ns / 1e9;
  s->pauses = t->pauses;
  s->longest_pause = (double)t->pause_longest_ns / 1e9;
  memcpy(s->hit_time, t->hit_log2, sizeof s->hit_time);
  memcpy(s->quantum, t->quantum_log2, sizeof s->quantum);
  memcpy(s->pause_time, t->pause_log2, sizeof s->pause_time);
  s->stops = t->stops;
  s->threads_stopped = t->stopped;
  s->stopped_seconds = (double)t->stopped_ns / 1e9;
}

_Static_assert(TDO_HISTOGRAM == TDO_SHIELD_HISTOGRAM,
               "the histograms are the same");

void tdo_statistics(mps_arena_t arena, tdo_statistics_s *s) {
  tdo_vm_counters_t *c = &tdo_vm_system()->counters;
  bool entered;

  ENTRY_ARENA(arena, );
  ENTRY_REQUIRE(s != NULL, "no place for the statistics", );
  entered = ENTRY_LOOK(arena);
  memset(s, 0, sizeof *s);
  if (arena->shielded) {
    s->mode = (tdo_mode_t)arena->shield.settings.mode;
    s->fallback = arena->shield.fallback;
    statistics_shield(s, &arena->shield.stats);
    s->track_calls = atomic_load(&arena->track.counters.calls);
  } else {
    s->mode = TDO_MODE_OFF;
  }
  statistics_heap(s, arena);
  tdo_vm_faults(&s->faults_minor, &s->faults_major);
  s->map_calls = atomic_load(&c->map);
  s->unmap_calls = atomic_load(&c->unmap);
  s->protect_calls_process = atomic_load(&c->protect);
  s->advise_calls = atomic_load(&c->advise);
  s->move_calls = atomic_load(&c->move);
  if (entered)
    tdo_heap_leave(arena);
}

/* The buckets that are not empty, as "2^10 5, 2^11 3"; "-" if all are. */
static void print_histogram(FILE *f, const char *name, const size_t *counts,
                            size_t n) {
  const char *separator = "";

  fprintf(f, "  %-12s ", name);
  for (size_t i = 0; i < n; ++i)
    if (counts[i] != 0) {
      fprintf(f, "%s2^%zu %zu", separator, i, counts[i]);
      separator = ", ";
    }
  fputs(*separator == '\0' ? "-\n" : "\n", f);
}

static void print_shield(FILE *f, const tdo_statistics_s *s) {
  fprintf(f, "testudo: shield %s\n",
          tdo_shield_mode_name((tdo_shield_mode_t)s->mode));
  if (s->fallback != NULL)
    fprintf(f, "  fallback     not dirty: %s\n", s->fallback);
  fprintf(f,
          "  requests     %zu raise, %zu lower, %zu expose, %zu cover\n"
          "  protection   %zu calls (%zu refused), %zu pages, %zu changed, %zu "
          "hidden\n",
          s->raises, s->lowers, s->exposes, s->covers, s->protect_calls,
          s->protect_refused, s->protect_pages, s->protect_changed,
          s->pages_hidden);
  print_histogram(f, "call pages", s->pages_per_call, TDO_HISTOGRAM);
  print_histogram(f, "changed", s->changed_per_call, TDO_HISTOGRAM);
  fprintf(f, "  hits         %zu read, %zu write, %zu stale, %zu spread\n",
          s->hits_read, s->hits_write, s->hits_stale, s->hits_spread);
  print_histogram(f, "hit time ns", s->hit_time, TDO_HISTOGRAM_LONG);
  print_histogram(f, "quantum B", s->quantum, TDO_HISTOGRAM_LONG);
  fprintf(f,
          "  bars         %zu lost, %zu conceded, %zu declined\n"
          "  flushes      %zu queue full, %zu quantum end, %zu stop, %zu "
          "other\n"
          "  mappings     %zu now, %zu at most\n",
          s->bars_lost, s->bars_conceded, s->bars_declined, s->flushes_full,
          s->flushes_quantum, s->flushes_stop, s->flushes_leave, s->mappings,
          s->mappings_most);
}

static void print_tracking(FILE *f, const tdo_statistics_s *s) {
  if (s->track_calls == 0)
    return;
  fprintf(f,
          "  arms         %zu (%zu refused), %zu pages, %zu undone\n"
          "  harvests     %zu, %zu pages, %zu written, %zu dropped\n"
          "  regions      %zu closed, %zu opened\n"
          "  tracking     %zu ioctl\n",
          s->arms, s->arms_refused, s->arm_pages, s->disarms, s->harvests,
          s->harvest_pages, s->harvest_written, s->unseen_dropped,
          s->regions_closed, s->regions_opened, s->track_calls);
}

static void print_rest(FILE *f, const tdo_statistics_s *s) {
  fprintf(f,
          "  threads      %zu stops, %zu threads, %.6f s\n"
          "  collections  %zu, of everything %zu\n"
          "  survived     %zu bytes, copied %zu, in %.3f s of tracing\n"
          "  promoted     %zu bytes without a collection\n"
          "  pauses       %zu, in all %.3f s, longest %.6f s\n",
          s->stops, s->threads_stopped, s->stopped_seconds, s->collections,
          s->full_collections, s->survived, s->copied, s->trace_seconds,
          s->tenured, s->pauses, s->collect_seconds, s->longest_pause);
  print_histogram(f, "pause ns", s->pause_time, TDO_HISTOGRAM_LONG);
  fprintf(f,
          "  populated    %zu bytes ahead of their use\n"
          "  huge pages   %zu bytes advised, %zu calls refused\n"
          "  faults       %zu minor, %zu major (whole process)\n"
          "  calls        %zu mmap, %zu munmap, %zu mprotect, %zu madvise, "
          "%zu mremap (whole process)\n",
          s->populated, s->huge_bytes, s->huge_refused, s->faults_minor,
          s->faults_major, s->map_calls, s->unmap_calls,
          s->protect_calls_process, s->advise_calls, s->move_calls);
}

static void statistics_print(mps_arena_t arena, FILE *f) {
  tdo_statistics_s s;

  tdo_statistics(arena, &s);
  print_shield(f, &s);
  if (arena->first)
    fputs("  arena        the first of the process\n", f);
  print_tracking(f, &s);
  print_rest(f, &s);
}

void tdo_arena_describe(mps_arena_t arena, FILE *stream) {
  size_t reserved, committed, spare, pools = 0;
  bool entered;

  ENTRY_ARENA(arena, );
  ENTRY_REQUIRE(stream != NULL, "no stream to describe the arena on", );
  entered = ENTRY_LOOK(arena);
  reserved = tdo_space_reserved(&arena->space);
  committed = arena->space.committed;
  spare = tdo_space_spare(&arena->space);
  if (ENTRY_CAN_WALK(arena))
    TDO_RING_FOR(node, &arena->pools)
      ++pools;
  if (entered)
    tdo_heap_leave(arena);
  fprintf(stream,
          "arena %p: reserved %zu, committed %zu, spare %zu, pools %zu\n",
          (void *)arena, reserved, committed, spare, pools);
  statistics_print(arena, stream);
}

/* The one name outside our prefixes (interface, section 11.12). */
void ArenaDescribe(mps_arena_t arena, FILE *stream, size_t depth);
void tdo_arena_describe_depth(mps_arena_t arena, FILE *stream, size_t depth);

void tdo_arena_describe_depth(mps_arena_t arena, FILE *stream,
                              size_t depth) {
  (void)depth;
  tdo_arena_describe(arena, stream);
}

void ArenaDescribe(mps_arena_t arena, FILE *stream, size_t depth)
    __attribute__((weak, alias("tdo_arena_describe_depth")));

static atomic_bool statistics_wanted;

static void statistics_exit(void) {
  tdo_heaps_each(tdo_statistics_leave);
}

void tdo_statistics_at_exit(void) {
  if (!atomic_exchange(&statistics_wanted, true))
    (void)atexit(statistics_exit);
}

void tdo_statistics_leave(mps_arena_t arena) {
  if (atomic_load(&statistics_wanted))
    statistics_print(arena, stderr);
}
