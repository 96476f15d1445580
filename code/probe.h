/* Testudo: static probes, which debuggers and tracers find in the library.
   SPDX-License-Identifier: BSD-2-Clause

   A probe is a nop and a note that no program loads: where the nop is, the
   probe's name, and where its arguments are found there. A tracer that wants
   the probe puts a breakpoint on the nop; until then nothing tells that it is
   there. The notes have the form that SystemTap defined and gdb, perf and
   bpftrace read as well, written here because its header is not of the C
   library.

   NO-SEMAPHORE: a note can name a counter that tracers raise, for a program to
   ask whether it is to compute arguments. Ours name none: a probe's arguments
   are what its place has at hand anyway.

   BASE: a note tells, too, where the section .stapsdt.base is linked, so that
   a tracer sees by how much a file was moved afterwards. There is one such
   section in a program or shared object, whoever has probes in it: hence a
   name that is not of this library, weak and hidden. */
#ifndef TDO_CODE_PROBE_H
#define TDO_CODE_PROBE_H

#include "code/base.h"
#include "code/platform.h"

/* TDO_PROBE(NAME, ARGUMENTS): the probe testudo:NAME. One to five arguments,
   words, without side effects. */
#if TDO_PROBES

/* What the compiler takes for the size of what it copies, when it thinks about
   copying a function: the nop, not the lines of the note. */
#if defined(__clang__) || __GNUC__ >= 9
#define TDO_PROBE_ASM __asm__ __inline__ __volatile__
#else
#define TDO_PROBE_ASM __asm__ __volatile__
#endif

/* An argument is left where it is: a constant, a register, or memory. Given
   that choice clang stores into memory what it has in a register. */
#if defined(__clang__)
#define TDO_PROBE_ARG(word) "nr"((tdo_word_t)(word))
#else
#define TDO_PROBE_ARG(word) "nor"((tdo_word_t)(word))
#endif

/* PLACES describes the arguments: of each its bytes, and its operand. */
#define TDO_PROBE_NOTE(name, places, ...)                                     \
  TDO_PROBE_ASM("990: nop\n"                                                  \
                ".pushsection .note.stapsdt,\"\",\"note\"\n"                  \
                ".balign 4\n"                                                 \
                ".4byte 992f-991f, 994f-993f, 3\n"                            \
                "991: .asciz \"stapsdt\"\n"                                   \
                "992: .balign 4\n"                                            \
                "993: .8byte 990b\n"                                          \
                ".8byte _.stapsdt.base\n"                                     \
                ".8byte 0\n" /* NO-SEMAPHORE */                               \
                ".asciz \"testudo\"\n"                                        \
                ".asciz \"" #name "\"\n"                                      \
                ".asciz \"" places "\"\n"                                     \
                "994: .balign 4\n"                                            \
                ".popsection\n"                                               \
                ".ifndef _.stapsdt.base\n" /* BASE */                         \
                ".pushsection .stapsdt.base,\"aG\",\"progbits\","             \
                ".stapsdt.base,comdat\n"                                      \
                ".weak _.stapsdt.base\n"                                      \
                ".hidden _.stapsdt.base\n"                                    \
                "_.stapsdt.base: .space 1\n"                                  \
                ".size _.stapsdt.base, 1\n"                                   \
                ".popsection\n"                                               \
                ".endif\n" ::__VA_ARGS__)

#define TDO_PROBE_1(name, a) TDO_PROBE_NOTE(name, "8@%0", TDO_PROBE_ARG(a))
#define TDO_PROBE_2(name, a, b)                                               \
  TDO_PROBE_NOTE(name, "8@%0 8@%1", TDO_PROBE_ARG(a), TDO_PROBE_ARG(b))
#define TDO_PROBE_3(name, a, b, c)                                            \
  TDO_PROBE_NOTE(name, "8@%0 8@%1 8@%2", TDO_PROBE_ARG(a), TDO_PROBE_ARG(b),  \
                 TDO_PROBE_ARG(c))
#define TDO_PROBE_4(name, a, b, c, d)                                         \
  TDO_PROBE_NOTE(name, "8@%0 8@%1 8@%2 8@%3", TDO_PROBE_ARG(a),               \
                 TDO_PROBE_ARG(b), TDO_PROBE_ARG(c), TDO_PROBE_ARG(d))
#define TDO_PROBE_5(name, a, b, c, d, e)                                      \
  TDO_PROBE_NOTE(name, "8@%0 8@%1 8@%2 8@%3 8@%4", TDO_PROBE_ARG(a),          \
                 TDO_PROBE_ARG(b), TDO_PROBE_ARG(c), TDO_PROBE_ARG(d),        \
                 TDO_PROBE_ARG(e))
#define TDO_PROBE_SIXTH(a, b, c, d, e, f, ...) f
#define TDO_PROBE(name, ...)                                                  \
  TDO_PROBE_SIXTH(__VA_ARGS__, TDO_PROBE_5, TDO_PROBE_4, TDO_PROBE_3,         \
                  TDO_PROBE_2, TDO_PROBE_1, )                                 \
  (name, __VA_ARGS__)

#else
#define TDO_PROBE(name, ...) ((void)0)
#endif

#endif /* TDO_CODE_PROBE_H */
