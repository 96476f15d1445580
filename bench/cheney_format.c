/* Testudo: the least that can copy objects it knows only by the methods of
   their format, as a library behind mps.h must: no barriers, no checks, one
   size of object, nothing to look up. What is between this and cheney.c is the
   price of the interface; what is between this and a library, that of the
   library.
   SPDX-License-Identifier: BSD-2-Clause

   usage: cheney_format DEPTH: copies a binary tree, depth-first as built. */
#include "cheney.h"

typedef struct object_s object_t;
struct object_s {
  size_t size; /* 0: it went where slot 0 says */
  object_t *slot[2];
};

/* A format's methods are the client's: nothing is known of them. */
#define METHOD static __attribute__((noipa))

typedef struct format_s {
  void (*scan)(object_t *base, object_t *limit);
  object_t *(*skip)(object_t *object);
  object_t *(*isfwd)(object_t *object);
  void (*fwd)(object_t *old, object_t *new);
} format_t;

static const format_t *volatile format_used;
static const format_t *format;
static unsigned depth;
static object_t *to, *root;
static object_t *next;
static char *from;
static size_t bytes;

METHOD void fix(object_t **ref_io) {
  object_t *old = *ref_io, *new = format->isfwd(old);
  if (new == NULL) {
    size_t size = (size_t)((char *)format->skip(old) - (char *)old);
    new = next;
    next = (object_t *)((char *)next + size);
    memcpy(new, old, size);
    format->fwd(old, new);
  }
  *ref_io = new;
}

METHOD void format_scan(object_t *base, object_t *limit) {
  while (base < limit) {
    for (unsigned i = 0; i < 2; ++i)
      if ((uintptr_t)base->slot[i] - (uintptr_t)from < bytes)
        fix(&base->slot[i]);
    base = (object_t *)((char *)base + base->size);
  }
}

METHOD object_t *format_skip(object_t *object) {
  return (object_t *)((char *)object + object->size);
}

METHOD object_t *format_isfwd(object_t *object) {
  return object->size == 0 ? object->slot[0] : NULL;
}

METHOD void format_fwd(object_t *old, object_t *new) {
  old->size = 0;
  old->slot[0] = new;
}

static const format_t the_format = {format_scan, format_skip, format_isfwd,
                                    format_fwd};

static object_t *build(unsigned levels) {
  object_t *a = levels == 0 ? NULL : build(levels - 1);
  object_t *b = levels == 0 ? NULL : build(levels - 1);
  *next = (object_t){sizeof *next, {a, b}};
  return next++;
}

static void build_all(void) {
  next = (object_t *)(void *)from;
  root = build(depth);
}

static void copy_all(void) {
  object_t *scanned = to;
  next = to;
  fix(&root);
  while (scanned < next) {
    object_t *limit = next;
    format->scan(scanned, limit);
    scanned = limit;
  }
}

static size_t size_of(const object_t *tree) {
  return tree == NULL ? 0 : 1 + size_of(tree->slot[0]) + size_of(tree->slot[1]);
}

int main(int argc, char *argv[]) {
  depth = depth_wanted(argc, argv);
  size_t objects = ((size_t)2 << depth) - 1;
  format_used = &the_format;
  format = format_used;
  bytes = objects * sizeof(object_t);
  from = half(bytes);
  to = half(bytes);
  time_copies(bytes, build_all, copy_all);
  return size_of(root) != objects;
}
