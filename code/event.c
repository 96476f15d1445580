/* Testudo: trace events. SPDX-License-Identifier: BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "code/check.h"
#include "code/clock.h"
#include "code/event.h"
#include "mpsio.h"
#include "mpslib.h"

/* Largest record: a head, a time, arguments and text. */
enum {
  EVENT_BUFFER = 1024, /* words */
  EVENT_ARGS = 16,     /* words */
  EVENT_TEXT = 256     /* bytes */
};

#define EVENT_LATE_NS 100000000 /* so long an event may lie in the buffer when
                                   another comes */

atomic_ulong tdo_event_filter_word;

static atomic_bool event_started; /* the filter has its first value */
static atomic_ulong event_dropped;
static atomic_ulong event_labels;

/* BUSY guards the rest: who finds it set goes away (NO-WAIT). */
static atomic_flag event_busy = ATOMIC_FLAG_INIT;
static uint64_t event_buffer[EVENT_BUFFER];
static size_t event_used; /* words */
static uint64_t event_oldest, event_newest; /* times of what it has */
static mps_io_t event_io;
static bool event_open;
static bool event_failed; /* the plinth refused: no more output */

static bool event_enter(void) {
  return !atomic_flag_test_and_set_explicit(&event_busy, memory_order_acquire);
}

static void event_leave(void) {
  atomic_flag_clear_explicit(&event_busy, memory_order_release);
}

static void event_put(uint64_t word) {
  event_buffer[event_used++] = word;
}

static void event_put_record(unsigned code, const tdo_word_t args[], size_t n,
                             const char *text, size_t size) {
  size_t words = (size + sizeof(uint64_t) - 1) / sizeof(uint64_t);
  event_newest = tdo_clock_ns();
  if (event_used == 0)
    event_oldest = event_newest;
  event_put(code | (uint64_t)n << 16 | (uint64_t)size << 32);
  event_put(event_newest);
  for (size_t i = 0; i < n; ++i)
    event_put(args[i]);
  if (words > 0) {
    event_buffer[event_used + words - 1] = 0;
    (void)mps_lib_memcpy(&event_buffer[event_used], text, size);
    event_used += words;
  }
}

/* Empty the buffer into the plinth. */
static void event_drain(void) {
  if (event_used > 0 && !event_failed &&
      mps_io_write(event_io, event_buffer,
                   event_used * sizeof event_buffer[0]) != MPS_RES_OK)
    event_failed = true;
  event_used = 0;
}

static void event_put_definition(unsigned code, unsigned kind,
                                 const char *text) {
  const tdo_word_t args[] = {code, kind};
  event_put_record(TDO_EVENT_DEFINE, args, 2, text, strlen(text));
}

/* Open the stream if it is not, and write what it begins with. */
static void event_begin(void) {
  uint64_t magic;
  if (event_open || event_failed)
    return;
  if (mps_io_create(&event_io) != MPS_RES_OK) {
    event_failed = true;
    return;
  }
  event_open = true;
  (void)mps_lib_memcpy(&magic, "TDOEVT1\n", sizeof magic);
  event_put(magic);
  event_put(0x0102030405060708u);
#define EVENT_DEFINE(code, name, kind, args)                                  \
  event_put_definition(code, TDO_EVENT_KIND_##kind, #name " " args);
  TDO_EVENTS(EVENT_DEFINE)
#undef EVENT_DEFINE
  event_drain();
}

/* Room for a record of WORDS more words. */
static void event_make_room(size_t words) {
  if (event_used + words > EVENT_BUFFER)
    event_drain();
}

static void event_put_dropped(void) {
  tdo_word_t dropped = atomic_exchange(&event_dropped, 0);
  if (dropped != 0) {
    event_make_room(3);
    event_put_record(TDO_EVENT_DROPPED, &dropped, 1, NULL, 0);
  }
}

void tdo_event_init(void) {
  if (!TDO_RASH && !atomic_exchange(&event_started, true)) {
    (void)atomic_fetch_or(&tdo_event_filter_word, mps_lib_telemetry_control());
    (void)atexit(tdo_event_flush);
  }
}

void tdo_event_write(tdo_event_code_t code, const tdo_word_t args[], size_t n,
                     const char *text, size_t size) {
  TDO_CHECK(n <= EVENT_ARGS);
  TDO_CHECK(size <= EVENT_TEXT);
  if (!event_enter()) {
    (void)atomic_fetch_add(&event_dropped, 1);
    return;
  }
  event_begin();
  if (!event_failed) {
    event_put_dropped();
    event_make_room(2 + n + (size + 7) / 8);
    event_put_record(code, args, n, text, size);
    if (event_newest - event_oldest >= EVENT_LATE_NS)
      event_drain();
  }
  event_leave();
}

void tdo_event_set(tdo_word_t mask) {
  tdo_event_init();
  if (!TDO_RASH)
    (void)atomic_fetch_or(&tdo_event_filter_word, mask);
}

void tdo_event_reset(tdo_word_t mask) {
  tdo_event_init();
  (void)atomic_fetch_and(&tdo_event_filter_word, ~mask);
}

tdo_word_t tdo_event_get(void) {
  tdo_event_init();
  return atomic_load(&tdo_event_filter_word);
}

static bool event_user_is_on(void) {
  return tdo_event_get() >> TDO_EVENT_KIND_USER & 1;
}

tdo_word_t tdo_event_intern(const char *text) {
  tdo_word_t label = atomic_fetch_add(&event_labels, 1) + 1;
  TDO_ASSERT(text != NULL, "a telemetry label needs a string");
  size_t size = text == NULL ? 0 : strlen(text);
  TDO_ASSERT(size < EVENT_TEXT, "a telemetry label has at most 255 bytes");
  TDO_PROBE(INTERN, label, text);
  if (event_user_is_on())
    tdo_event_write(TDO_EVENT_INTERN, &label, 1, text,
                    tdo_min(size, EVENT_TEXT - 1));
  return label;
}

void tdo_event_label(void *addr, tdo_word_t label) {
  TDO_ASSERT(label != 0 && label <= atomic_load(&event_labels),
             "this telemetry label does not come from mps_telemetry_intern");
  TDO_PROBE(LABEL, addr, label);
  if (event_user_is_on()) {
    const tdo_word_t args[] = {(tdo_word_t)addr, label};
    tdo_event_write(TDO_EVENT_LABEL, args, 2, NULL, 0);
  }
}

void tdo_event_flush(void) {
  if (event_enter()) {
    if (event_open && !event_failed) {
      event_put_dropped();
      event_drain();
      event_failed = event_failed || mps_io_flush(event_io) != MPS_RES_OK;
    }
    event_leave();
  }
}

void tdo_event_close(void) {
  tdo_event_flush();
  if (event_enter()) {
    if (event_open) {
      mps_io_destroy(event_io);
      event_open = false;
    }
    event_failed = false;
    event_leave();
  }
}

void tdo_event_after_fork_in_child(void) {
  atomic_store(&tdo_event_filter_word, 0);
  atomic_store(&event_started, true);
  event_used = 0;
  event_open = false; /* the parent's: neither flushed nor closed */
  event_failed = false;
  event_leave();
}
