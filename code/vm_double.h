/* Testudo: a double of the platform's memory, for tests and for the tuner; no
   part of the library. It plays the same contract (code/vm.h) on a model of a
   window of pages, writes down every call, keeps mappings as Linux would, and
   can refuse any call.
   SPDX-License-Identifier: BSD-2-Clause

   The model of mappings, as measured on Linux: a mapping is a run of pages
   with one access, and one advice about huge pages. A call that changes pages
   inside a mapping splits it, at one or both ends, unless the changed pages
   join a neighbour of the same access. A split at the limit fails; a
   protection call keeps what it did before that, even one of two splits.
   Replacing pages (decommit) fails only strictly inside one mapping. Merging
   calls always work. At the limit of data a call fails that would make pages
   writable, and changes nothing. */
#ifndef TDO_CODE_VM_DOUBLE_H
#define TDO_CODE_VM_DOUBLE_H

#include "code/bits.h"
#include "code/vm.h"

typedef enum tdo_vm_call_kind {
  TDO_VM_RESERVE,
  TDO_VM_RELEASE,
  TDO_VM_TABLE, /* reserve_table: no address recorded, always real */
  TDO_VM_COMMIT,
  TDO_VM_DECOMMIT,
  TDO_VM_PROTECT,
  TDO_VM_AWAY,   /* reserve_away: the same */
  TDO_VM_HIDE,
  TDO_VM_SHOW,
  TDO_VM_COPY,
  TDO_VM_ADVISE, /* for huge pages */
  TDO_VM_POPULATE,
  TDO_VM_CALL_KINDS
} tdo_vm_call_kind_t;

typedef struct tdo_vm_call {
  tdo_vm_call_kind_t kind;
  bool refused;
  tdo_access_t access; /* that the pages have if it was not refused */
  void *base;
  size_t size;
} tdo_vm_call_t;

typedef struct tdo_vm_double_options {
  size_t pages;            /* of the window */
  size_t page_size;        /* 0: 4096, or the page size of BEHIND */
  size_t huge_size;        /* 0: no huge pages */
  size_t mapping_limit;    /* 0: none */
  size_t mappings_outside; /* that count against the limit too */
  size_t data_limit;       /* pages that may be writable at once; 0: all */
  tdo_vm_call_t *calls;    /* the record, of the caller's; or NULL */
  size_t calls_max;        /* its length */
  tdo_vm_t *behind;        /* real memory for the window, or NULL: then the
                              window's addresses must not be touched */
} tdo_vm_double_options_t;

typedef struct tdo_vm_double {
  tdo_vm_t vm; /* first: a tdo_vm_t that can be passed to any module */
  tdo_sig_t sig;
  tdo_vm_double_options_t options;
  char *window;       /* aligned to 1 GiB without real memory */
  uint8_t *access;    /* a tdo_access_t for each page, and whether huge pages
                         are advised, or not reserved */
  tdo_bits_t *starts; /* bit p: a mapping begins at page p */
  void *tables;
  size_t tables_size;
  size_t mappings;       /* in the window now */
  size_t mappings_most;  /* ever */
  size_t calls_count;    /* calls recorded, and those the record has no room
                            for */
  size_t refuse_in;      /* see refuse_nth; 0: no */
  unsigned refuse_kinds; /* bit for each kind */
} tdo_vm_double_t;

/* Make a double. Its own tables are real memory: MPS_RES_RESOURCE if there is
   none. The window is reserved by the vm's reserve, in one or more pieces. */
mps_res_t tdo_vm_double_init(tdo_vm_double_t *d,
                             const tdo_vm_double_options_t *options);
void tdo_vm_double_finish(tdo_vm_double_t *d);
bool tdo_vm_double_check(const tdo_vm_double_t *d);

/* Access of the page at ADDR; NONE outside of reservations. */
tdo_access_t tdo_vm_double_access(const tdo_vm_double_t *d, const void *addr);

/* Are huge pages advised for the page at ADDR? */
bool tdo_vm_double_advised(const tdo_vm_double_t *d, const void *addr);

/* Forget the recorded calls. */
void tdo_vm_double_clear(tdo_vm_double_t *d);

/* Refuse the Nth call from now (1: the next; 0: take it back), counting only
   calls that can be refused: all but release and copy. */
void tdo_vm_double_refuse_nth(tdo_vm_double_t *d, size_t n);
/* Refuse all calls of KIND, from now on or no more. */
void tdo_vm_double_refuse_kind(tdo_vm_double_t *d, tdo_vm_call_kind_t kind,
                               bool refuse);
/* Change the limit of mappings; SIZE_MAX: none. That of data; 0: none. */
void tdo_vm_double_limit(tdo_vm_double_t *d, size_t limit);
void tdo_vm_double_limit_data(tdo_vm_double_t *d, size_t pages);

#endif /* TDO_CODE_VM_DOUBLE_H */
