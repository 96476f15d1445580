/* Testudo: which platform this is. Needs no other header.
   SPDX-License-Identifier: BSD-2-Clause

   MPS_PF_<CODE>      defined, empty: the platform
   MPS_PF_STRING      its code, as a string in lower case
   MPS_OS_<OS>, MPS_ARCH_<AR>, MPS_BUILD_<CT>
                      defined: the system, processor and compiler in the code
   MPS_T_WORD         unsigned integer type as wide as a pointer
   MPS_T_ULONGEST     widest unsigned integer type
   MPS_WORD_WIDTH     bits in a word
   MPS_WORD_SHIFT     its base-2 logarithm
   MPS_PF_ALIGN       natural alignment, in bytes

   A build that defines CONFIG_PF_STRING must define CONFIG_PF_<CODE> for the
   platform found here. */
#ifndef mpstd_h
#define mpstd_h

/* The system. */
#if defined(__linux__)
#define MPS_OS_LI
#elif defined(__FreeBSD__)
#define MPS_OS_FR
#elif defined(__APPLE__) && defined(__MACH__)
#define MPS_OS_XC
#elif defined(_WIN64) || defined(_WIN32)
#define MPS_OS_W3
#endif

/* The processor. With 64-bit registers and 32-bit pointers it is none of
   these. */
#if defined(MPS_OS_W3)
#if defined(_WIN64) && defined(_M_X64)
#define MPS_ARCH_I6
#elif !defined(_WIN64) && defined(_M_IX86)
#define MPS_ARCH_I3
#endif
#elif (defined(__x86_64) || defined(__x86_64__)) && !defined(__ILP32__)
#define MPS_ARCH_I6
#elif defined(__i386__)
#define MPS_ARCH_I3
#elif (defined(__aarch64__) || defined(__arm64__)) && !defined(__ILP32__)
#define MPS_ARCH_A6
#endif

/* The compiler. */
#if defined(MPS_OS_W3)
#if defined(__POCC__)
#define MPS_BUILD_PC
#elif defined(_MSC_VER)
#define MPS_BUILD_MV
#endif
#elif defined(__clang__)
#define MPS_BUILD_LL
#elif defined(__GNUC__)
#define MPS_BUILD_GC
#endif

/* The platform: a combination that is supported. */
#if defined(MPS_OS_LI) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_GC)
#define MPS_PF_LII6GC
#define MPS_PF_STRING "lii6gc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_LII6GC)
#error "the build is configured for another platform than lii6gc"
#endif

#elif defined(MPS_OS_LI) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_LL)
#define MPS_PF_LII6LL
#define MPS_PF_STRING "lii6ll"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_LII6LL)
#error "the build is configured for another platform than lii6ll"
#endif

#elif defined(MPS_OS_LI) && defined(MPS_ARCH_A6) && defined(MPS_BUILD_GC)
#define MPS_PF_LIA6GC
#define MPS_PF_STRING "lia6gc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_LIA6GC)
#error "the build is configured for another platform than lia6gc"
#endif

#elif defined(MPS_OS_LI) && defined(MPS_ARCH_A6) && defined(MPS_BUILD_LL)
#define MPS_PF_LIA6LL
#define MPS_PF_STRING "lia6ll"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_LIA6LL)
#error "the build is configured for another platform than lia6ll"
#endif

#elif defined(MPS_OS_LI) && defined(MPS_ARCH_I3) && defined(MPS_BUILD_GC)
#define MPS_PF_LII3GC
#define MPS_PF_STRING "lii3gc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_LII3GC)
#error "the build is configured for another platform than lii3gc"
#endif

#elif defined(MPS_OS_FR) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_GC)
#define MPS_PF_FRI6GC
#define MPS_PF_STRING "fri6gc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_FRI6GC)
#error "the build is configured for another platform than fri6gc"
#endif

#elif defined(MPS_OS_FR) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_LL)
#define MPS_PF_FRI6LL
#define MPS_PF_STRING "fri6ll"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_FRI6LL)
#error "the build is configured for another platform than fri6ll"
#endif

