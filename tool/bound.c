/* Testudo: the lower bound of protection calls.
   SPDX-License-Identifier: BSD-2-Clause

   What happens is kept for a whole collection and the time after it (a
   *period*), because only then it is known which write bars were useless. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "shield/internal.h"
#include "bound.h"

/* What a page wants at the end of a session. */
enum { FREE, OPEN, READABLE, CLOSED };

/* Flags of a page, besides. */
#define USELESS 4u  /* in this period, its write bar is */
#define EXPOSED 8u  /* in the session looked at */
#define WRITTEN 16u /* and so no longer armed */

typedef enum kind { TOUCH, EXPOSE, USE_LESS, WRITE, SESSION } kind_t;

typedef struct note {
  size_t first, limit;
  kind_t kind;
  unsigned want; /* TOUCH, once its session has ended */
} note_t;

typedef struct notes {
  note_t *at;
  size_t count, room;
} notes_t;

struct bound {
  const tdo_shield_t *shield;
  uint8_t *want;     /* a byte a page: at the end of the session before */
  uint8_t *now;      /* and of the one looked at, and flags */
  uint32_t *shut;    /* the session after which a page was free and still shut;
                        0: it is not */
  uint32_t session;  /* looked at, from 1 on */
  uint32_t opened;   /* the last that needed a call that opens */
  notes_t notes;     /* of this period */
  notes_t touched;   /* in this session */
  notes_t useless;   /* of this period */
  size_t calls;
};

static void add(notes_t *notes, kind_t kind, size_t first, size_t limit,
                unsigned want) {
  if (notes->count == notes->room) {
    notes->room = 2 * notes->room + 64;
    notes->at = realloc(notes->at, notes->room * sizeof *notes->at);
    if (notes->at == NULL) {
      (void)fprintf(stderr, "testudo-replay: out of memory\n");
      exit(1);
    }
  }
  notes->at[notes->count++] = (note_t){first, limit, kind, want};
}

bound_t *bound_new(const tdo_shield_t *shield) {
  bound_t *b = calloc(1, sizeof *b);
  if (b == NULL)
    return NULL;
  b->shield = shield;
  b->want = calloc(shield->pages, 1);
  b->now = calloc(shield->pages, 1);
  b->shut = calloc(shield->pages, sizeof *b->shut);
  if (b->want == NULL || b->now == NULL || b->shut == NULL) {
    free(b->want);
    free(b->now);
    free(b->shut);
    free(b);
    return NULL;
  }
  return b;
}

static unsigned wanted(const bound_t *b, size_t page) {
  unsigned state = b->shield->state[page];
  if ((state & TDO_PAGE_ADOPTED) == 0)
    return FREE;
  if ((state & TDO_BAR_READ) != 0)
    return CLOSED;
  return (state & TDO_BAR_WRITE) != 0 ? READABLE : OPEN;
}

void bound_touch(bound_t *b, size_t first, size_t limit) {
  add(&b->touched, TOUCH, first, limit, 0);
}

void bound_expose(bound_t *b, size_t first, size_t limit) {
  add(&b->notes, EXPOSE, first, limit, 0);
  bound_touch(b, first, limit);
}

void bound_written(bound_t *b, size_t first, size_t limit) {
  add(&b->notes, WRITE, first, limit, 0);
  bound_touch(b, first, limit);
}

void bound_useless(bound_t *b, size_t first, size_t limit) {
  add(&b->useless, USE_LESS, first, limit, 0);
  bound_touch(b, first, limit);
}

/* ---- one session, when all is known about its period */

typedef struct need {
  bool open, readable, closed, arm;
} need_t;

static int by_address(const void *p, const void *q) {
  const note_t *a = p, *b = q;
  return a->first < b->first ? -1 : a->first > b->first;
}

/* What PAGE needs in this session. */
static void need_page(need_t *need, const bound_t *b, size_t page) {
  unsigned was = b->want[page], flags = b->now[page], now = flags & 3u;
  bool tracks = b->shield->track != NULL;
  if ((flags & EXPOSED) != 0) {
    need->open |= was == CLOSED || (was == READABLE && !tracks);
    was = was == FREE ? was : OPEN;
  }
  if ((flags & WRITTEN) != 0 && was == READABLE)
    was = OPEN;
  if (now == FREE || now == was || (was == FREE && now == OPEN))
    return;
  if (now == READABLE && tracks) {
    need->arm = true;
    need->open |= was == CLOSED;
  } else if (now == READABLE) {
    need->readable = true;
  } else if (now == CLOSED) {
    need->closed = true;
  } else {
    need->open |= was == CLOSED || !tracks;
  }
}

/* PAGE was used, and is free, or the other way round. A page that was freed
   shut must be opened some time before it is used again; one call may do that
   for all. */
static void need_reuse(need_t *need, bound_t *b, size_t page) {
  unsigned was = b->want[page], now = b->now[page] & 3u;
  bool shut = was == CLOSED || (was == READABLE && b->shield->track == NULL);
  if (now == FREE && was != FREE) {
    b->shut[page] = shut ? b->session : 0;
  } else if (was == FREE && now != FREE && b->shut[page] != 0) {
    need->open |= b->opened < b->shut[page];
    b->shut[page] = 0;
  }
}

/* Two sets of pages in use. In each, pages that want the same after the
   session had the same access at some time in it. */
enum { OPENED, SHUT, SETS };

