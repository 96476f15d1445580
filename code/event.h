/* Testudo: trace events, the telemetry stream (interface, section 2.26).
   SPDX-License-Identifier: BSD-2-Clause

   One stream for the process. An event is written when the bit of its kind is
   on in the filter; while the filter is 0 nothing is written and no output is
   created. Events are gathered in a buffer and leave it through mps_io_write:
   when it is full, when an event comes a tenth of a second after the first in
   the buffer, and when a collection is over (trace/enter.c).

   NO-WAIT: a writer never waits for another one, because that one may be
   stopped, or be the thread that a signal interrupted. When the buffer is
   busy the event is dropped; the number of dropped events goes into the
   stream later. So all functions here may be called at any time, by any
   thread, in signal handlers and with threads stopped.

   The stream: words of 64 bits in the machine's byte order.

     magic     the bytes "TDOEVT1\n"
     order     0x0102030405060708
     then records, each of
       head       code, 2^16 * number of arguments, 2^32 * bytes of text
       time       nanoseconds of the monotonic clock
       arguments  a word each
       text       not terminated, padded with zero bytes to whole words

   The records begin with one DEFINE for each code, its text being the name
   of the event and of its arguments: a reader needs no other table. */
#ifndef TDO_CODE_EVENT_H
#define TDO_CODE_EVENT_H

#include <stdatomic.h>
#include <string.h>
#include "code/base.h"
#include "code/probe.h"

/* Kinds: bit number in the filter, enumeration name, and the word that names
   it in MPS_TELEMETRY_CONTROL. */
#define TDO_EVENT_KINDS(X)                                                    \
  X(0, ARENA, "arena")                                                        \
  X(1, POOL, "pool")                                                          \
  X(2, TRACE, "trace")                                                        \
  X(3, SEG, "seg")                                                            \
  X(4, REF, "ref")                                                            \
  X(5, OBJECT, "object")                                                      \
  X(6, USER, "user")

typedef enum tdo_event_kind {
#define TDO_EVENT_KIND_ENUM(bit, name, word) TDO_EVENT_KIND_##name = (bit),
  TDO_EVENT_KINDS(TDO_EVENT_KIND_ENUM)
#undef TDO_EVENT_KIND_ENUM
} tdo_event_kind_t;

/* Events: code (never reused), name, kind, names of the arguments (after the
   colon: what the text is). Objects are named by their addresses, sizes are
   in bytes, times in nanoseconds. */
#define TDO_EVENTS(X)                                                         \
  X(1, DEFINE, USER, "code kind : name")                                      \
  X(2, DROPPED, USER, "events")                                               \
  X(3, INTERN, USER, "label : string")                                        \
  X(4, LABEL, USER, "address label")                                          \
  X(10, ARENA_CREATE, ARENA, "arena reserved grain")                          \
  X(11, ARENA_DESTROY, ARENA, "arena")                                        \
  X(12, ARENA_EXTEND, ARENA, "arena base size")                               \
  X(13, ARENA_CONTRACT, ARENA, "arena base size")                             \
  X(14, COLLECT_BEGIN, ARENA, "arena condemned full : why")                   \
  X(15, COLLECT_END, ARENA, "arena condemned survived scanned time")          \
  X(20, POOL_CREATE, POOL, "arena pool : class")                              \
  X(21, POOL_DESTROY, POOL, "pool")                                           \
  X(22, AP_CREATE, POOL, "pool ap")                                           \
  X(23, AP_DESTROY, POOL, "ap")                                               \
  X(30, FLIP, TRACE, "arena time")                                            \
  X(31, PAUSE, TRACE, "arena time")                                           \
  X(40, SEG_ALLOC, SEG, "pool base size")                                     \
  X(41, SEG_FREE, SEG, "pool base size")                                      \
  X(42, HIT, SEG, "arena address kind time")                                  \
  X(43, REFUSED, SEG, "arena base size bars")                                 \
  X(50, FIX, REF, "arena reference rank")                                     \
  X(60, FILL, OBJECT, "ap base size")                                         \
  X(61, FINALIZE, OBJECT, "arena address")                                    \
  X(62, FINALIZED, OBJECT, "arena address")                                   \
  X(63, ALLOC, OBJECT, "pool address size")                                   \
  X(64, FREE, OBJECT, "pool address size")

typedef enum tdo_event_code {
#define TDO_EVENT_CODE_ENUM(code, name, kind, args) TDO_EVENT_##name = (code),
  TDO_EVENTS(TDO_EVENT_CODE_ENUM)
#undef TDO_EVENT_CODE_ENUM
} tdo_event_code_t;

/* Bit K is on if events of kind K are written. Read by the macros only. */
extern atomic_ulong tdo_event_filter_word;

