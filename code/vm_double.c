/* Testudo: a double of the platform's memory. SPDX-License-Identifier:
   BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "code/vm_double.h"

#define DOUBLE_SIG  ((tdo_sig_t)0x519D0B1E)
#define DOUBLE_HOLE ((uint8_t)0xff) /* access of a page not reserved */
#define DOUBLE_HUGE ((uint8_t)0x40) /* with the access: huge pages advised */

enum { DOUBLE_PAGE = 4096 };

static tdo_vm_double_t *double_of(tdo_vm_t *vm) {
  tdo_vm_double_t *d = TDO_PARENT(tdo_vm_double_t, vm, vm);
  TDO_CHECK(d->sig == DOUBLE_SIG);
  return d;
}

static size_t double_page(const tdo_vm_double_t *d, const void *addr) {
  return (size_t)((const char *)addr - d->window) / d->vm.page_size;
}

static void *double_addr(const tdo_vm_double_t *d, size_t page) {
  return d->window + page * d->vm.page_size;
}

/* Mappings. */

static bool double_is_start(const tdo_vm_double_t *d, size_t page) {
  return tdo_bits_get(d->starts, page);
}

/* The page where the mapping of PAGE begins; where it ends. */
static size_t double_start(const tdo_vm_double_t *d, size_t page) {
  return tdo_bits_last_set(d->starts, 0, page + 1) - 1;
}

static size_t double_end(const tdo_vm_double_t *d, size_t page) {
  size_t end = tdo_bits_next_set(d->starts, page + 1, d->options.pages);
  while (d->access[end - 1] == DOUBLE_HOLE)
    --end; /* mappings are followed by holes that no start marks */
  return end;
}

static void double_set_start(tdo_vm_double_t *d, size_t page, bool is_start) {
  if (page < d->options.pages && double_is_start(d, page) != is_start) {
    if (is_start) {
      tdo_bits_set(d->starts, page);
      ++d->mappings;
    } else {
      tdo_bits_clear(d->starts, page);
      --d->mappings;
    }
    d->mappings_most = tdo_max(d->mappings_most, d->mappings);
  }
}

static bool double_at_limit(const tdo_vm_double_t *d) {
  return d->mappings + d->options.mappings_outside >= d->options.mapping_limit;
}

/* Split the mapping before PAGE; false at the limit. */
static bool double_split(tdo_vm_double_t *d, size_t page) {
  if (double_at_limit(d))
    return false;
  double_set_start(d, page, true);
  return true;
}

/* True if the page beside the changed ones has ACCESS, so that they join its
   mapping. PAGE may lie outside of the window. */
static bool double_joins(const tdo_vm_double_t *d, size_t page,
                         uint8_t access) {
  return page < d->options.pages && d->access[page] == access;
}

/* [FIRST, LIMIT), within one mapping, gets ACCESS, as mprotect does it. */
static bool double_change_part(tdo_vm_double_t *d, size_t first, size_t limit,
                               uint8_t access) {
  if (d->access[first] == access)
    return true;
  size_t end = double_end(d, first);
  bool head = double_is_start(d, first), tail = limit == end;
  bool joins_left = head && double_joins(d, first - 1, access);
  bool joins_right = tail && double_joins(d, limit, access);
  if (!joins_left && !joins_right &&
      ((!head && !double_split(d, first)) ||
       (!tail && !double_split(d, limit))))
    return false;
  memset(d->access + first, access, limit - first);
  if (joins_right)
    double_set_start(d, limit, false); /* first: see mappings_most */
  double_set_start(d, first, !joins_left);
  double_set_start(d, limit,
                   limit < end ||
                       (tail && limit < d->options.pages &&
                        d->access[limit] != DOUBLE_HOLE && !joins_right));
  return true;
}

/* The pages keep what they have of the bits KEPT. */
static bool double_change(tdo_vm_double_t *d, size_t first, size_t limit,
                          uint8_t bits, uint8_t kept) {
  while (first < limit) {
    size_t part = tdo_min(double_end(d, first), limit);
    uint8_t access = (uint8_t)(bits | (d->access[first] & kept));
    if (!double_change_part(d, first, part, access))
      return false;
    first = part;
  }
  return true;
}

