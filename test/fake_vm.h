/* Testudo: the double of the platform as the shield's tests use it: over a
   window reserved at once, watched page by page, and refusing at random in
   the way the kernel does, which may have changed some of the pages.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_FAKE_VM_H
#define TDO_TEST_FAKE_VM_H

#include <stdlib.h>
#include <string.h>
#include "code/vm_double.h"
#include "random.h"

#define FAKE_PAGES ((size_t)4096) /* most pages of a window */

typedef struct fake_vm {
  tdo_vm_double_t twin; /* first */
  char *base;
  size_t pages;
  const uint8_t *access; /* of each page */
  uint8_t before[FAKE_PAGES]; /* of those in the call, before it */
  mps_res_t (*protect)(tdo_vm_t *, void *, size_t, tdo_access_t);
  mps_res_t (*hide)(tdo_vm_t *, void *, size_t, void *);
  mps_res_t (*show)(tdo_vm_t *, void *, size_t, void *, tdo_access_t);
  void (*copy)(tdo_vm_t *, void *, size_t, void *);
  unsigned refuse_of; /* refuse one call in so many, or never if 0; but not
                         one over the whole window, which always merges */
  size_t refuse_next; /* refuse the next so many calls */
  unsigned refuse_moves_of; /* refuse one memory move in so many */
  size_t apart; /* a mapping of the system's begins at this page; 0: none */
  size_t hides, torn, shows, stays, copies; /* torn: moved, but not closed;
                                               stays: does not come back */
  size_t calls, pages_called, changed, refused;
  void (*handler)(void); /* a signal handler's, before each call that changes
                            protection and when it has come back; or null */
  void *closure;
  void (*watch)(void *closure, size_t page, unsigned from, unsigned to);
} fake_vm_t;

/* A call about PAGES pages at BASE begins: the first of them. */
static size_t fake_before(fake_vm_t *fake, const void *base, size_t pages) {
  size_t first =
      (size_t)((const char *)base - fake->base) / fake->twin.vm.page_size;
  if ((const char *)base < fake->base || first + pages > fake->pages)
    abort();
  memcpy(fake->before, fake->access + first, pages);
  return first;
}

static void fake_note(fake_vm_t *fake, size_t first, size_t limit) {
  for (size_t page = first; page < limit; ++page) {
    unsigned before = fake->before[page - first];
    if (before != fake->access[page]) {
      ++fake->changed;
      if (fake->watch != NULL)
        fake->watch(fake->closure, page, before, fake->access[page]);
    }
  }
}

/* How many of the call's PAGES from FIRST on a refused call changes: the kernel
   changes mapping by mapping, and refuses to split one before it changes any of
   it. */
static size_t fake_torn(const fake_vm_t *fake, size_t first, size_t pages) {
  bool alike = memcmp(fake->before, fake->before + 1, pages - 1) == 0;
  if (!alike)
    return random_below(pages);
  return first < fake->apart && fake->apart < first + pages
             ? fake->apart - first
             : 0;
}

static void fake_interrupt(const fake_vm_t *fake) {
  if (fake->handler != NULL)
    fake->handler();
}

static mps_res_t fake_protect_undisturbed(fake_vm_t *fake, void *base,
                                          size_t size, tdo_access_t access) {
  tdo_vm_t *vm = &fake->twin.vm;
  size_t pages = size / vm->page_size, touched = pages;
  size_t first = fake_before(fake, base, pages);
  bool ok = true;
  if (fake->refuse_next > 0) {
    --fake->refuse_next;
    ok = false;
    touched = 0;
  } else if (fake->refuse_of > 0 && pages < fake->pages &&
             random_below(fake->refuse_of) == 0) {
    ok = false;
    touched = fake_torn(fake, first, pages);
  }
  if (touched > 0)
    ok = fake->protect(vm, base, touched * vm->page_size, access) ==
             MPS_RES_OK &&
         ok;
  fake_note(fake, first, first + pages);
  ++fake->calls;
  fake->pages_called += pages;
  fake->refused += !ok;
  return ok ? MPS_RES_OK : MPS_RES_MEMORY;
}

static mps_res_t fake_protect(tdo_vm_t *vm, void *base, size_t size,
                              tdo_access_t access) {
  fake_vm_t *fake = (fake_vm_t *)(void *)vm;
  mps_res_t res;
  fake_interrupt(fake);
  res = fake_protect_undisturbed(fake, base, size, access);
  fake_interrupt(fake);
  return res;
}

