/* Testudo: rings, doubly linked circular lists threaded through their
   members. An unlinked node points at itself. No locking.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_RING_H
#define TDO_CODE_RING_H

#include "code/base.h"

typedef struct tdo_ring {
  struct tdo_ring *next, *prev;
} tdo_ring_t;

static inline void tdo_ring_init(tdo_ring_t *r) {
  r->next = r->prev = r;
}

static inline bool tdo_ring_empty(const tdo_ring_t *r) {
  return r->next == r;
}

/* Link NODE (unlinked) as the last (first) of the ring headed by R. */
static inline void tdo_ring_append(tdo_ring_t *r, tdo_ring_t *node) {
  node->prev = r->prev;
  node->next = r;
  r->prev->next = node;
  r->prev = node;
}

static inline void tdo_ring_prepend(tdo_ring_t *r, tdo_ring_t *node) {
  tdo_ring_append(r->next, node);
}

/* Unlink NODE; harmless if it is not linked. */
static inline void tdo_ring_remove(tdo_ring_t *node) {
  node->next->prev = node->prev;
  node->prev->next = node->next;
  tdo_ring_init(node);
}

/* Move all members of FROM to the end of TO; FROM becomes empty. */
static inline void tdo_ring_splice(tdo_ring_t *to, tdo_ring_t *from) {
  if (!tdo_ring_empty(from)) {
    from->next->prev = to->prev;
    to->prev->next = from->next;
    from->prev->next = to;
    to->prev = from->prev;
    tdo_ring_init(from);
  }
}

/* Visit each NODE of ring R; the body may unlink NODE (only). */
#define TDO_RING_FOR(node, r)                                                 \
  for (tdo_ring_t *node = (r)->next, *node##_next = node->next;               \
       node != (r); node = node##_next, node##_next = node->next)

#define TDO_RING_ENTRY(type, field, node) TDO_PARENT(type, field, node)

#endif /* TDO_CODE_RING_H */