/* The same pages are mapped anew, or unmapped (DOUBLE_HOLE). */
static bool double_replace(tdo_vm_double_t *d, size_t first, size_t limit,
                           uint8_t access) {
  if (double_start(d, first) < first && double_end(d, first) > limit &&
      double_at_limit(d))
    return false;
  bool hole = access == DOUBLE_HOLE;
  bool joins_left = !hole && double_joins(d, first - 1, access);
  bool joins_right = !hole && double_joins(d, limit, access);
  for (size_t p = first; p < limit; ++p)
    double_set_start(d, p, false);
  memset(d->access + first, access, limit - first);
  double_set_start(d, first, !hole && !joins_left);
  double_set_start(d, limit,
                   limit < d->options.pages &&
                       d->access[limit] != DOUBLE_HOLE && !joins_right);
  return true;
}

/* How many pages of [FIRST, LIMIT) are writable. */
static size_t double_data(const tdo_vm_double_t *d, size_t first,
                          size_t limit) {
  size_t data = 0;
  for (size_t p = first; p < limit; ++p)
    data += d->access[p] != DOUBLE_HOLE &&
            (d->access[p] & ~DOUBLE_HUGE) == TDO_ACCESS_WRITE;
  return data;
}

/* What the limit of data leaves beside what there is and OWED, in pages. */
static size_t double_data_left(const tdo_vm_double_t *d, size_t owed) {
  size_t most = d->options.data_limit;
  size_t data = double_data(d, 0, d->options.pages) + owed;
  return most - tdo_min(most, data);
}

static bool double_data_allows(const tdo_vm_double_t *d, size_t first,
                               size_t limit, tdo_access_t access,
                               size_t owed) {
  return d->options.data_limit == 0 || access != TDO_ACCESS_WRITE ||
         limit - first - double_data(d, first, limit) <=
             double_data_left(d, owed);
}

/* Recording and refusing. */

static bool double_told_to_refuse(tdo_vm_double_t *d,
                                  tdo_vm_call_kind_t kind) {
  bool nth = d->refuse_in > 0 && --d->refuse_in == 0;
  return nth || (d->refuse_kinds >> kind & 1);
}

static void double_record(tdo_vm_double_t *d, tdo_vm_call_kind_t kind,
                          void *base, size_t size, tdo_access_t access,
                          bool refused) {
  if (d->calls_count < d->options.calls_max) {
    tdo_vm_call_t *call = &d->options.calls[d->calls_count];
    call->kind = kind;
    call->refused = refused;
    call->access = access;
    call->base = base;
    call->size = size;
  }
  ++d->calls_count;
  if (refused)
    (void)atomic_fetch_add(&d->vm.counters.refused, 1);
}

static bool double_in_window(const tdo_vm_double_t *d, const void *base,
                             size_t size) {
  size_t first = double_page(d, base), pages = size / d->vm.page_size;
  return (const char *)base >= d->window &&
         double_addr(d, first) == (const void *)base && pages > 0 &&
         size % d->vm.page_size == 0 && first + pages <= d->options.pages;
}

/* All pages of the call are reserved: else it is a mistake of the caller. */
static bool double_is_reserved(const tdo_vm_double_t *d, const void *base,
                               size_t size) {
  return double_in_window(d, base, size) &&
         memchr(d->access + double_page(d, base), DOUBLE_HOLE,
                size / d->vm.page_size) == NULL;
}

/* The contract of code/vm.h. */

/* The lowest hole of PAGES pages aligned to ALIGN; false if there is none. */
static bool double_find_hole(size_t *first_o, const tdo_vm_double_t *d,
                             size_t pages, size_t align) {
  size_t run = 0;
  for (size_t p = 0; p < d->options.pages; ++p) {
    if (run == 0 && (uintptr_t)double_addr(d, p) % align != 0)
      continue;
    run = d->access[p] == DOUBLE_HOLE ? run + 1 : 0;
    if (run == pages) {
      *first_o = p + 1 - pages;
      return true;
    }
  }
  return false;
}

