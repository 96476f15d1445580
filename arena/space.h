/* Testudo: one arena's address space. A window is reserved once, contiguous,
   so that an address leads to its owner by one bounds check and one load.
   SPDX-License-Identifier: BSD-2-Clause

   Words. A *grain* is the unit of allocation (a power of two, at least a
   page); a *zone* is a run of grains, the unit of placement: each zone
   belongs to one *group* (a generation, the manual pools, ...), so that what
   is collected together lies together, and a test on one byte a zone tells
   what a reference refers to. A *chunk* is a part of the window that the
   arena reports as reserved. Grains and zones are numbered from the window's
   base; ranges are [first, limit).

   A grain is *used* (has an owner), *spare* (free, with memory kept) or
   *empty*. A spare grain that was never used since it got its memory is
   *fresh*: the system has no pages behind it yet.

   .mix  A group's zones hold memory that it does not use now. Where little is
   committed, that is much of it: there spare grains of any group's zones are
   taken before fresh memory is, and such zones become shared. What is
   collected as a whole (trace/small.h) loses nothing by that. So it is in heaps
   that are 16 times as large while more is spare than in use.

   Invariants:
   .owner    owner[g] != NULL iff grain g is used; used grains are committed.
   .zone     a zone with a used grain belongs to a group; a zone of no group
             has none. A group, other than that of the free, counts its zones.
   .byte     zone_byte[z] is its group's byte, or SHARED for a zone that
             several groups share: address space was short, or .mix.
   .huge     a zone for which huge pages were advised has all its memory.
   .fresh    fresh grains are spare.
   .limit    committed bytes (tables included) <= commit limit.
   .spare    spare bytes <= spare fraction * committed, both less what is held,
             and <= spare_bytes, once tdo_space_settle was called; between,
             giving back a lot at once is spread over several calls, and a
             little stays. Where that is not all of it, fresh memory is not
             added to more than TDO_SPARE_DEFAULT of it.

   All functions need the arena's lock unless they say otherwise. */
#ifndef TDO_ARENA_SPACE_H
#define TDO_ARENA_SPACE_H

#include <stdatomic.h>
#include "code/base.h"
#include "code/bits.h"
#include "code/vm.h"

typedef uint16_t tdo_group_t;
#define TDO_GROUP_FREE    ((tdo_group_t)0) /* zones that nobody has */
#define TDO_GROUP_SHARED  ((tdo_group_t)1) /* zones of several groups */
#define TDO_GROUP_CONTROL ((tdo_group_t)2) /* the library's own blocks */
#define TDO_GROUP_MANUAL  ((tdo_group_t)3) /* manual pools */
#define TDO_GROUP_FIRST   ((tdo_group_t)4) /* first that clients get */
#define TDO_GROUPS        2048

#define TDO_SPARE_DEFAULT 0.75 /* the spare fraction, if nobody says another */

#define TDO_ZONE_BYTE_SHARED 0xFFu /* may be white, may be any age */
#define TDO_ZONE_NONE        UINT32_MAX

typedef struct tdo_chunk {
  size_t first, limit; /* zones */
} tdo_chunk_t;

/* What is seldom looked for in many zones, in one table: each takes a page in
   the smallest heap. */
typedef struct tdo_zone {
  uint32_t used, memory; /* grains used, committed in it */
  uint32_t next, prev;   /* list of its group's usable zones */
  bool charged;          /* are its tables? */
} tdo_zone_t;

/* A block of client memory. Grains are numbered through all blocks, in the
   order they came, with one unknown grain between two, so that no run of
   grains goes on from one to the next. */
typedef struct tdo_block {
  char *base;
  size_t size, offset; /* bytes; offset: of its first grain in the numbers */
} tdo_block_t;

/* What upper floors want to know. Functions may be null. */
typedef struct tdo_space_hooks {
  void *closure;
  /* Grains became accessible (zeroed or not); are about to lose memory and
     access; lost them. */
  void (*committed)(void *closure, size_t first, size_t limit);
  void (*decommitting)(void *closure, size_t first, size_t limit);
  void (*decommitted)(void *closure, size_t first, size_t limit);
  /* Grains got an owner; lost it (before the descriptor goes). */
  void (*taken)(void *closure, size_t first, size_t limit);
  void (*dropped)(void *closure, size_t first, size_t limit);
  /* Grains that fill zones are backed by huge pages, or no more. */
  void (*huge)(void *closure, size_t first, size_t limit, bool huge);
  /* A chunk was acquired; is about to be given back. */
  void (*extended)(void *closure, void *base, size_t size);
  void (*contracted)(void *closure, void *base, size_t size);
} tdo_space_hooks_t;