#elif defined(MPS_OS_FR) && defined(MPS_ARCH_I3) && defined(MPS_BUILD_GC)
#define MPS_PF_FRI3GC
#define MPS_PF_STRING "fri3gc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_FRI3GC)
#error "the build is configured for another platform than fri3gc"
#endif

#elif defined(MPS_OS_FR) && defined(MPS_ARCH_I3) && defined(MPS_BUILD_LL)
#define MPS_PF_FRI3LL
#define MPS_PF_STRING "fri3ll"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_FRI3LL)
#error "the build is configured for another platform than fri3ll"
#endif

#elif defined(MPS_OS_XC) && defined(MPS_ARCH_A6) && defined(MPS_BUILD_LL)
#define MPS_PF_XCA6LL
#define MPS_PF_STRING "xca6ll"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_XCA6LL)
#error "the build is configured for another platform than xca6ll"
#endif

#elif defined(MPS_OS_XC) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_LL)
#define MPS_PF_XCI6LL
#define MPS_PF_STRING "xci6ll"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_XCI6LL)
#error "the build is configured for another platform than xci6ll"
#endif

#elif defined(MPS_OS_XC) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_GC)
#define MPS_PF_XCI6GC
#define MPS_PF_STRING "xci6gc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_XCI6GC)
#error "the build is configured for another platform than xci6gc"
#endif

#elif defined(MPS_OS_XC) && defined(MPS_ARCH_I3) && defined(MPS_BUILD_LL)
#define MPS_PF_XCI3LL
#define MPS_PF_STRING "xci3ll"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_XCI3LL)
#error "the build is configured for another platform than xci3ll"
#endif

#elif defined(MPS_OS_XC) && defined(MPS_ARCH_I3) && defined(MPS_BUILD_GC)
#define MPS_PF_XCI3GC
#define MPS_PF_STRING "xci3gc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_XCI3GC)
#error "the build is configured for another platform than xci3gc"
#endif

#elif defined(MPS_OS_W3) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_MV)
#define MPS_PF_W3I6MV
#define MPS_PF_STRING "w3i6mv"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_W3I6MV)
#error "the build is configured for another platform than w3i6mv"
#endif

#elif defined(MPS_OS_W3) && defined(MPS_ARCH_I6) && defined(MPS_BUILD_PC)
#define MPS_PF_W3I6PC
#define MPS_PF_STRING "w3i6pc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_W3I6PC)
#error "the build is configured for another platform than w3i6pc"
#endif

#elif defined(MPS_OS_W3) && defined(MPS_ARCH_I3) && defined(MPS_BUILD_MV)
#define MPS_PF_W3I3MV
#define MPS_PF_STRING "w3i3mv"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_W3I3MV)
#error "the build is configured for another platform than w3i3mv"
#endif

#elif defined(MPS_OS_W3) && defined(MPS_ARCH_I3) && defined(MPS_BUILD_PC)
#define MPS_PF_W3I3PC
#define MPS_PF_STRING "w3i3pc"
#if defined(CONFIG_PF_STRING) && !defined(CONFIG_PF_W3I3PC)
#error "the build is configured for another platform than w3i3pc"
#endif

#else
#error "this platform is not known"
#endif

/* Words. */
#if defined(MPS_OS_W3) && defined(MPS_ARCH_I6)
#define MPS_T_WORD     unsigned __int64
#define MPS_WORD_WIDTH 64
#define MPS_WORD_SHIFT 6
#define MPS_PF_ALIGN   16
#elif defined(MPS_ARCH_I3)
#define MPS_T_WORD     unsigned long
#define MPS_WORD_WIDTH 32
#define MPS_WORD_SHIFT 5
#if defined(MPS_OS_W3)
#define MPS_PF_ALIGN 8
#else
#define MPS_PF_ALIGN 4
#endif
#else
#define MPS_T_WORD     unsigned long
#define MPS_WORD_WIDTH 64
#define MPS_WORD_SHIFT 6
#define MPS_PF_ALIGN   8
#endif
#define MPS_T_ULONGEST MPS_T_WORD

#endif /* mpstd_h */