static mps_res_t double_reserve(void **base_o, tdo_vm_t *vm, size_t size,
                                size_t align) {
  tdo_vm_double_t *d = double_of(vm);
  size_t first = 0, pages = size / vm->page_size;
  TDO_CHECK(pages > 0 && size % vm->page_size == 0 && tdo_is_pow2(align));
  bool ok = !double_told_to_refuse(d, TDO_VM_RESERVE) && !double_at_limit(d) &&
            double_find_hole(&first, d, pages, align);
  void *base = ok ? double_addr(d, first) : NULL;
  (void)atomic_fetch_add(&vm->counters.map, 1);
  double_record(d, TDO_VM_RESERVE, base, size, TDO_ACCESS_NONE, !ok);
  if (!ok)
    return MPS_RES_RESOURCE;
  memset(d->access + first, TDO_ACCESS_NONE, pages);
  double_set_start(d, first, true);
  *base_o = base;
  return MPS_RES_OK;
}

/* Pages here may be smaller than the system's. */
static size_t double_real_size(size_t size) {
  return tdo_round_up(size, tdo_vm_system()->page_size);
}

static void double_release(tdo_vm_t *vm, void *base, size_t size) {
  tdo_vm_double_t *d = double_of(vm);
  (void)atomic_fetch_add(&vm->counters.unmap, 1);
  if (!double_in_window(d, base, size)) { /* a table: real memory */
    double_record(d, TDO_VM_RELEASE, NULL, size, TDO_ACCESS_NONE, false);
    tdo_vm_system()->release(tdo_vm_system(), base, double_real_size(size));
    return;
  }
  TDO_CHECK(double_is_reserved(d, base, size));
  size_t first = double_page(d, base), limit = first + size / vm->page_size;
  bool ok = double_replace(d, first, limit, DOUBLE_HOLE);
  double_record(d, TDO_VM_RELEASE, base, size, TDO_ACCESS_NONE, !ok);
}

/* What lies outside of the window is real memory, reserved by METHOD. */
static mps_res_t double_reserve_outside(
    void **base_o, tdo_vm_t *vm, size_t size, tdo_vm_call_kind_t kind,
    tdo_access_t access, mps_res_t (*method)(void **, tdo_vm_t *, size_t)) {
  tdo_vm_double_t *d = double_of(vm);
  mps_res_t res = MPS_RES_RESOURCE;
  (void)atomic_fetch_add(&vm->counters.map, 1);
  if (!double_told_to_refuse(d, kind))
    res = method(base_o, tdo_vm_system(), double_real_size(size));
  double_record(d, kind, NULL, size, access, res != MPS_RES_OK);
  return res;
}

static mps_res_t double_reserve_table(void **base_o, tdo_vm_t *vm,
                                      size_t size) {
  return double_reserve_outside(base_o, vm, size, TDO_VM_TABLE,
                                TDO_ACCESS_WRITE,
                                tdo_vm_system()->reserve_table);
}

static mps_res_t double_reserve_away(void **base_o, tdo_vm_t *vm,
                                     size_t size) {
  return double_reserve_outside(base_o, vm, size, TDO_VM_AWAY, TDO_ACCESS_NONE,
                                tdo_vm_system()->reserve_away);
}

static mps_res_t double_set_access(tdo_vm_double_t *d, tdo_vm_call_kind_t kind,
                                   void *base, size_t size,
                                   tdo_access_t access) {
  TDO_CHECK(double_is_reserved(d, base, size));
  size_t first = double_page(d, base), pages = size / d->vm.page_size;
  tdo_vm_t *behind = d->options.behind;
  (void)atomic_fetch_add(&d->vm.counters.protect, 1);
  (void)atomic_fetch_add(&d->vm.counters.protect_pages, pages);
  size_t owed = kind == TDO_VM_COMMIT
                    ? atomic_load(&d->vm.owed) / d->vm.page_size
                    : 0;
  bool ok = !double_told_to_refuse(d, kind) &&
            double_data_allows(d, first, first + pages, access, owed) &&
            double_change(d, first, first + pages, (uint8_t)access,
                          DOUBLE_HUGE);
  mps_res_t res = ok ? MPS_RES_OK : MPS_RES_MEMORY;
  if (ok && behind != NULL)
    res = behind->protect(behind, base, size, access);
  double_record(d, kind, base, size, access, res != MPS_RES_OK);
  return res;
}