typedef struct tdo_space {
  tdo_sig_t sig;
  tdo_vm_t *vm; /* NULL: client memory, never committed or given back */
  char *base;   /* of the window; of the client's first block */
  size_t size;  /* of it, bytes */
  atomic_size_t block_count; /* of client memory, else 0 */
  tdo_block_t *blocks;
  unsigned grain_shift, zone_shift;
  size_t grains, zones; /* in the window; that the tables have room for */
  size_t zone_grains;   /* grains in a zone */
  /* Tables; all in one reservation, touched only where used. */
  void **owner;              /* a grain */
  tdo_bits_t *used, *memory; /* a grain: has an owner; is committed; */
  tdo_bits_t *fresh; /* and was neither used nor asked for ahead since */
  uint32_t *note; /* a grain: what its owner wants; not charged, since few
                     want any */
  tdo_zone_t *zone;
  tdo_group_t *zone_group;
  unsigned char *zone_byte;
  tdo_bits_t *zone_known;   /* zones of chunks */
  tdo_bits_t *zone_huge;    /* for which huge pages were advised */
  tdo_chunk_t *chunks;
  size_t chunk_count, chunk_max;
  unsigned char *extra; /* client memory: extra_bytes a grain, for upper
                           floors */
  size_t extra_bytes;
  void *tables;
  size_t tables_size;
  size_t zone_limit; /* zones ever known lie below */
  size_t cold_hint;  /* no cold free zone below */
  /* Accounts, in bytes. */
  size_t reserved;  /* sum of chunks */
  size_t charged;   /* in use beside them: tables and the like */
  size_t committed; /* used and spare grains, and tables */
  size_t spare;     /* spare grains */
  volatile unsigned busy; /* operations that a handler may have interrupted */
  size_t keep, keep_limit; /* spare grains that must not be given back: a run
                              that gets memory */
  size_t held;      /* spare that counts as in use: the nursery's */
  size_t runs;      /* of grains with memory, */
  size_t runs_most; /* and how many giving back may make; or 0: not asked */
  size_t mix_most;  /* .mix: bytes committed, at most */
  size_t ease_at;   /* spare bytes from which on tdo_space_ease tries again,
                       after a refusal; or 0 */
  size_t commit_limit;
  size_t withheld; /* bytes that nothing uses and that must stay so now */
  size_t granted; /* committed, and what the system had then beside it */
  size_t zone_table_bytes; /* charged once for each zone touched */
  double spare_fraction;
  size_t spare_bytes; /* most that may be spare, whatever the fraction says */
  /* Huge pages: may they be advised (zones are as large, or larger); bytes
     advised now; calls refused; borders between zones that are advised and
     others, now and at most. */
  bool huge;
  size_t huge_bytes, huge_refused, huge_borders, huge_borders_most;
  bool populate;      /* may fresh memory be touched ahead of its use? */
  size_t populate_most; /* bytes, of those that follow what is taken next */
  size_t populated;   /* bytes for which that was asked */
  size_t growth, growth_min; /* preferred, least size of a new chunk */
  tdo_space_hooks_t hooks;
  struct {         /* pages of them that are not used are not touched */
    uint32_t head;  /* of the list of usable zones */
    uint32_t zones; /* .zone */
    unsigned char byte;
    bool live;
    bool huge;      /* huge pages are advised for its zones */
  } groups[TDO_GROUPS];
} tdo_space_t;

/* Make a space of at least SIZE bytes in chunks, with grains of GRAIN bytes,
   in a window of WINDOW bytes if the system grants it, else of fewer, down to
   SIZE. EXTRA is the number of table bytes a grain that upper floors will
   use, for the accounts. MPS_RES_RESOURCE (address space),
   MPS_RES_COMMIT_LIMIT, MPS_RES_MEMORY. No hooks are called until
   tdo_space_start, which acquires the first chunk. */
mps_res_t tdo_space_init(tdo_space_t *sp, tdo_vm_t *vm, size_t size,
                         size_t window, size_t grain, size_t commit_limit,
                         double spare, double extra);
