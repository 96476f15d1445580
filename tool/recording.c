/* Testudo: reading a recording. SPDX-License-Identifier: BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code/available.h"
#include "code/bits.h"
#include "shield/internal.h"
#include "recording.h"

static void damaged(const recording_t *r, size_t offset, const char *why) {
  (void)fprintf(stderr, "testudo-replay: %s: damaged at byte %zu: %s\n",
                r->path, offset, why);
  exit(2);
}

static const struct {
  bool pages;
  unsigned numbers;
} shapes[TDO_REQUESTS_COUNT] = {
#define SHAPE(name, pages, numbers) {pages, numbers},
    TDO_REQUESTS(SHAPE)
#undef SHAPE
};

static uint64_t number(const recording_t *r, size_t *at) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 63; shift += 7) {
    if (*at >= r->size)
      damaged(r, *at, "it ends within a record");
    unsigned char byte = r->data[(*at)++];
    value |= (uint64_t)(byte & 127) << shift;
    if (byte < 128)
      return value;
  }
  damaged(r, *at, "a number is too large");
  return 0;
}

bool recording_next(const recording_t *r, step_t *step, place_t *place) {
  size_t start = place->at;
  if (start >= r->size || r->data[start] == 0)
    return false;
  step->request = (tdo_request_t)(r->data[start] & 31);
  step->argument = r->data[start] >> 5;
  step->first = step->limit = 0;
  ++place->at;
  if (step->request == TDO_REQUEST_END ||
      step->request >= TDO_REQUESTS_COUNT)
    damaged(r, start, "there is no such request");
  if (shapes[step->request].pages) {
    uint64_t move = number(r, &place->at), length = number(r, &place->at);
    step->first = move % 2 == 0 ? place->last + move / 2
                                : place->last - (move + 1) / 2;
    step->limit = step->first + length;
    if (step->first > r->pages || length > r->pages - step->first)
      damaged(r, start, "its pages lie outside of the window");
    place->last = step->limit;
  }
  for (unsigned i = 0; i < shapes[step->request].numbers; ++i)
    step->numbers[i] = number(r, &place->at);
  return true;
}

static uint64_t word(const recording_t *r, size_t offset) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i)
    value = value << 8 | r->data[offset + (size_t)i];
  return value;
}

static void read_header(recording_t *r) {
  size_t same = 0;
  while (same < 8 && same < r->size &&
         r->data[same] == (unsigned char)TDO_RECORD_MAGIC[same])
    ++same;
  if (same < 8 && same < r->size)
    damaged(r, same, "this is no recording");
  if (r->size < TDO_RECORD_HEADER)
    damaged(r, r->size, "it ends within the header");
  r->page_size = word(r, 8);
  r->pages = word(r, 16);
  r->mode = (tdo_shield_mode_t)word(r, 24);
  if (!tdo_is_pow2(r->page_size) || r->page_size < 512 ||
      r->page_size > (size_t)1 << 30)
    damaged(r, 8, "this is no page size");
  if (r->pages == 0 || r->pages > (size_t)1 << 40)
    damaged(r, 16, "this is no number of pages");
  if (word(r, 24) >= TDO_SHIELD_MODES)
    damaged(r, 24, "there is no such mode");
  r->mapping_limit = word(r, 32);
}

/* What begins otherwise is not read to its end. */
static void read_file(recording_t *r) {
  FILE *file = fopen(r->path, "rb");
  size_t room = (size_t)1 << 20, got;
  r->data = malloc(room);
  while (file != NULL && r->data != NULL &&
         (got = fread(r->data + r->size, 1, room - r->size, file)) > 0) {
    r->size += got;
    if (r->size == got)
      read_header(r);
    if (r->size == room) {
      room *= 2;
      r->data = realloc(r->data, room);
    }
  }
  if (file == NULL || r->data == NULL || ferror(file)) {
    (void)fprintf(stderr, "testudo-replay: %s: %s\n", r->path,
                  strerror(errno));
    exit(2);
  }
  (void)fclose(file);
  if (r->size == 0)
    damaged(r, 0, "this is no recording");
}

/* What must hold of the steps so that the shield can be asked for them: pages
   are committed before they are adopted, and adopted before anything else. */
typedef struct checker {
  uint8_t *state; /* a byte a page: 1 committed, 2 adopted; above: exposures */
  bool pass;      /* between REMEMBER and REMEMBERED */
} checker_t;

#define CHECK_COMMITTED 1u
#define CHECK_ADOPTED   2u
#define CHECK_EXPOSURE  4u

/* In a pass the collector has pages open, and the program does not run. */
static const char *check_pass(checker_t *c, const step_t *step) {
  bool was = c->pass;
  switch (step->request) {
  case TDO_REQUEST_REMEMBER:
    c->pass = true;
    return was ? "a pass begins within a pass" : NULL;
  case TDO_REQUEST_REMEMBERED:
    c->pass = false;
    return was ? NULL : "a pass ends that did not begin";
  case TDO_REQUEST_RETIRE:
  case TDO_REQUEST_FLUSH:
  case TDO_REQUEST_LEAVE:
  case TDO_REQUEST_STOPPED:
  case TDO_REQUEST_HARVEST:
  case TDO_REQUEST_OFFERS:
  case TDO_REQUEST_HIT:
    return was ? "it cannot be within a pass" : NULL;
  default:
    return NULL;
  }
}