static mps_res_t double_commit(tdo_vm_t *vm, void *base, size_t size) {
  return double_set_access(double_of(vm), TDO_VM_COMMIT, base, size,
                           TDO_ACCESS_WRITE);
}

static size_t double_room(tdo_vm_t *vm) {
  const tdo_vm_double_t *d = double_of(vm);
  return d->options.data_limit == 0
             ? SIZE_MAX
             : double_data_left(d, atomic_load(&vm->owed) / vm->page_size) *
                   vm->page_size;
}

static mps_res_t double_protect(tdo_vm_t *vm, void *base, size_t size,
                                tdo_access_t access) {
  return double_set_access(double_of(vm), TDO_VM_PROTECT, base, size, access);
}

/* Refused only when told: at the limit the pages are moved, and not closed. */
static mps_res_t double_hide(tdo_vm_t *vm, void *base, size_t size,
                             void *away) {
  tdo_vm_double_t *d = double_of(vm);
  tdo_vm_t *behind = d->options.behind;
  TDO_CHECK(double_is_reserved(d, base, size));
  size_t first = double_page(d, base), pages = size / vm->page_size;
  mps_res_t res = MPS_RES_MEMORY;
  (void)atomic_fetch_add(&vm->counters.move, 1);
  if (!double_told_to_refuse(d, TDO_VM_HIDE)) {
    (void)atomic_fetch_add(&vm->counters.protect, 1);
    (void)atomic_fetch_add(&vm->counters.protect_pages, pages);
    res = double_change(d, first, first + pages, TDO_ACCESS_NONE, DOUBLE_HUGE)
              ? MPS_RES_OK
              : MPS_RES_FAIL;
  }
  if (res == MPS_RES_OK && behind != NULL)
    res = behind->hide(behind, base, size, away);
  double_record(d, TDO_VM_HIDE, base, size, TDO_ACCESS_NONE,
                res != MPS_RES_OK);
  return res;
}

static mps_res_t double_show(tdo_vm_t *vm, void *base, size_t size, void *away,
                             tdo_access_t access) {
  tdo_vm_double_t *d = double_of(vm);
  tdo_vm_t *behind = d->options.behind;
  TDO_CHECK(double_is_reserved(d, base, size));
  size_t first = double_page(d, base), pages = size / vm->page_size;
  (void)atomic_fetch_add(&vm->counters.move, 1);
  bool ok = !double_told_to_refuse(d, TDO_VM_SHOW) &&
            double_change(d, first, first + pages, (uint8_t)access,
                          DOUBLE_HUGE);
  mps_res_t res = ok ? MPS_RES_OK : MPS_RES_MEMORY;
  if (ok && behind != NULL)
    res = behind->show(behind, base, size, away, access);
  double_record(d, TDO_VM_SHOW, base, size, access, res != MPS_RES_OK);
  return res;
}

static void double_copy(tdo_vm_t *vm, void *base, size_t size, void *away) {
  tdo_vm_double_t *d = double_of(vm);
  tdo_vm_t *behind = d->options.behind;
  TDO_CHECK(tdo_vm_double_access(d, base) == TDO_ACCESS_WRITE);
  double_record(d, TDO_VM_COPY, base, size, TDO_ACCESS_WRITE, false);
  if (behind != NULL)
    behind->copy(behind, base, size, away);
}