/* The same with zones that huge pages of HUGE bytes fit in (0: none). */
mps_res_t tdo_space_init_huge(tdo_space_t *sp, tdo_vm_t *vm, size_t size,
                              size_t window, size_t grain,
                              size_t commit_limit, double spare, double extra,
                              size_t huge);
/* The same over client memory [BASE, BASE+SIZE), of any alignment; the tables
   lie in it too, with EXTRA bytes a grain for upper floors. Nothing is asked
   of the system. MPS_RES_MEMORY (too small), MPS_RES_COMMIT_LIMIT. */
mps_res_t tdo_space_init_client(tdo_space_t *sp, void *base, size_t size,
                                size_t grain, size_t commit_limit,
                                double spare, size_t extra);
/* More client memory, anywhere. Tables may move, numbers of grains do not.
   MPS_RES_MEMORY (too small for what it must hold), MPS_RES_COMMIT_LIMIT,
   MPS_RES_PARAM (overlaps what is there). */
mps_res_t tdo_space_add_block(tdo_space_t *sp, void *base, size_t size);
mps_res_t tdo_space_start(tdo_space_t *sp, size_t size,
                          const tdo_space_hooks_t *hooks);
/* Gives every chunk, the window and the tables back. */
void tdo_space_finish(tdo_space_t *sp);
bool tdo_space_check(const tdo_space_t *sp);

/* A new group with zone byte BYTE; 0 if there is none left. */
tdo_group_t tdo_space_group_new(tdo_space_t *sp, unsigned char byte);
/* From now on huge pages are advised for the zones that GROUP gets, or not. A
   no-op in a space without huge pages. */
void tdo_space_group_huge(tdo_space_t *sp, tdo_group_t group, bool huge);
/* All zones of FROM become zones of TO (which may be TDO_GROUP_SHARED), and
   the group FROM ceases. */
void tdo_space_group_merge(tdo_space_t *sp, tdo_group_t to, tdo_group_t from);
/* The zones around grains [FIRST, LIMIT) become shared. */
void tdo_space_share(tdo_space_t *sp, size_t first, size_t limit);
/* Change the byte of a group and of its zones (linear in zones). */
void tdo_space_group_byte(tdo_space_t *sp, tdo_group_t group,
                          unsigned char byte);

/* Find N grains in a row for GROUP, commit them, give them OWNER (not null).
   HIGH: prefer high addresses. MPS_RES_RESOURCE, MPS_RES_MEMORY,
   MPS_RES_COMMIT_LIMIT; then nothing changed, except that spare memory may
   have been given back. Contents: zero or left over. */
mps_res_t tdo_space_alloc(size_t *first_o, tdo_space_t *sp, size_t n,
                          tdo_group_t group, bool high, void *owner);
/* Used grains become spare, or empty as the spare fraction asks. */
void tdo_space_free(tdo_space_t *sp, size_t first, size_t n);

/* Limits; see interface section 2.3. */
mps_res_t tdo_space_commit_limit_set(tdo_space_t *sp, size_t limit);
void tdo_space_spare_set(tdo_space_t *sp, double fraction);
size_t tdo_space_spare(const tdo_space_t *sp); /* bytes, less held */
/* Bytes that the arena reports as reserved: never less than committed. */
static inline size_t tdo_space_reserved(const tdo_space_t *sp) {
  return sp->reserved + sp->charged;
}
/* Most bytes that may be committed: the limit, or what client memory has; or
   what the system would grant, as of the last time that it was asked for
   memory; or what there is room for, where address space is short. */
size_t tdo_space_most(const tdo_space_t *sp);
/* Of these, bytes that nothing uses. */
size_t tdo_space_room(const tdo_space_t *sp);
/* From now on, what would leave less room than BYTES is refused. */
void tdo_space_withhold(tdo_space_t *sp, size_t bytes);
/* Most bytes that may be spare when so many are committed. */
size_t tdo_space_spare_most(const tdo_space_t *sp, size_t committed);
/* Up to BYTES of spare memory count as in use by the nursery. */
void tdo_space_hold(tdo_space_t *sp, size_t bytes);
/* Charge (or, with a negative amount, credit) table memory of an upper
   floor; false if the commit limit forbids it. */
bool tdo_space_charge(tdo_space_t *sp, size_t bytes);
void tdo_space_credit(tdo_space_t *sp, size_t bytes);
/* Give back spare memory above the spare fraction, and chunks without
   memory in use. */
