/* Testudo: machine contexts on Linux. SPDX-License-Identifier: BSD-2-Clause */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* names of the registers */
#endif
#include "code/platform.h"
#include "code/context_linux.h"

#if TDO_PF_LINUX

#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__)

enum {
  CONTEXT_RED_ZONE = 128,   /* System V ABI, AMD64 supplement, 3.2.2 */
  CONTEXT_FXSAVE = 512,     /* bytes of the legacy register image */
  CONTEXT_SW_BYTES = 464,   /* where the kernel describes the rest */
  CONTEXT_PAGE_WRITE = 0x2, /* page fault error code: a write */
  CONTEXT_PAGE_FAULT = 14   /* trap number */
};
#define CONTEXT_XSAVE_MAGIC 0x46505853u

/* The description's first and fifth 32-bit words: the magic number and the
   size of the whole image. */
static size_t context_vector_bytes(const void *image) {
  uint32_t magic, size;
  const char *words = (const char *)image + CONTEXT_SW_BYTES;
  memcpy(&magic, words, sizeof magic);
  memcpy(&size, words + 16, sizeof size);
  return magic == CONTEXT_XSAVE_MAGIC && size > CONTEXT_FXSAVE
             ? size
             : (size_t)CONTEXT_FXSAVE;
}

TDO_NO_SANITIZE void
tdo_context_linux_fill(tdo_context_t *ctx_o, const void *uc) {
  static const unsigned char names[] = {
      REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
      REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  const mcontext_t *m = &((const ucontext_t *)uc)->uc_mcontext;
  for (size_t i = 0; i < sizeof names; ++i)
    ctx_o->registers[i] = (tdo_word_t)m->gregs[names[i]];
  ctx_o->count = sizeof names;
  ctx_o->sp = (void *)((uintptr_t)m->gregs[REG_RSP] - CONTEXT_RED_ZONE);
  ctx_o->more = (const tdo_word_t *)(const void *)m->fpregs;
  ctx_o->more_count =
      m->fpregs == NULL ? 0
                        : context_vector_bytes(m->fpregs) / sizeof(tdo_word_t);
}

tdo_fault_kind_t tdo_context_linux_kind(const void *uc) {
  const mcontext_t *m = &((const ucontext_t *)uc)->uc_mcontext;
  if (m->gregs[REG_TRAPNO] != CONTEXT_PAGE_FAULT)
    return TDO_FAULT_UNKNOWN;
  return m->gregs[REG_ERR] & CONTEXT_PAGE_WRITE ? TDO_FAULT_WRITE
                                                : TDO_FAULT_READ;
}

#elif defined(__aarch64__)

#define CONTEXT_ESR_MAGIC 0x45535201u

enum {
  CONTEXT_LOAD = 1 << 22,      /* in most loads and stores */
  CONTEXT_DATA_ABORT = 0x24,   /* exception class, from user mode */
  CONTEXT_WRITE = 1 << 6,      /* WnR */
  CONTEXT_MAINTENANCE = 1 << 8 /* CM: WnR says nothing of the access */
};

TDO_NO_SANITIZE void
tdo_context_linux_fill(tdo_context_t *ctx_o, const void *uc) {
  const mcontext_t *m = &((const ucontext_t *)uc)->uc_mcontext;
  _Static_assert(sizeof m->regs <= sizeof ctx_o->registers, "31 registers");
  memcpy(ctx_o->registers, m->regs, sizeof m->regs);
  ctx_o->count = sizeof m->regs / sizeof(tdo_word_t);
  ctx_o->sp = (void *)(uintptr_t)m->sp; /* no red zone */
  ctx_o->more = (const tdo_word_t *)(const void *)m->__reserved;
  ctx_o->more_count = sizeof m->__reserved / sizeof(tdo_word_t);
}

/* The kernel's records in the reserved area: a magic number, a size, data;
   the one after the last has size 0. The syndrome register is one of them. */
static bool context_syndrome(uint64_t *esr_o, const mcontext_t *m) {
  const char *p = (const char *)m->__reserved;
  const char *limit = p + sizeof m->__reserved;
  while ((size_t)(limit - p) >= 16) {
    uint32_t head[2];
    memcpy(head, p, sizeof head);
    if (head[1] < sizeof head || head[1] > (size_t)(limit - p))
      break;
    if (head[0] == CONTEXT_ESR_MAGIC) {
      memcpy(esr_o, p + sizeof head, sizeof *esr_o);
      return true;
    }
    p += head[1];
  }
  return false;
}

/* What an instruction does to memory, by the groups of loads and stores in
   the Arm Architecture Reference Manual, C4.1. */
static tdo_fault_kind_t context_instruction(uint32_t word) {
  static const struct {
    uint32_t mask, value;
    tdo_fault_kind_t kind; /* UNKNOWN: bit 22 is set in a load */
  } groups[] = {
      {0xffffffe0, 0xd50b7420, TDO_FAULT_WRITE},   /* dc zva */
      {0x3fa07c00, 0x08a07c00, TDO_FAULT_WRITE},   /* compare and swap */
      {0xbfa07c00, 0x08207c00, TDO_FAULT_WRITE},   /* the same, of a pair */
      {0x3f000000, 0x08000000, TDO_FAULT_UNKNOWN}, /* exclusive, ordered */
      {0xbe000000, 0x0c000000, TDO_FAULT_UNKNOWN}, /* vector structures */
      {0x3b000000, 0x18000000, TDO_FAULT_READ},    /* literal */
      {0x3a000000, 0x28000000, TDO_FAULT_UNKNOWN}, /* pair */
      {0x3ffffc00, 0x38bfc000, TDO_FAULT_READ},    /* load-acquire, RCpc */
      {0x3f200c00, 0x38200000, TDO_FAULT_WRITE},   /* atomic */
      {0x3f200400, 0x38200400, TDO_FAULT_READ},    /* authenticated */
      {0x3fe00c00, 0x19000000, TDO_FAULT_WRITE},   /* store-release, RCpc */
      {0x3f200c00, 0x19000000, TDO_FAULT_READ},    /* the other RCpc */
      {0x3ec00000, 0x3c800000, TDO_FAULT_WRITE},   /* quadword */
      {0x3ac00000, 0x38800000, TDO_FAULT_READ},    /* sign-extending */
      {0x3a000000, 0x38000000, TDO_FAULT_UNKNOWN}, /* register */
  };
  for (size_t i = 0; i < sizeof groups / sizeof groups[0]; ++i) {
    if ((word & groups[i].mask) == groups[i].value)
      return groups[i].kind != TDO_FAULT_UNKNOWN ? groups[i].kind
             : word & CONTEXT_LOAD               ? TDO_FAULT_READ
                                                 : TDO_FAULT_WRITE;
  }
  return TDO_FAULT_UNKNOWN;
}

/* Without a syndrome, as from an emulator, the instruction tells; but not one
   that could itself not be read. */
tdo_fault_kind_t tdo_context_linux_kind(const void *uc) {
  const mcontext_t *m = &((const ucontext_t *)uc)->uc_mcontext;
  uint64_t esr;
  uint32_t word;
  if (!context_syndrome(&esr, m)) {
    if (m->pc == 0 || m->fault_address - m->pc < sizeof word)
      return TDO_FAULT_UNKNOWN;
    memcpy(&word, (const void *)(uintptr_t)m->pc, sizeof word);
    return context_instruction(word);
  }
  if (esr >> 26 != CONTEXT_DATA_ABORT || (esr & CONTEXT_MAINTENANCE))
    return TDO_FAULT_UNKNOWN;
  return esr & CONTEXT_WRITE ? TDO_FAULT_WRITE : TDO_FAULT_READ;
}

#else
#error "context_linux.c: add the registers of this machine"
#endif

bool tdo_context_of_fault(tdo_context_t *ctx_o) {
  const void *uc = tdo_context_linux_fault();
  if (uc == NULL)
    return false;
  tdo_context_linux_fill(ctx_o, uc);
  (void)tdo_context_linux_own(ctx_o, uc);
  return true;
}

#endif /* TDO_PF_LINUX */
