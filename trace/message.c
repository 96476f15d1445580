/* Testudo: messages to the client.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "mpslib.h"
#include "trace/heap.h"

void tdo_messages_init(tdo_messages_t *m) {
  memset(m, 0, sizeof *m);
  tdo_ring_init(&m->queue);
  tdo_ring_init(&m->retrieved);
}

static size_t message_size(mps_message_type_t type) {
  return type == TDO_MESSAGE_FINALIZATION
             ? offsetof(struct mps_message_s, clock)
             : sizeof(struct mps_message_s);
}

mps_res_t tdo_message_alloc(tdo_message_t **message_o, mps_arena_t heap,
                            mps_message_type_t type) {
  tdo_message_t *m;
  void *p;
  mps_res_t res = tdo_control_alloc(&p, &heap->control, message_size(type));

  if (res != MPS_RES_OK)
    return res;
  m = p;
  memset(m, 0, message_size(type));
  m->type = type & 3;
  tdo_ring_init(&m->ring);
  m->sig = TDO_MESSAGE_SIG;
  *message_o = m;
  return MPS_RES_OK;
}

/* .first */
static void message_queue(tdo_messages_t *messages, tdo_message_t *m) {
  m->queued = true;
  if (messages->queued[m->type]++ == 0)
    messages->first[m->type] = m;
  tdo_ring_append(&messages->queue, &m->ring);
}

static void message_unqueue(tdo_messages_t *messages, tdo_message_t *m) {
  bool last = --messages->queued[m->type] == 0;

  if (messages->settled == m)
    messages->settled = m->ring.prev == &messages->queue
                            ? NULL
                            : TDO_RING_ENTRY(tdo_message_t, ring,
                                             m->ring.prev);
  m->queued = false;
  if (last) {
    messages->first[m->type] = NULL;
  } else if (messages->first[m->type] == m) {
    tdo_message_t *next = m;
    do
      next = TDO_RING_ENTRY(tdo_message_t, ring, next->ring.next);
    while (next->type != m->type);
    messages->first[m->type] = next;
  }
  tdo_ring_remove(&m->ring);
}

void tdo_message_free(mps_arena_t heap, tdo_message_t *m) {
  if (m->type == TDO_MESSAGE_FINALIZATION)
    tdo_final_drop(heap, m);
  if (m->queued)
    message_unqueue(&heap->messages, m);
  else
    tdo_ring_remove(&m->ring);
  m->sig = TDO_SIG_DEAD;
  tdo_control_free(&heap->control, m, message_size(m->type));
}

/* The one for the end also while its type is off: that may be switched on
   before the collection ends. */
bool tdo_messages_secure(mps_arena_t heap) {
  tdo_messages_t *m = &heap->messages;
  bool start = m->enabled[TDO_MESSAGE_GC_START];

  if (m->start == NULL && start)
    (void)tdo_message_alloc(&m->start, heap, TDO_MESSAGE_GC_START);
  if (m->end == NULL)
    (void)tdo_message_alloc(&m->end, heap, TDO_MESSAGE_GC);
  return (m->start != NULL || !start) &&
         (m->end != NULL || !(start || m->enabled[TDO_MESSAGE_GC]));
}

void tdo_message_post(mps_arena_t heap, tdo_message_t *m) {
  TDO_CHECK(m->sig == TDO_MESSAGE_SIG && !m->queued);
  if (!heap->messages.enabled[m->type]) {
    tdo_message_free(heap, m);
    return;
  }
  if (m->type != TDO_MESSAGE_FINALIZATION)
    m->clock = mps_clock();
  message_queue(&heap->messages, m);
}

void tdo_message_enable(mps_arena_t heap, mps_message_type_t type, bool on) {
  heap->messages.enabled[type] = on;
  while (!on && heap->messages.first[type] != NULL)
    tdo_message_free(heap, heap->messages.first[type]);
}

tdo_message_t *tdo_message_first(mps_arena_t heap) {
  tdo_ring_t *queue = &heap->messages.queue;

  return tdo_ring_empty(queue)
             ? NULL
             : TDO_RING_ENTRY(tdo_message_t, ring, queue->next);
}

tdo_message_t *tdo_message_get(mps_arena_t heap, mps_message_type_t type) {
  tdo_message_t *m = heap->messages.first[type];

  if (m == NULL)
    return NULL;
  message_unqueue(&heap->messages, m);
  tdo_ring_append(&heap->messages.retrieved, &m->ring);
  return m;
}

void tdo_message_discard(mps_arena_t heap, tdo_message_t *m) {
  TDO_ASSERT(m->sig == TDO_MESSAGE_SIG && !m->queued,
             "discarded a message that was not got from the queue");
  tdo_message_free(heap, m);
}