static mps_res_t double_decommit(tdo_vm_t *vm, void *base, size_t size) {
  tdo_vm_double_t *d = double_of(vm);
  tdo_vm_t *behind = d->options.behind;
  TDO_CHECK(double_is_reserved(d, base, size));
  size_t first = double_page(d, base), pages = size / vm->page_size;
  (void)atomic_fetch_add(&vm->counters.map, 1);
  bool ok = !double_told_to_refuse(d, TDO_VM_DECOMMIT) &&
            double_replace(d, first, first + pages, TDO_ACCESS_NONE);
  double_record(d, TDO_VM_DECOMMIT, base, size, TDO_ACCESS_NONE, !ok);
  if (!ok) {
    (void)atomic_fetch_add(&vm->counters.advise, 1);
    return MPS_RES_MEMORY;
  }
  return behind == NULL ? MPS_RES_OK : behind->decommit(behind, base, size);
}

static mps_res_t double_advise_huge(tdo_vm_t *vm, void *base, size_t size) {
  tdo_vm_double_t *d = double_of(vm);
  tdo_vm_t *behind = d->options.behind;
  TDO_CHECK(double_is_reserved(d, base, size));
  TDO_CHECK(size % d->options.huge_size == 0);
  size_t first = double_page(d, base), pages = size / vm->page_size;
  (void)atomic_fetch_add(&vm->counters.advise, 1);
  bool ok = !double_told_to_refuse(d, TDO_VM_ADVISE) &&
            double_change(d, first, first + pages, DOUBLE_HUGE,
                          (uint8_t)~DOUBLE_HUGE);
  double_record(d, TDO_VM_ADVISE, base, size, TDO_ACCESS_NONE, !ok);
  if (!ok)
    return MPS_RES_MEMORY;
  return behind == NULL ? MPS_RES_OK : behind->advise_huge(behind, base, size);
}

static void double_populate(tdo_vm_t *vm, void *base, size_t size) {
  tdo_vm_double_t *d = double_of(vm);
  tdo_vm_t *behind = d->options.behind;
  TDO_CHECK(double_is_reserved(d, base, size));
  double_record(d, TDO_VM_POPULATE, base, size, TDO_ACCESS_NONE, false);
  if (behind != NULL)
    behind->populate(behind, base, size);
}

static void double_taken(tdo_vm_t *vm, void *limit) {
  (void)vm, (void)limit;
}

static void double_calls(tdo_vm_t *vm, bool many) {
  tdo_vm_t *behind = double_of(vm)->options.behind;
  if (behind != NULL)
    behind->calls(behind, many);
}

static size_t double_huge_size(tdo_vm_t *vm) {
  return double_of(vm)->options.huge_size;
}

static size_t double_mapping_limit(tdo_vm_t *vm) {
  return double_of(vm)->options.mapping_limit;
}

/* Life and control. */

/* One table holds an access byte and a bit for each page. */
static mps_res_t double_make_tables(tdo_vm_double_t *d) {
  tdo_vm_t *real = tdo_vm_system();
  size_t bits = tdo_bits_words(d->options.pages) * sizeof(tdo_bits_t);
  d->tables_size = double_real_size(bits + d->options.pages);
  mps_res_t res = real->reserve_table(&d->tables, real, d->tables_size);
  if (res == MPS_RES_OK) {
    d->starts = d->tables;
    d->access = (uint8_t *)d->tables + bits;
    memset(d->access, DOUBLE_HOLE, d->options.pages);
  }
  return res;
}

/* Without real memory the window is at an address that no process uses, and
   so high that nobody takes it for a small number. */
static mps_res_t double_make_window(tdo_vm_double_t *d) {
  tdo_vm_t *behind = d->options.behind;
  size_t size = d->options.pages * d->vm.page_size;
  void *window = (void *)((uintptr_t)1 << (sizeof(void *) > 4 ? 46 : 30));
  mps_res_t res = MPS_RES_OK;
  if (behind != NULL)
    res = behind->reserve(&window, behind, size, behind->page_size);
  d->window = window;
  return res;
}