static bool fake_refuses_move(const fake_vm_t *fake) {
  return fake->refuse_moves_of > 0 &&
         random_below(fake->refuse_moves_of) == 0;
}

static mps_res_t fake_hide(tdo_vm_t *vm, void *base, size_t size, void *away) {
  fake_vm_t *fake = (fake_vm_t *)(void *)vm;
  size_t pages = size / vm->page_size;
  size_t first = fake_before(fake, base, pages);
  mps_res_t res = MPS_RES_MEMORY;
  for (size_t i = 0; i < pages; ++i) {
    if (fake->before[i] != fake->before[0] ||
        fake->before[0] == TDO_ACCESS_NONE)
      abort();
  }
  if (first < fake->apart && fake->apart < first + pages)
    res = MPS_RES_LIMIT;
  else if (!fake_refuses_move(fake))
    res = fake->hide(vm, base, size, away);
  fake_note(fake, first, first + pages);
  ++fake->calls;
  fake->pages_called += pages;
  fake->refused += res == MPS_RES_MEMORY;
  fake->hides += res != MPS_RES_MEMORY && res != MPS_RES_LIMIT;
  fake->torn += res == MPS_RES_FAIL;
  return res;
}

static mps_res_t fake_show(tdo_vm_t *vm, void *base, size_t size, void *away,
                           tdo_access_t access) {
  fake_vm_t *fake = (fake_vm_t *)(void *)vm;
  size_t pages = size / vm->page_size;
  size_t first = fake_before(fake, base, pages);
  mps_res_t res = MPS_RES_MEMORY;
  if (!fake_refuses_move(fake))
    res = fake->show(vm, base, size, away, access);
  fake_note(fake, first, first + pages);
  fake->shows += res == MPS_RES_OK;
  fake->stays += res != MPS_RES_OK;
  return res;
}

static void fake_copy(tdo_vm_t *vm, void *base, size_t size, void *away) {
  fake_vm_t *fake = (fake_vm_t *)(void *)vm;
  ++fake->copies;
  fake->copy(vm, base, size, away);
}

/* A window of PAGES pages without access, and room for LIMIT mappings. */
static void fake_init(fake_vm_t *fake, size_t pages, size_t limit) {
  tdo_vm_double_options_t options = {.pages = pages, .mapping_limit = limit};
  void *base = NULL;
  memset(fake, 0, sizeof *fake);
  if (pages > FAKE_PAGES ||
      tdo_vm_double_init(&fake->twin, &options) != MPS_RES_OK ||
      fake->twin.vm.reserve(&base, &fake->twin.vm,
                            pages * fake->twin.vm.page_size,
                            fake->twin.vm.page_size) != MPS_RES_OK)
    abort();
  fake->base = base;
  fake->pages = pages;
  fake->access = fake->twin.access;
  fake->protect = fake->twin.vm.protect;
  fake->twin.vm.protect = fake_protect;
  fake->hide = fake->twin.vm.hide;
  fake->twin.vm.hide = fake_hide;
  fake->show = fake->twin.vm.show;
  fake->twin.vm.show = fake_show;
  fake->copy = fake->twin.vm.copy;
  fake->twin.vm.copy = fake_copy;
}

static void fake_finish(fake_vm_t *fake) {
  if (!tdo_vm_double_check(&fake->twin) ||
      atomic_load(&fake->twin.vm.counters.unmap) + 1 !=
          atomic_load(&fake->twin.vm.counters.map))
    abort(); /* something was not given back */
  tdo_vm_double_finish(&fake->twin);
}

/* What the arena does to free pages, mapping limit or not. */
static void fake_commit(fake_vm_t *fake, size_t first, size_t limit,
                        bool commit) {
  tdo_vm_t *vm = &fake->twin.vm;
  size_t room = fake->twin.options.mapping_limit;
  void *base = fake->base + first * vm->page_size;
  size_t size = (limit - first) * vm->page_size;
  unsigned long maps = atomic_load(&vm->counters.map);
  tdo_vm_double_limit(&fake->twin, SIZE_MAX);
  if ((commit ? vm->commit : vm->decommit)(vm, base, size) != MPS_RES_OK)
    abort();
  tdo_vm_double_limit(&fake->twin, room);
  atomic_store(&vm->counters.map, maps);
}

#endif /* TDO_TEST_FAKE_VM_H */
