/* Testudo: the platform contract for virtual memory: reserve, commit,
   protect. One implementation for each platform (vm_linux.c), and a double
   for tests and for the tuner (vm_double.c) that records every call and can
   refuse any. Modules above hold a tdo_vm_t and never call the system.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_VM_H
#define TDO_CODE_VM_H

#include <stdatomic.h>
#include "code/base.h"

/* What a page allows. The values are a bit set: 1 read, 2 write. */
typedef enum tdo_access {
  TDO_ACCESS_NONE = 0,
  TDO_ACCESS_READ = 1,
  TDO_ACCESS_WRITE = 3
} tdo_access_t;

/* System calls made by one tdo_vm_t since it was made, each attempt counted
   once, refused ones too. Units: calls; pages for protect_pages. */
typedef struct tdo_vm_counters {
  atomic_ulong map;           /* mmap */
  atomic_ulong unmap;         /* munmap */
  atomic_ulong protect;       /* mprotect */
  atomic_ulong protect_pages; /* pages in those calls, but for reserve's */
  atomic_ulong advise;        /* madvise */
  atomic_ulong move;          /* mremap */
  atomic_ulong refused;       /* calls of any kind that failed */
} tdo_vm_counters_t;

typedef struct tdo_vm tdo_vm_t;

struct tdo_vm {
  size_t page_size; /* bytes, a power of two */
  tdo_vm_counters_t counters;
  /* Bytes that are committed and not writable now, in all arenas. The system
     may not count them, but they must be writable again: commit and room leave
     them out of what there is. */
  atomic_size_t owed;

  /* Reserve SIZE bytes (a multiple of the page size) of address space with
     no access and no memory behind it, aligned to ALIGN (power of two,
     multiple of the page size). MPS_RES_RESOURCE if there is none. */
  mps_res_t (*reserve)(void **base_o, tdo_vm_t *vm, size_t size, size_t align);
  /* Give a whole reservation back; a part only of one of reserve_away's. */
  void (*release)(tdo_vm_t *vm, void *base, size_t size);
  /* Reserve SIZE bytes that can be read and written at once and read as
     zero, without charging memory until touched: for sparse tables. */
  mps_res_t (*reserve_table)(void **base_o, tdo_vm_t *vm, size_t size);
  /* Make [BASE, BASE+SIZE) of a reservation readable and writable. Pages
     never committed before, or decommitted, read as zero. MPS_RES_MEMORY if
     the system refuses, or would have less than is owed; then the range is as
     it was, as far as the system allows. */
  mps_res_t (*commit)(tdo_vm_t *vm, void *base, size_t size);
  /* Bytes that could be committed now, as far as a limit of the process tells;
     SIZE_MAX if it has none. Other memory of the process counts, too. */
  size_t (*room)(tdo_vm_t *vm);
  /* Drop the contents, give the memory back, allow no access. On refusal
     (MPS_RES_MEMORY, at the mapping limit) the memory is still given back
     if at all possible and stays accessible. */
  mps_res_t (*decommit)(tdo_vm_t *vm, void *base, size_t size);
  /* Set the access of whole pages. MPS_RES_MEMORY if refused. */
  mps_res_t (*protect)(tdo_vm_t *vm, void *base, size_t size,
                       tdo_access_t access);
  /* Reserve SIZE bytes of address space, with no access, for what follows.
     MPS_RES_RESOURCE if there is none, or if that or data is limited for this
     process: its own allocations come first. */
  mps_res_t (*reserve_away)(void **base_o, tdo_vm_t *vm, size_t size);
  /* Move the memory of [BASE, BASE+SIZE), committed pages with one access, to
     AWAY in such a place, where nothing of value is, and close the pages. Takes
     as little time for many pages as for one where BASE, AWAY and SIZE are
     multiples of the page size squared over the size of a word. Between the
     two steps the pages read as zero: no other thread may look, and no signal
     handler of this one. MPS_RES_MEMORY if refused: then nothing has changed,
     nor has it with MPS_RES_LIMIT: these are several mappings (pages with one
     access are, where they were first touched apart), and parts may go;
     MPS_RES_RESOURCE if AWAY, besides, may be another's now: it must not be
     used, nor given back; MPS_RES_FAIL if the second step is refused, and
     cannot be undone. */
  mps_res_t (*hide)(tdo_vm_t *vm, void *base, size_t size, void *away);
  /* Bring back all or a part of that, with the ACCESS that it had.
     MPS_RES_MEMORY if refused. */
  mps_res_t (*show)(tdo_vm_t *vm, void *base, size_t size, void *away,
                    tdo_access_t access);
  /* The same where that is refused: copy it to BASE, which is open. */
  void (*copy)(tdo_vm_t *vm, void *base, size_t size, void *away);
  /* The system may back [BASE, BASE+SIZE) of a reservation by huge pages, from
     now until that memory is decommitted. Only advice: MPS_RES_MEMORY if it
     is refused, for which nothing changes but that a mapping may have been
     split. Sizes and addresses are multiples of huge_size. */
  mps_res_t (*advise_huge)(tdo_vm_t *vm, void *base, size_t size);
  /* [BASE, BASE+SIZE) of a reservation, which is committed and was not touched
     since, will be needed soon: touch it, if that is no work for the calling
     thread. Nothing happens before it is decommitted that could not be had by
     touching it. */
  void (*populate)(tdo_vm_t *vm, void *base, size_t size);
  /* What was asked to be touched is taken up to LIMIT. */
  void (*taken)(tdo_vm_t *vm, void *limit);
  /* Many calls for access follow, or (not MANY) have been made: what is to be
     touched waits meanwhile, as they would wait for it. Nests. */
  void (*calls)(tdo_vm_t *vm, bool many);
  /* Bytes of a huge page; 0 if the system has none to give. */
  size_t (*huge_size)(tdo_vm_t *vm);
  /* Mappings that this process may have (vm.max_map_count); SIZE_MAX if
     unknown. */
  size_t (*mapping_limit)(tdo_vm_t *vm);
};

/* The process's own memory; one object, shared by all arenas. Its counters
   are the library's own count of calls for the whole process. */
tdo_vm_t *tdo_vm_system(void);

/* Bytes of address space that the process may still ask for (RLIMIT_AS), or
   SIZE_MAX; and bytes of physical memory of the machine. */
size_t tdo_vm_address_limit(void);
size_t tdo_vm_physical(void);
/* Bytes of address space that any process here has, a power of two, or
   SIZE_MAX if unknown. */
size_t tdo_vm_address_space(void);
/* Bytes that the process may have of memory of its own (RLIMIT_DATA), used or
   not, or SIZE_MAX. */
size_t tdo_vm_data_limit(void);

/* Page faults that the system took for this process, without and with input;
   zero if unknown. One system call on Linux, not counted. */
void tdo_vm_faults(size_t *minor_o, size_t *major_o);

#define TDO_VM_TABLE_APART 384 /* bytes */

/* Where the NUMBERth of several tables in one reservation goes, after what ends
   at OFFSET: a small heap uses the first part of each, which shall lie in one
   page, but not all of them in the same lines of the cache. */
static inline size_t tdo_vm_table_offset(const tdo_vm_t *vm, size_t offset,
                                         size_t number) {
  return tdo_round_up(offset, vm->page_size) +
         number * TDO_VM_TABLE_APART % (vm->page_size / 2);
}

#endif /* TDO_CODE_VM_H */
