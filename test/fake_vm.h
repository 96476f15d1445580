/* Testudo: a platform for the shield's tests that keeps mappings the way the
   kernel does: protection splits and merges them, there is a limit, a refused
   call may have changed some of its pages and may leave a split behind. It
   can also refuse at random. Table memory is real, the window is not.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TEST_FAKE_VM_H
#define TDO_TEST_FAKE_VM_H

#include <stdlib.h>
#include <string.h>
#include "code/base.h"
#include "code/vm.h"
#include "random.h"

#define FAKE_PAGE  ((size_t)4096)
#define FAKE_PAGES ((size_t)8192) /* most pages of a window */
#define FAKE_CALLS ((size_t)65536)
#define FAKE_BASE  ((char *)0x500000000000)

typedef struct fake_call {
  size_t first, limit;
  tdo_access_t access;
  bool ok;
} fake_call_t;

typedef struct fake_vm {
  tdo_vm_t vm;
  size_t pages;
  uint8_t access[FAKE_PAGES];
  bool starts[FAKE_PAGES]; /* a mapping starts at the page */
  size_t mappings, limit;
  unsigned refuse_of; /* refuse one call in so many, or never if 0; but not
                         one over the whole window, which always merges */
  size_t refuse_next; /* refuse the next so many calls */
  bool no_tables;     /* refuse tables */
  size_t calls, pages_called, changed, refused, tables;
  fake_call_t call[FAKE_CALLS]; /* the first ones */
  void *closure;
  void (*watch)(void *closure, size_t page, unsigned from, unsigned to);
} fake_vm_t;

/* Make it as if a mapping started at PAGE or not; false at the limit. */
static bool fake_split(fake_vm_t *fake, size_t page) {
  if (page < fake->pages && !fake->starts[page]) {
    if (fake->mappings >= fake->limit) {
      return false;
    }
    fake->starts[page] = true;
    ++fake->mappings;
  }
  return true;
}

static void fake_merge(fake_vm_t *fake, size_t page) {
  if (page > 0 && page < fake->pages && fake->starts[page] &&
      fake->access[page] == fake->access[page - 1]) {
    fake->starts[page] = false;
    --fake->mappings;
  }
}

/* Change [FIRST, LIMIT), which lies in one mapping. If it can be merged with
   a neighbour, the border moves; otherwise it is split off first. */
static bool fake_change(fake_vm_t *fake, size_t first, size_t limit,
                        uint8_t access) {
  bool moves_low =
      fake->starts[first] && first > 0 && fake->access[first - 1] == access;
  bool moves_high = limit < fake->pages && fake->starts[limit] &&
                    fake->access[limit] == access;
  if (fake->access[first] == access) {
    return true;
  }
  if (!moves_low && !moves_high &&
      !(fake_split(fake, first) && fake_split(fake, limit))) {
    return false;
  }
  if (!fake->starts[first]) {
    fake->starts[first] = true;
    ++fake->mappings;
  }
  if (limit < fake->pages && !fake->starts[limit]) {
    fake->starts[limit] = true;
    ++fake->mappings;
  }
  for (size_t page = first; page < limit; ++page) {
    if (fake->watch != NULL) {
      fake->watch(fake->closure, page, fake->access[page], access);
    }
    fake->access[page] = access;
  }
  fake->changed += limit - first;
  fake_merge(fake, limit);
  fake_merge(fake, first);
  return true;
}

static bool fake_change_all(fake_vm_t *fake, size_t first, size_t limit,
                            uint8_t access) {
  size_t page = first;
  while (page < limit) {
    size_t start = page++;
    while (page < limit && !fake->starts[page]) {
      ++page;
    }
    if (!fake_change(fake, start, page, access)) {
      return false;
    }
  }
  return true;
}

static mps_res_t fake_protect(tdo_vm_t *vm, void *base, size_t size,
                              tdo_access_t access) {
  fake_vm_t *fake = (fake_vm_t *)(void *)vm;
  size_t first = (size_t)((char *)base - FAKE_BASE) / FAKE_PAGE;
  size_t limit = first + size / FAKE_PAGE;
  size_t touched = limit;
  bool ok = true;
  if ((char *)base < FAKE_BASE || size == 0 || limit > fake->pages) {
    abort();
  }
  if (fake->refuse_next > 0) {
    --fake->refuse_next;
    ok = false;
    touched = first;
  } else if (fake->refuse_of > 0 && random_below(fake->refuse_of) == 0 &&
             limit - first < fake->pages) {
    ok = false; /* but some of the pages may change */
    touched = first + random_below(limit - first);
  }
  if (first < touched) {
    ok = fake_change_all(fake, first, touched, (uint8_t)access) && ok;
  }
  if (fake->calls < FAKE_CALLS) {
    fake->call[fake->calls] = (fake_call_t){first, limit, access, ok};
  }
  ++fake->calls;
  fake->pages_called += limit - first;
  fake->refused += !ok;
  return ok ? MPS_RES_OK : MPS_RES_MEMORY;
}

static mps_res_t fake_table(void **base_o, tdo_vm_t *vm, size_t size) {
  fake_vm_t *fake = (fake_vm_t *)(void *)vm;
  void *p = fake->no_tables ? NULL : calloc(1, size);
  if (p == NULL) {
    return MPS_RES_RESOURCE;
  }
  ++fake->tables;
  *base_o = p;
  return MPS_RES_OK;
}

static void fake_release(tdo_vm_t *vm, void *base, size_t size) {
  fake_vm_t *fake = (fake_vm_t *)(void *)vm;
  (void)size;
  --fake->tables;
  free(base);
}

static size_t fake_limit(tdo_vm_t *vm) {
  return ((fake_vm_t *)(void *)vm)->limit;
}

/* A window of PAGES pages without access, and room for LIMIT mappings. */
static void fake_init(fake_vm_t *fake, size_t pages, size_t limit) {
  if (pages > FAKE_PAGES) {
    abort();
  }
  memset(fake, 0, sizeof *fake);
  fake->vm.page_size = FAKE_PAGE;
  fake->vm.reserve_table = fake_table;
  fake->vm.release = fake_release;
  fake->vm.protect = fake_protect;
  fake->vm.mapping_limit = fake_limit;
  fake->pages = pages;
  fake->limit = limit;
  fake->mappings = 1;
  fake->starts[0] = true;
}

/* What the arena does to free pages, mapping limit or not. */
static void fake_set(fake_vm_t *fake, size_t first, size_t limit,
                     tdo_access_t access) {
  size_t room = fake->limit;
  size_t changed = fake->changed;
  fake->limit = SIZE_MAX;
  (void)fake_change_all(fake, first, limit, (uint8_t)access);
  fake->limit = room;
  fake->changed = changed;
}

#endif /* TDO_TEST_FAKE_VM_H */