mps_res_t tdo_vm_double_init(tdo_vm_double_t *d,
                             const tdo_vm_double_options_t *options) {
  static const tdo_vm_t methods = {.reserve = double_reserve,
                                   .release = double_release,
                                   .reserve_table = double_reserve_table,
                                   .commit = double_commit,
                                   .room = double_room,
                                   .decommit = double_decommit,
                                   .protect = double_protect,
                                   .reserve_away = double_reserve_away,
                                   .hide = double_hide,
                                   .show = double_show,
                                   .copy = double_copy,
                                   .advise_huge = double_advise_huge,
                                   .populate = double_populate,
                                   .taken = double_taken,
                                   .calls = double_calls,
                                   .huge_size = double_huge_size,
                                   .mapping_limit = double_mapping_limit};
  TDO_CHECK(options->pages > 0);
  memset(d, 0, sizeof *d);
  d->vm = methods;
  d->options = *options;
  d->vm.page_size = options->page_size;
  if (options->page_size == 0) {
    tdo_vm_t *behind = options->behind;
    d->vm.page_size = behind != NULL ? behind->page_size : DOUBLE_PAGE;
  }
  if (options->mapping_limit == 0)
    d->options.mapping_limit = SIZE_MAX;
  mps_res_t res = double_make_tables(d);
  if (res != MPS_RES_OK)
    return res;
  res = double_make_window(d);
  if (res != MPS_RES_OK) {
    tdo_vm_system()->release(tdo_vm_system(), d->tables, d->tables_size);
    return res;
  }
  d->sig = DOUBLE_SIG;
  return MPS_RES_OK;
}

void tdo_vm_double_finish(tdo_vm_double_t *d) {
  tdo_vm_t *behind = d->options.behind;
  TDO_CHECK(d->sig == DOUBLE_SIG);
  d->sig = TDO_SIG_DEAD;
  if (behind != NULL)
    behind->release(behind, d->window, d->options.pages * d->vm.page_size);
  tdo_vm_system()->release(tdo_vm_system(), d->tables, d->tables_size);
}

bool tdo_vm_double_check(const tdo_vm_double_t *d) {
  size_t mappings = 0;
  for (size_t p = 0; p < d->options.pages; ++p) {
    uint8_t before = p == 0 ? DOUBLE_HOLE : d->access[p - 1];
    bool is_start = double_is_start(d, p);
    mappings += is_start;
    if (d->access[p] == DOUBLE_HOLE ? is_start
                                    : d->access[p] != before && !is_start)
      return false;
  }
  return d->sig == DOUBLE_SIG && mappings == d->mappings;
}

tdo_access_t tdo_vm_double_access(const tdo_vm_double_t *d, const void *addr) {
  size_t page = double_page(d, addr);
  bool known = (const char *)addr >= d->window && page < d->options.pages &&
               d->access[page] != DOUBLE_HOLE;
  return known ? (tdo_access_t)(d->access[page] & ~DOUBLE_HUGE)
               : TDO_ACCESS_NONE;
}

bool tdo_vm_double_advised(const tdo_vm_double_t *d, const void *addr) {
  size_t page = double_page(d, addr);
  return (const char *)addr >= d->window && page < d->options.pages &&
         d->access[page] != DOUBLE_HOLE &&
         (d->access[page] & DOUBLE_HUGE) != 0;
}

void tdo_vm_double_clear(tdo_vm_double_t *d) {
  d->calls_count = 0;
}

void tdo_vm_double_refuse_nth(tdo_vm_double_t *d, size_t n) {
  d->refuse_in = n;
}

void tdo_vm_double_refuse_kind(tdo_vm_double_t *d, tdo_vm_call_kind_t kind,
                               bool refuse) {
  unsigned bit = 1u << kind;
  d->refuse_kinds = refuse ? d->refuse_kinds | bit : d->refuse_kinds & ~bit;
}

void tdo_vm_double_limit(tdo_vm_double_t *d, size_t limit) {
  d->options.mapping_limit = limit;
}

void tdo_vm_double_limit_data(tdo_vm_double_t *d, size_t pages) {
  d->options.data_limit = pages;
}