void tdo_space_trim(tdo_space_t *sp);
/* If there is more spare memory than allowed, give some of it back: a piece
   small enough not to be felt (ease; true if that leaves some to give), or as
   much as it takes (settle). */
bool tdo_space_ease(tdo_space_t *sp);
void tdo_space_settle(tdo_space_t *sp);
/* Give back at least BYTES of spare memory if there is that much. */
void tdo_space_purge(tdo_space_t *sp, size_t bytes);
/* Acquire a chunk for at least SIZE bytes. MPS_RES_RESOURCE. */
mps_res_t tdo_space_extend(tdo_space_t *sp, size_t size);

/* Address arithmetic; usable without the lock. The second halves are for
   client memory beyond its first block. */
const tdo_block_t *tdo_space_block(const tdo_space_t *sp, const void *p);
size_t tdo_space_far_offset(const tdo_space_t *sp, const void *p);
char *tdo_space_far_at(const tdo_space_t *sp, size_t offset);

static inline bool tdo_space_near(const tdo_space_t *sp, const void *p) {
  return TDO_LIKELY((tdo_word_t)p - (tdo_word_t)sp->base < sp->size);
}

static inline bool tdo_space_many(const tdo_space_t *sp) {
  return TDO_UNLIKELY(
      atomic_load_explicit(&sp->block_count, memory_order_acquire) > 1);
}

static inline bool tdo_space_contains(const tdo_space_t *sp, const void *p) {
  return tdo_space_near(sp, p) ||
         (tdo_space_many(sp) && tdo_space_block(sp, p) != NULL);
}

/* Bytes from the first grain, for an address in the space or one beyond the
   end of a segment there; and back. */
static inline size_t tdo_space_offset(const tdo_space_t *sp, const void *p) {
  return tdo_space_near(sp, p) || !tdo_space_many(sp)
             ? (tdo_word_t)p - (tdo_word_t)sp->base
             : tdo_space_far_offset(sp, p);
}

static inline char *tdo_space_at(const tdo_space_t *sp, size_t offset) {
  return TDO_LIKELY(offset <= sp->size) || !tdo_space_many(sp)
             ? sp->base + offset
             : tdo_space_far_at(sp, offset);
}

static inline size_t tdo_space_grain(const tdo_space_t *sp, const void *p) {
  return tdo_space_offset(sp, p) >> sp->grain_shift;
}

static inline char *tdo_space_addr(const tdo_space_t *sp, size_t grain) {
  return tdo_space_at(sp, grain << sp->grain_shift);
}

/* Who looks up addresses reads owners without the lock. */
static inline void *tdo_space_owner_of(const tdo_space_t *sp, size_t grain) {
  return __atomic_load_n(&sp->owner[grain], __ATOMIC_RELAXED);
}

static inline void tdo_space_own(tdo_space_t *sp, size_t grain, void *owner) {
  __atomic_store_n(&sp->owner[grain], owner, __ATOMIC_RELEASE);
}

/* The owner of the grain that holds P, which is near. */
static inline void *tdo_space_near_owner(const tdo_space_t *sp,
                                         const void *p) {
  return tdo_space_owner_of(sp, ((tdo_word_t)p - (tdo_word_t)sp->base) >>
                                    sp->grain_shift);
}

/* The owner of the grain that holds P, or null. */
static inline void *tdo_space_owner(const tdo_space_t *sp, const void *p) {
  if (tdo_space_near(sp, p))
    return tdo_space_near_owner(sp, p);
  if (!tdo_space_many(sp) || tdo_space_block(sp, p) == NULL)
    return NULL;
  return tdo_space_owner_of(sp, tdo_space_far_offset(sp, p) >>
                                    sp->grain_shift);
}

static inline size_t tdo_space_bytes(const tdo_space_t *sp, size_t grains) {
  return grains << sp->grain_shift;
}

/* Grains needed for SIZE bytes; 0 if SIZE is 0 or beyond any address. */
static inline size_t tdo_space_grains_for(const tdo_space_t *sp, size_t size) {
  if (size > SIZE_MAX / 2)
    return 0;
  return tdo_round_up(size, (size_t)1 << sp->grain_shift) >> sp->grain_shift;
}

#endif /* TDO_ARENA_SPACE_H */
