/* Testudo: which implementation of the platform contracts is compiled. Every
   platform file is guarded by one of these, so that all files can always be
   compiled and exactly one defines each function.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_PLATFORM_H
#define TDO_CODE_PLATFORM_H

#if defined(__linux__) && !defined(CONFIG_PF_ANSI)
#define TDO_PF_LINUX   1 /* the files named *_linux.c */
#define TDO_PF_GENERIC 0
#else
#define TDO_PF_LINUX   0
#define TDO_PF_GENERIC 1 /* generic.c: one thread, no protection */
#endif

/* CONFIG_THREAD_SINGLE, and the generic platform, have no other threads. */
#if defined(CONFIG_THREAD_SINGLE) || TDO_PF_GENERIC
#define TDO_THREADS 0
#else
#define TDO_THREADS 1
#endif

/* CONFIG_POLL_NONE: collections only when the client asks for them, and no
   barriers, which the generic platform has not either. */
#if defined(CONFIG_POLL_NONE)
#define TDO_POLL 0
#else
#define TDO_POLL 1
#endif
#define TDO_BARRIERS (TDO_POLL && !TDO_PF_GENERIC)

/* CONFIG_PROBES_NONE: no static probes, which are written for these assemblers
   only, and for words of 64 bits. */
#if TDO_PF_LINUX && defined(__LP64__) &&                                      \
    (defined(__x86_64__) || defined(__aarch64__)) &&                          \
    !defined(CONFIG_PROBES_NONE)
#define TDO_PROBES 1
#else
#define TDO_PROBES 0
#endif

/* Every thread sees what another stored in the order in which it did: true of
   this processor, and of the checks of the program. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TDO_STORES_IN_ORDER 1
#else
#define TDO_STORES_IN_ORDER 0
#endif

#endif /* TDO_CODE_PLATFORM_H */