/* TDO_EVENT(POOL, POOL_DESTROY, pool): write an event with its arguments,
   words or pointers cast to words, if its kind is on. TDO_EVENT_TEXT adds a
   string of less than 256 bytes. The rash variety writes none. In each variety
   the place is a probe as well (probe.h), with the same arguments and after
   them the string: they are to be without side effects, and cheap, since they
   are there even if nobody looks. TDO_EVENT_CRITICAL is for hot paths: in the
   cool variety only, and no probe. */
#define TDO_EVENT_IS_ON(kind)                                                 \
  TDO_UNLIKELY(atomic_load_explicit(&tdo_event_filter_word,                   \
                                    memory_order_relaxed) >>                  \
                   TDO_EVENT_KIND_##kind &                                    \
               1)
#define TDO_EVENT_WRITE(kind, name, ...)                                      \
  do {                                                                        \
    if (TDO_EVENT_IS_ON(kind)) {                                              \
      const tdo_word_t tdo_event_args[] = {__VA_ARGS__};                      \
      tdo_event_write(TDO_EVENT_##name, tdo_event_args,                       \
                      sizeof tdo_event_args / sizeof(tdo_word_t), NULL, 0);   \
    }                                                                         \
  } while (0)
#define TDO_EVENT_WRITE_TEXT(kind, name, text, ...)                           \
  do {                                                                        \
    if (TDO_EVENT_IS_ON(kind)) {                                              \
      const tdo_word_t tdo_event_args[] = {__VA_ARGS__};                      \
      const char *tdo_event_text = (text);                                    \
      tdo_event_write(TDO_EVENT_##name, tdo_event_args,                       \
                      sizeof tdo_event_args / sizeof(tdo_word_t),             \
                      tdo_event_text, strlen(tdo_event_text));                \
    }                                                                         \
  } while (0)
#define TDO_EVENT_NOTHING(kind, name, ...)                                    \
  do {                                                                        \
    const tdo_word_t tdo_event_args[] = {__VA_ARGS__};                        \
    (void)sizeof tdo_event_args;                                              \
  } while (0)

#define TDO_EVENT_NOTHING_TEXT(kind, name, text, ...)                         \
  do {                                                                        \
    (void)(text);                                                             \
    TDO_EVENT_NOTHING(kind, name, __VA_ARGS__);                               \
  } while (0)

#if TDO_RASH
#define TDO_EVENT_PUT      TDO_EVENT_NOTHING
#define TDO_EVENT_PUT_TEXT TDO_EVENT_NOTHING_TEXT
#else
#define TDO_EVENT_PUT      TDO_EVENT_WRITE
#define TDO_EVENT_PUT_TEXT TDO_EVENT_WRITE_TEXT
#endif
#define TDO_EVENT(kind, name, ...)                                            \
  do {                                                                        \
    TDO_PROBE(name, __VA_ARGS__);                                             \
    TDO_EVENT_PUT(kind, name, __VA_ARGS__);                                   \
  } while (0)
#define TDO_EVENT_TEXT(kind, name, text, ...)                                 \
  do {                                                                        \
    TDO_PROBE(name, __VA_ARGS__, text);                                       \
    TDO_EVENT_PUT_TEXT(kind, name, text, __VA_ARGS__);                        \
  } while (0)
#if TDO_COOL
#define TDO_EVENT_CRITICAL TDO_EVENT_WRITE
#else
#define TDO_EVENT_CRITICAL TDO_EVENT_NOTHING
#endif

/* Set the filter from mps_lib_telemetry_control, at the first call in the
   process, and flush when that ends; the functions below do so too. Call it
   when an arena is made. */
void tdo_event_init(void);

/* Put one event with N words of arguments and SIZE bytes of text into the
   buffer, whatever the filter says. */
void tdo_event_write(tdo_event_code_t code, const tdo_word_t args[], size_t n,
                     const char *text, size_t size);

/* The filter, |= MASK, &= ~MASK. In rash: always 0. */
void tdo_event_set(tdo_word_t mask);
void tdo_event_reset(tdo_word_t mask);
tdo_word_t tdo_event_get(void);

/* A new label for TEXT (less than 256 bytes), and the event that says that
   ADDR has LABEL, which must come from tdo_event_intern. */
tdo_word_t tdo_event_intern(const char *text);
void tdo_event_label(void *addr, tdo_word_t label);

/* Push what is buffered to the plinth, and flush the plinth. */
void tdo_event_flush(void);

/* Flush and close the stream; the next event begins a new one. */
void tdo_event_close(void);

/* In the child of a fork: the stream is the parent's. Forget the buffer and
   write nothing more, as if the filter were 0, until tdo_event_set. Flush
   before the fork: what the plinth buffers, the child would write again. */
void tdo_event_after_fork_in_child(void);

#endif /* TDO_CODE_EVENT_H */