static const char *check_pages(const checker_t *c, const step_t *step) {
  unsigned mask = 0xFF, bits = CHECK_COMMITTED | CHECK_ADOPTED;
  const char *why = "its pages are not in use";
  switch (step->request) {
  case TDO_REQUEST_COMMITTED:
  case TDO_REQUEST_DECOMMITTED:
    mask = CHECK_ADOPTED;
    bits = 0;
    why = "its pages are in use";
    break;
  case TDO_REQUEST_ADOPT:
    bits = CHECK_COMMITTED;
    why = "its pages are in use, or have no memory";
    break;
  case TDO_REQUEST_HIT: /* may be late: its page may have gone */
  case TDO_REQUEST_WRITTEN:
  case TDO_REQUEST_FORCE:
    return NULL;
  default:
    mask = CHECK_COMMITTED | CHECK_ADOPTED;
    break;
  }
  for (size_t p = step->first; p < step->limit; ++p) {
    if ((c->state[p] & mask) != bits)
      return why;
    if ((step->request == TDO_REQUEST_COVER && c->state[p] < CHECK_EXPOSURE) ||
        (step->request == TDO_REQUEST_EXPOSE && c->state[p] >= 248))
      return "its exposures do not nest";
  }
  return NULL;
}

static void check_note(checker_t *c, const step_t *step) {
  for (size_t p = step->first; p < step->limit; ++p) {
    switch (step->request) {
    case TDO_REQUEST_COMMITTED:
    case TDO_REQUEST_RETIRE:
      c->state[p] = CHECK_COMMITTED;
      break;
    case TDO_REQUEST_DECOMMITTED:
      c->state[p] = 0;
      break;
    case TDO_REQUEST_ADOPT:
      c->state[p] = CHECK_COMMITTED | CHECK_ADOPTED;
      break;
    case TDO_REQUEST_EXPOSE:
      c->state[p] = (uint8_t)(c->state[p] + CHECK_EXPOSURE);
      break;
    case TDO_REQUEST_COVER:
      c->state[p] = (uint8_t)(c->state[p] - CHECK_EXPOSURE);
      break;
    default:
      return;
    }
  }
}

static bool check_argument(const step_t *step) {
  switch (step->request) {
  case TDO_REQUEST_RAISE:
  case TDO_REQUEST_LOWER:
    return step->argument <= (TDO_BAR_READ | TDO_BAR_WRITE);
  case TDO_REQUEST_HIT:
    return step->argument <= (TDO_BAR_READ | TDO_BAR_WRITE) &&
           step->limit == step->first + 1;
  case TDO_REQUEST_FORCE:
    return step->argument == 0 && step->limit == step->first + 1;
  case TDO_REQUEST_OFFER:
  case TDO_REQUEST_RELEASE:
  case TDO_REQUEST_REACHED:
    return step->argument <= 1;
  case TDO_REQUEST_SUMMARY:
    return step->argument <= 1 && step->numbers[0] <= 0xFF;
  case TDO_REQUEST_PAGES:
    return step->numbers[0] <= 0xFF;
  case TDO_REQUEST_REMEMBER:
    return step->argument == 0 && step->numbers[0] <= 0xFFFF;
  default:
    return step->argument == 0;
  }
}

/* The highest page that occurs; the window need have no more. */
static size_t highest(const recording_t *r) {
  place_t place = {TDO_RECORD_HEADER, 0};
  step_t step;
  size_t most = 1, start = place.at;
  while (recording_next(r, &step, &place)) {
    if (shapes[step.request].pages &&
        (step.limit == step.first || !check_argument(&step)))
      damaged(r, start, "its pages or its argument make no sense");
    else if (!check_argument(&step))
      damaged(r, start, "its argument makes no sense");
    most = tdo_max(most, step.limit);
    start = place.at;
  }
  return most;
}

/* A recording begins with its arena, so that every page is known. */
static void check_steps(recording_t *r) {
  checker_t c = {.state = calloc(r->pages, 1)};
  place_t place = {TDO_RECORD_HEADER, 0};
  step_t step;
  size_t start = place.at;
  if (c.state == NULL) {
    (void)fprintf(stderr, "testudo-replay: out of memory\n");
    exit(1);
  }
  while (recording_next(r, &step, &place)) {
    const char *why = check_pages(&c, &step);
    if (why == NULL)
      why = check_pass(&c, &step);
    if (why != NULL)
      damaged(r, start, why);
    check_note(&c, &step);
    start = place.at;
  }
  free(c.state);
}

/* How many pages can be replayed: each takes some 20 bytes of tables here. A
   few bytes of a file that is damaged may say that a whole window was in use,
   which must not take all memory of a small machine. */
static size_t most_pages(void) {
  size_t most = (size_t)1 << 30, left = tdo_available(""); /* 0: unknown */
  return left == 0 ? most : tdo_min(most, left / 2 / 20);
}

void recording_load(recording_t *r, const char *path) {
  size_t most;
  memset(r, 0, sizeof *r);
  r->path = path;
  read_file(r);
  most = highest(r);
  if (most > most_pages())
    damaged(r, TDO_RECORD_HEADER, "its pages are too many to replay");
  r->pages = tdo_round_up(most, TDO_SHIELD_REGION);
  check_steps(r);
}