static bool belongs(const bound_t *b, size_t page, int set) {
  unsigned was = b->want[page], now = b->now[page] & 3u;
  if (now == FREE)
    return false;
  if (set == OPENED)
    return was == OPEN || was == FREE;
  return (was == CLOSED || (was == READABLE && b->shield->track == NULL)) &&
         (now == OPEN || (b->now[page] & EXPOSED) == 0);
}

static bool new_edge(const bound_t *b, size_t p, size_t q, int set) {
  return (b->now[p] & 3u) != (b->now[q] & 3u) &&
         (set == OPENED || b->want[p] == b->want[q]);
}

/* New edges in SET; only beside a page of the notes, which are sorted. */
static size_t count_edges(const bound_t *b, const note_t *notes, size_t count,
                          int set) {
  size_t done = 0; /* the last page that was looked at as right neighbour */
  size_t pages = b->shield->used_high, edges = 0;
  for (size_t i = 0; i < count; ++i) {
    size_t page = tdo_max(notes[i].first, done + 1);
    size_t left = page;
    if (notes[i].kind != TOUCH || page >= notes[i].limit)
      continue;
    while (left > 0 && !belongs(b, --left, set)) {
    }
    for (; page < pages; ++page) {
      if (!belongs(b, page, set))
        continue;
      if (belongs(b, left, set))
        edges += new_edge(b, left, page, set);
      left = page;
      if (page >= notes[i].limit)
        break; /* the right neighbour */
    }
    done = tdo_max(done, tdo_min(page, pages));
  }
  return edges;
}

static void session_end(bound_t *b, note_t *notes, size_t count) {
  need_t need = {0};
  size_t calls = 0;
  ++b->session;
  for (size_t i = 0; i < count; ++i) {
    for (size_t p = notes[i].first; p < notes[i].limit; ++p) {
      unsigned flags = b->now[p];
      if (notes[i].kind == TOUCH) {
        unsigned want = notes[i].want;
        want = want == READABLE && (flags & USELESS) != 0 ? OPEN : want;
        b->now[p] = (uint8_t)((flags & ~3u) | want);
      } else {
        b->now[p] |= notes[i].kind == EXPOSE ? EXPOSED : WRITTEN;
      }
    }
  }
  qsort(notes, count, sizeof *notes, by_address);
  for (int set = 0; set < SETS; ++set)
    calls = tdo_max(calls, (count_edges(b, notes, count, set) + 1) / 2);
  for (size_t i = 0; i < count; ++i) {
    for (size_t p = notes[i].first; p < notes[i].limit; ++p) {
      need_page(&need, b, p);
      need_reuse(&need, b, p);
      b->now[p] &= (uint8_t)~(EXPOSED | WRITTEN);
      b->want[p] = b->now[p] & 3u;
    }
  }
  b->opened = need.open ? b->session : b->opened;
  b->calls += tdo_max(calls, (size_t)need.open + need.readable +
                                 need.closed + need.arm);
}

void bound_session(bound_t *b) {
  for (size_t i = 0; i < b->touched.count; ++i) {
    const note_t *note = &b->touched.at[i];
    size_t first = note->first, page = first;
    while (page < note->limit) {
      unsigned want = wanted(b, first);
      while (page < note->limit && wanted(b, page) == want)
        ++page;
      add(&b->notes, TOUCH, first, page, want);
      first = page;
    }
  }
  b->touched.count = 0;
  add(&b->notes, SESSION, 0, 0, 0);
}

/* Give or take the flag USELESS of the pages that have it in this period. */
static void flag_useless(bound_t *b, bool give) {
  for (size_t i = 0; i < b->useless.count; ++i) {
    const note_t *note = &b->useless.at[i];
    for (size_t p = note->first; p < note->limit; ++p)
      b->now[p] = (uint8_t)(give ? b->now[p] | USELESS
                                 : b->now[p] & ~USELESS);
  }
}

/* The useless bars of the period are not there from its first session on. */
static void insert_useless(bound_t *b) {
  notes_t all = {0};
  if (b->useless.count == 0)
    return;
  for (size_t i = 0; i < b->useless.count; ++i) {
    const note_t *note = &b->useless.at[i];
    for (size_t p = note->first; p < note->limit; ++p) {
      if ((b->now[p] & 3u) == READABLE)
        add(&all, TOUCH, p, p + 1, OPEN);
    }
  }
  for (size_t i = 0; i < b->notes.count; ++i)
    add(&all, b->notes.at[i].kind, b->notes.at[i].first, b->notes.at[i].limit,
        b->notes.at[i].want);
  free(b->notes.at);
  b->notes = all;
}

static void period_end(bound_t *b) {
  size_t first = 0;
  flag_useless(b, true);
  insert_useless(b);
  for (size_t i = 0; i < b->notes.count; ++i) {
    if (b->notes.at[i].kind == SESSION) {
      session_end(b, b->notes.at + first, i - first);
      first = i + 1;
    }
  }
  flag_useless(b, false);
  memmove(b->notes.at, b->notes.at + first,
          (b->notes.count - first) * sizeof *b->notes.at);
  b->notes.count -= first;
}

void bound_collection(bound_t *b) {
  period_end(b);
  /* Bars that were useless in the last period may be of use in this one. */
  for (size_t i = 0; i < b->useless.count; ++i)
    bound_touch(b, b->useless.at[i].first, b->useless.at[i].limit);
  b->useless.count = 0;
}

size_t bound_finish(bound_t *b) {
  size_t calls;
  bound_session(b);
  period_end(b);
  calls = b->calls;
  free(b->want);
  free(b->now);
  free(b->shut);
  free(b->notes.at);
  free(b->touched.at);
  free(b->useless.at);
  free(b);
  return calls;
}
