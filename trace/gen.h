/* Testudo: generations and chains (interface, section 5).
   SPDX-License-Identifier: BSD-2-Clause

   Invariants:
   .next  a generation that has segments, or of whose chain another has, and
          that is not condemned has the groups that it will need when it is: no
          collection goes without it for want of groups, and where the top is
          condemned, so is everything.
   .share a generation for which there were no groups lies in shared zones,
          condemned or not: there every reference is looked up, and what its
          segment is decides. */
#ifndef TDO_TRACE_GEN_H
#define TDO_TRACE_GEN_H

#include "arena/space.h"
#include "code/ring.h"
#include "trace/nursery.h"
#include "trace/worth.h"

typedef struct tdo_gen tdo_gen_t;
typedef struct mps_chain_s tdo_chain_t;

/* Placement kinds: what is scanned (and may be protected) lies apart from
   what is not, and what moves from what stays in its generation. */
enum {
  TDO_PLACE_SCANNED,
  TDO_PLACE_LEAF,
  TDO_PLACES_MOVING, /* number of those above */
  TDO_PLACE_FIXED = TDO_PLACES_MOVING,
  TDO_PLACE_FIXED_LEAF,
  TDO_PLACES
};

struct tdo_gen {
  tdo_sig_t sig;
  mps_arena_t heap;
  tdo_chain_t *chain;  /* null: the arena-wide top generation */
  unsigned index;      /* in the chain */
  unsigned char bit;   /* in summaries and zone bytes; 0 for the top, which
                          is only ever collected together with everything */
  double given;        /* bytes that the client gave it as its capacity */
  double capacity;     /* what it has; 0: no limit */
  double fresh;        /* bytes allocated or promoted into it since it was
                          last condemned ("new size") */
  double size;         /* bytes of segments in it */
  bool condemned;      /* by the collection in progress */
  bool shares;         /* it has no groups of its own (.share) */
  bool youngest;       /* each collection of its chain condemns it: the first,
                          and the second while nothing is made in that */
  double condemned_size, survived; /* in the last collection, */
  double stayed;       /* and of what survived, bytes that are in it for good,
                          since they are in pools that do not move */
  tdo_ring_t segs;     /* tdo_gcseg_t.gen_ring, not white */
  tdo_ring_t white;    /* condemned segments */
  tdo_group_t group[TDO_PLACES];       /* where new segments go; 0 before any
                                          of the chain (secured) */
  tdo_group_t white_group[TDO_PLACES]; /* where condemned ones lie */
  tdo_group_t next_group[TDO_PLACES];  /* the same when it is condemned
                                          (.next) */
};

struct mps_chain_s {
  tdo_sig_t sig;
  mps_arena_t heap;
  tdo_ring_t heap_ring;
  size_t pools;        /* that use it */
  unsigned ramps;      /* open ramps on its allocation points; */
  bool ramp_all;       /* one that ended asked to collect all after the last */
  tdo_nursery_t nursery; /* how its size adapts, */
  double grown;        /* and bytes that this found, if the client made it */
  double beside;       /* bytes that collecting it scans besides what moves on,
                          as the last collections found */
  tdo_worth_t worth;   /* of its minor collections */
  unsigned dense;      /* nurseries in a row of which nearly all survived */
  double tenure, tenured; /* bytes that may be promoted without a collection,
                          and that were since the last of its own */
  bool secured;        /* its generations may have segments (.next) */
  size_t count;
  tdo_gen_t gens[];
};

#define TDO_GEN_SIG   ((tdo_sig_t)0x519E4E7A) /* GENERATION */
#define TDO_CHAIN_SIG ((tdo_sig_t)0x519C4A19) /* CHAIN */

mps_res_t tdo_chain_create(tdo_chain_t **chain_o, mps_arena_t heap,
                           size_t count, const mps_gen_param_s params[]);
void tdo_chain_destroy(tdo_chain_t *chain);
bool tdo_chain_check(const tdo_chain_t *chain);
/* Before the first segment of CHAIN: its generations get their groups, as far
   as there are any; its last ones, if it is long, share (.share). */
void tdo_chain_secure(tdo_chain_t *chain);
void tdo_gen_init_top(tdo_gen_t *gen, mps_arena_t heap);
void tdo_gen_finish(tdo_gen_t *gen);

/* From now on BYTES of CHAIN may be promoted without a collection before the
   next one of it. */
void tdo_chain_set_tenure(tdo_chain_t *chain, double bytes);

/* Bytes of all its segments. */
double tdo_chain_size(const tdo_chain_t *chain);

/* Generation INDEX of CHAIN; the top one if INDEX is the chain's count. */
tdo_gen_t *tdo_chain_gen(tdo_chain_t *chain, size_t index);

/* GEN is youngest from now on, or not. */
void tdo_gen_set_youngest(tdo_gen_t *gen, bool youngest);

/* BYTES were allocated or promoted into GEN. */
void tdo_gen_fill(tdo_gen_t *gen, size_t bytes);

/* Start and end of a condemnation: the present groups become white, the next
   ones take their place; what is left of the white groups rejoins. */
void tdo_gen_condemn(tdo_gen_t *gen);
void tdo_gen_pardon(tdo_gen_t *gen);

/* The segments in GEN of moving pools become the top generation's, at the end
   of its ring, where they lie, until they have MOST bytes together, the oldest
   first. Their bytes. */
size_t tdo_gen_tenure(tdo_gen_t *gen, size_t most);

#endif /* TDO_TRACE_GEN_H */
