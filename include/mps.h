/* Testudo: the client interface. SPDX-License-Identifier: BSD-2-Clause

   Words used in the comments below:

   memory codes   MPS_RES_RESOURCE, MPS_RES_MEMORY, MPS_RES_COMMIT_LIMIT.
   locked         takes the arena's lock: any thread may call it at any time,
                  but no callback of the same arena may. A function is locked
                  unless its comment says otherwise.
   query          takes no lock and may be called from callbacks.
   one at a time  works on an object that one thread may use at a time; the
                  client serialises. Not for callbacks.
   client bug     calls mps_lib_assert_fail (mpslib.h).

   Sizes are bytes. Out-parameters end in _o and are written on success only;
   in/out parameters end in _io. Structures passed by pointer are copied. A
   function with an argument list removes from it the arguments it takes.
   Null, destroyed and foreign handles are client bugs; but of an arena only
   null and what is none is told, since its memory goes with it. */
#ifndef mps_h
#define mps_h

#include <limits.h>
#include <stdarg.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Brackets that make several statements one. */
#define MPS_BEGIN do {
#define MPS_END   } while (0)

/* ---- Scalars ---- */

#if defined(_WIN64)
typedef unsigned __int64 mps_word_t; /* as wide as a pointer */
#else
typedef unsigned long mps_word_t; /* as wide as a pointer */
#endif
typedef void *mps_addr_t;            /* managed address; null is no block */
typedef size_t mps_align_t;          /* a power of two */
typedef int mps_bool_t;              /* given: zero or not; taken: 0 or 1 */
typedef int mps_res_t;               /* result code */
typedef unsigned mps_rank_t;         /* from the mps_rank_ functions */
typedef unsigned mps_rm_t;           /* set of MPS_RM_ bits */
typedef unsigned mps_message_type_t; /* from the mps_message_type_ macros */
typedef mps_word_t mps_clock_t;      /* time, in 1/mps_clocks_per_sec() s */
typedef mps_word_t mps_label_t;      /* from mps_telemetry_intern */
typedef void (*mps_fun_t)(void);     /* any function, cast */

/* Result codes. R(X, NAME, text) is invoked for each in order of value. Any
   function that has a result may give any of them. */
#define _mps_RES_ENUM(R, X)                                                   \
  R(X, OK, "success")                                                         \
  R(X, FAIL, "failure of no other kind")                                      \
  R(X, RESOURCE, "out of a resource, such as address space")                  \
  R(X, MEMORY, "the system has no memory to give")                            \
  R(X, LIMIT, "an internal limit or state prevents this")                     \
  R(X, UNIMPL, "not provided by this class")                                  \
  R(X, IO, "output failed")                                                   \
  R(X, COMMIT_LIMIT, "the arena's commit limit prevents this")                \
  R(X, PARAM, "a parameter makes this impossible")
#define _mps_RES_CONSTANT(X, name, text) MPS_RES_##name,
enum {
  _mps_RES_ENUM(_mps_RES_CONSTANT, ~) _mps_RES_COUNT /* number of codes */
};

/* ---- Handles: pointers to structures that are the library's own ---- */

typedef struct mps_arena_s *mps_arena_t;
typedef struct mps_arena_class_s *mps_arena_class_t;
typedef struct mps_pool_s *mps_pool_t;
typedef struct mps_pool_class_s *mps_pool_class_t;
typedef mps_pool_class_t mps_class_t; /* deprecated name */
typedef struct mps_chain_s *mps_chain_t;
typedef struct mps_fmt_s *mps_fmt_t;
typedef struct mps_root_s *mps_root_t;
typedef struct mps_thr_s *mps_thr_t;
typedef struct mps_message_s *mps_message_t;
typedef struct mps_alloc_pattern_s *mps_alloc_pattern_t;
typedef struct mps_frame_s *mps_frame_t;
typedef struct mps_transform_s *mps_transform_t;
typedef const struct mps_key_s *mps_key_t;

/* ---- Types of the client's functions ----

   They run at any moment, in a signal handler too, with other threads
   stopped: they may not lock, block, allocate, throw or jump out, and may
   touch no managed object but those they are given. They may fix (below)
   and call queries. */

typedef struct mps_ss_s *mps_ss_t; /* state of one scan */

/* Scanners fix every reference in what they are given and return at once the
   first code from fixing that is not MPS_RES_OK. Areas are [base, limit). */
typedef mps_res_t (*mps_root_scan_t)(mps_ss_t ss, void *p, size_t s);
typedef mps_res_t (*mps_area_scan_t)(mps_ss_t ss, void *base, void *limit,
                                     void *closure);
typedef mps_res_t (*mps_reg_scan_t)(mps_ss_t ss, mps_thr_t thr, void *p,
                                    size_t s);

/* Format methods; addresses are client pointers (base plus header size).
   Scan: fix whole adjacent objects. Skip: the next object. Copy: never
   called. Fwd: make `from` a forwarding object to `to`. Isfwd: where a
   forwarding object points, or null. Pad: make a padding object of size
   bytes at a base address, header included. Class: a name for the type. */
typedef mps_res_t (*mps_fmt_scan_t)(mps_ss_t ss, mps_addr_t base,
                                    mps_addr_t limit);
typedef mps_addr_t (*mps_fmt_skip_t)(mps_addr_t obj);
typedef void (*mps_fmt_copy_t)(mps_addr_t from, mps_addr_t to);
typedef void (*mps_fmt_fwd_t)(mps_addr_t from, mps_addr_t to);
typedef mps_addr_t (*mps_fmt_isfwd_t)(mps_addr_t obj);
typedef void (*mps_fmt_pad_t)(mps_addr_t base, size_t size);
typedef mps_addr_t (*mps_fmt_class_t)(mps_addr_t obj);

/* Called right after address space [base, base + size) was acquired, and
   just before it is given back; every pair matches. A block may lie in two
   that are neighbours. No library calls. */
typedef void (*mps_arena_extended_t)(mps_arena_t arena, void *base,
                                     size_t size);
typedef void (*mps_arena_contracted_t)(mps_arena_t arena, void *base,
                                       size_t size);

/* Called for each object, and for each reference in a root, of a walk. */
typedef void (*mps_formatted_objects_stepper_t)(mps_addr_t obj, mps_fmt_t fmt,
                                                mps_pool_t pool, void *p,
                                                size_t s);
typedef void (*mps_roots_stepper_t)(mps_addr_t *ref, mps_root_t root, void *p,
                                    size_t s);

/* ---- Structures that clients fill in or embed ---- */

/* An allocation point: see mps_reserve for who writes what. Compilers
   generate code against the first three fields. */
typedef struct mps_ap_s {
  mps_addr_t init;  /* end of the committed memory */
  mps_addr_t alloc; /* end of the reserved memory */
  mps_addr_t limit; /* end of the available memory; null when trapped */
  void *_frame;     /* private, like the next */
  void *_private;
} mps_ap_s, *mps_ap_t;

/* A location dependency: private, but may be embedded anywhere, in managed
   objects too, and copied bit by bit. mps_ld_reset comes first. */
typedef struct mps_ld_s {
  mps_word_t _epoch;
  mps_word_t _zones;
} mps_ld_s, *mps_ld_t;

/* Private: what the inline part of fixing reads and writes. */
typedef struct mps_ss_s {
  mps_word_t _base; /* first address of the arena's window */
  mps_word_t _size; /* bytes in the window; 0 makes MPS_FIX1 always false */
  const unsigned char *_zones; /* a byte a zone: bit 7 (0x80) = white, being
                                  collected; others = ages that live there */
  unsigned _shift;             /* log2 of the bytes in a zone */
  unsigned _seen;              /* ages referred to by what was scanned */
} mps_ss_s;

/* What the tagged area scanners look for: words with (w & mask) == pattern. */
typedef struct mps_scan_tag_s {
  mps_word_t mask;
  mps_word_t pattern;
} mps_scan_tag_s, *mps_scan_tag_t;

/* A generation of a chain. */
typedef struct mps_gen_param_s {
  size_t mps_capacity;  /* kilobytes (1024 bytes) that make it due; > 0 */
  double mps_mortality; /* 0.0 to 1.0; accepted, and not used: capacities go
                           by what is measured */
} mps_gen_param_s;

/* A class of blocks in a segregated allocation cache. */
typedef struct mps_sac_class_s {
  size_t mps_block_size;   /* a multiple of the pool's alignment */
  size_t mps_cached_count; /* blocks to keep; 0: none is cached */
  unsigned mps_frequency;  /* relative weight of requests; not used */
} mps_sac_class_s;
#define mps_sac_classes_s mps_sac_class_s /* deprecated name */

/* What debug pools write around blocks and over free memory: the template,
   repeated. A size of 0 turns it off. */
typedef struct mps_pool_debug_option_s {
  const void *fence_template;
  size_t fence_size;
  const void *free_template;
  size_t free_size;
} mps_pool_debug_option_s;

/* Formats of the deprecated constructors. */
typedef struct mps_fmt_A_s {
  mps_align_t align;
  mps_fmt_scan_t scan;
  mps_fmt_skip_t skip;
  mps_fmt_copy_t copy; /* ignored */
  mps_fmt_fwd_t fwd;
  mps_fmt_isfwd_t isfwd;
  mps_fmt_pad_t pad;
} mps_fmt_A_s, *mps_fmt_A_t;

typedef struct mps_fmt_B_s {
  mps_align_t align;
  mps_fmt_scan_t scan;
  mps_fmt_skip_t skip;
  mps_fmt_copy_t copy; /* ignored */
  mps_fmt_fwd_t fwd;
  mps_fmt_isfwd_t isfwd;
  mps_fmt_pad_t pad;
  mps_fmt_class_t mps_class;
} mps_fmt_B_s, *mps_fmt_B_t;

typedef struct mps_fmt_auto_header_s {
  mps_align_t align;
  mps_fmt_scan_t scan;
  mps_fmt_skip_t skip;
  mps_fmt_fwd_t fwd;
  mps_fmt_isfwd_t isfwd;
  mps_fmt_pad_t pad;
  size_t mps_headerSize; /* bytes from the base to the client pointer */
} mps_fmt_auto_header_s;

typedef struct mps_fmt_fixed_s {
  mps_align_t align;
  mps_fmt_scan_t scan;
  mps_fmt_fwd_t fwd;
  mps_fmt_isfwd_t isfwd;
  mps_fmt_pad_t pad;
} mps_fmt_fixed_s;

/* ---- Argument lists ----

   An array of mps_arg_s that ends with MPS_KEY_ARGS_END (after 256 elements at
   most; what goes on longer is taken to have no end). The function that
   gets it removes what it understands and leaves the rest; of equal keys it
   takes the first. A list without end, a null key or a missing required key
   is a client bug. */

typedef struct mps_arg_s {
  mps_key_t key;
  union {
    mps_bool_t b;
    char c;
    const char *string;
    int i;
    unsigned u;
    long l;
    unsigned long ul;
    float f;
    double d;
    size_t size;
    mps_fun_t fun;
    mps_addr_t addr;
    mps_fmt_t format;
    mps_chain_t chain;
    struct mps_pool_debug_option_s *pool_debug_options;
    mps_addr_t (*addr_method)(mps_addr_t);
    mps_align_t align;
    mps_word_t count;
    void *p;
    mps_rank_t rank;
    mps_fmt_scan_t fmt_scan;
    mps_fmt_skip_t fmt_skip;
    mps_fmt_fwd_t fmt_fwd;
    mps_fmt_isfwd_t fmt_isfwd;
    mps_fmt_pad_t fmt_pad;
    mps_fmt_class_t fmt_class;
    mps_pool_t pool;
  } val;
} mps_arg_s;

/* The empty list, for all threads; nobody writes to it. */
extern mps_arg_s mps_args_none[];

/* Elements of a list made by the macros, its end included. */
#define MPS_ARGS_MAX 32

/* MPS_ARGS_BEGIN(v) { MPS_ARGS_ADD(v, KEY, value); ... } MPS_ARGS_END(v);
   declares the list v in a block of its own. KEY is written as a name that
   begins with MPS_KEY_; its member of the union is KEY_FIELD. The list may
   be passed after any addition. At most MPS_ARGS_MAX - 1 additions, none
   after MPS_ARGS_DONE (deprecated): more are client bugs and left out. */
#define MPS_ARGS_BEGIN(v) _mps_ARGS_BEGIN(v)
#define MPS_ARGS_ADD(v, key, value) _mps_ARGS_ADD(v, key, key##_FIELD, value)
#define MPS_ARGS_ADD_FIELD(v, key, field, value)                              \
  _mps_ARGS_ADD(v, key, field, value)
#define MPS_ARGS_DONE(v) _mps_ARGS_DONE(v)
#define MPS_ARGS_END(v)                                                       \
  }                                                                           \
  MPS_END

/* Private: v names the list, _mps_##v##_n counts its arguments. */
#define _mps_ARGS_BEGIN(v)                                                    \
  MPS_BEGIN                                                                   \
    mps_arg_s v[MPS_ARGS_MAX];                                                \
    unsigned _mps_##v##_n = 0;                                                \
    v[0].key = MPS_KEY_ARGS_END;                                              \
    (void)_mps_##v##_n;                                                       \
    {
#define _mps_ARGS_ADD(v, the_key, field, value)                               \
  MPS_BEGIN                                                                   \
    if (_mps_##v##_n < MPS_ARGS_MAX - 1) {                                    \
      v[_mps_##v##_n].key = (the_key);                                        \
      v[_mps_##v##_n].val.field = (value);                                    \
      v[++_mps_##v##_n].key = MPS_KEY_ARGS_END;                               \
    } else {                                                                  \
      _mps_args_full();                                                       \
    }                                                                         \
  MPS_END
#define _mps_ARGS_DONE(v)                                                     \
  MPS_BEGIN                                                                   \
    v[_mps_##v##_n].key = MPS_KEY_ARGS_END;                                   \
    _mps_##v##_n = MPS_ARGS_MAX - 1;                                          \
  MPS_END

/* Private: reports an addition to a full or closed list. Takes no lock. */
void _mps_args_full(void);

/* A key is the address of a constant, so keys compare by address. */
extern const struct mps_key_s _mps_key_ARGS_END;
#define MPS_KEY_ARGS_END (&_mps_key_ARGS_END) /* ends a list; no value */

/* Arenas: address space, or bytes of the client's block. */
extern const struct mps_key_s _mps_key_ARENA_SIZE;
#define MPS_KEY_ARENA_SIZE       (&_mps_key_ARENA_SIZE)
#define MPS_KEY_ARENA_SIZE_FIELD size
/* Arenas: unit of allocation in bytes, a power of two. */
extern const struct mps_key_s _mps_key_ARENA_GRAIN_SIZE;
#define MPS_KEY_ARENA_GRAIN_SIZE       (&_mps_key_ARENA_GRAIN_SIZE)
#define MPS_KEY_ARENA_GRAIN_SIZE_FIELD size
/* Arenas: whether to place blocks by generation. Accepted, and ignored. */
extern const struct mps_key_s _mps_key_ARENA_ZONED;
#define MPS_KEY_ARENA_ZONED       (&_mps_key_ARENA_ZONED)
#define MPS_KEY_ARENA_ZONED_FIELD b
/* Virtual memory arenas: a mps_arena_extended_t, cast to mps_fun_t. */
extern const struct mps_key_s _mps_key_ARENA_EXTENDED;
#define MPS_KEY_ARENA_EXTENDED       (&_mps_key_ARENA_EXTENDED)
#define MPS_KEY_ARENA_EXTENDED_FIELD fun
/* Virtual memory arenas: a mps_arena_contracted_t, cast to mps_fun_t. */
extern const struct mps_key_s _mps_key_ARENA_CONTRACTED;
#define MPS_KEY_ARENA_CONTRACTED       (&_mps_key_ARENA_CONTRACTED)
#define MPS_KEY_ARENA_CONTRACTED_FIELD fun
/* Arenas: most bytes of memory to use; no limit by default. */
extern const struct mps_key_s _mps_key_COMMIT_LIMIT;
#define MPS_KEY_COMMIT_LIMIT       (&_mps_key_COMMIT_LIMIT)
#define MPS_KEY_COMMIT_LIMIT_FIELD size
/* Arenas and MVFF: part of the memory that may be spare, 0.0 to 1.0. */
extern const struct mps_key_s _mps_key_SPARE;
#define MPS_KEY_SPARE       (&_mps_key_SPARE)
#define MPS_KEY_SPARE_FIELD d
/* Arenas, deprecated: the same in bytes. */
extern const struct mps_key_s _mps_key_SPARE_COMMIT_LIMIT;
#define MPS_KEY_SPARE_COMMIT_LIMIT       (&_mps_key_SPARE_COMMIT_LIMIT)
#define MPS_KEY_SPARE_COMMIT_LIMIT_FIELD size
/* Arenas: longest pause in seconds, 0.0 to infinity; default 0.1. */
extern const struct mps_key_s _mps_key_PAUSE_TIME;
#define MPS_KEY_PAUSE_TIME       (&_mps_key_PAUSE_TIME)
#define MPS_KEY_PAUSE_TIME_FIELD d
/* Virtual memory arenas on Windows: take address space from the top. */
extern const struct mps_key_s _mps_key_VMW3_TOP_DOWN;
#define MPS_KEY_VMW3_TOP_DOWN       (&_mps_key_VMW3_TOP_DOWN)
#define MPS_KEY_VMW3_TOP_DOWN_FIELD b

/* Formats: alignment of objects in bytes, a power of two. */
extern const struct mps_key_s _mps_key_FMT_ALIGN;
#define MPS_KEY_FMT_ALIGN       (&_mps_key_FMT_ALIGN)
#define MPS_KEY_FMT_ALIGN_FIELD align
/* Formats: bytes from the base of an object to the client pointer. */
extern const struct mps_key_s _mps_key_FMT_HEADER_SIZE;
#define MPS_KEY_FMT_HEADER_SIZE       (&_mps_key_FMT_HEADER_SIZE)
#define MPS_KEY_FMT_HEADER_SIZE_FIELD size
/* Formats: the methods, each optional until a pool has to call it. */
extern const struct mps_key_s _mps_key_FMT_SCAN;
#define MPS_KEY_FMT_SCAN       (&_mps_key_FMT_SCAN)
#define MPS_KEY_FMT_SCAN_FIELD fmt_scan
extern const struct mps_key_s _mps_key_FMT_SKIP;
#define MPS_KEY_FMT_SKIP       (&_mps_key_FMT_SKIP)
#define MPS_KEY_FMT_SKIP_FIELD fmt_skip
extern const struct mps_key_s _mps_key_FMT_FWD;
#define MPS_KEY_FMT_FWD       (&_mps_key_FMT_FWD)
#define MPS_KEY_FMT_FWD_FIELD fmt_fwd
extern const struct mps_key_s _mps_key_FMT_ISFWD;
#define MPS_KEY_FMT_ISFWD       (&_mps_key_FMT_ISFWD)
#define MPS_KEY_FMT_ISFWD_FIELD fmt_isfwd
extern const struct mps_key_s _mps_key_FMT_PAD;
#define MPS_KEY_FMT_PAD       (&_mps_key_FMT_PAD)
#define MPS_KEY_FMT_PAD_FIELD fmt_pad
extern const struct mps_key_s _mps_key_FMT_CLASS;
#define MPS_KEY_FMT_CLASS       (&_mps_key_FMT_CLASS)
#define MPS_KEY_FMT_CLASS_FIELD fmt_class

/* Pools of formatted objects: the format; required. */
extern const struct mps_key_s _mps_key_FORMAT;
#define MPS_KEY_FORMAT       (&_mps_key_FORMAT)
#define MPS_KEY_FORMAT_FIELD format
/* Automatic pools: the generation chain. */
extern const struct mps_key_s _mps_key_CHAIN;
#define MPS_KEY_CHAIN       (&_mps_key_CHAIN)
#define MPS_KEY_CHAIN_FIELD chain
/* AMS, AWL and LO pools, and allocation points of AMC: index of the
   generation to allocate in; the number of generations means the top one. */
extern const struct mps_key_s _mps_key_GEN;
#define MPS_KEY_GEN       (&_mps_key_GEN)
#define MPS_KEY_GEN_FIELD u
/* AMC, AMCZ: whether ambiguous references into a block keep it. */
extern const struct mps_key_s _mps_key_INTERIOR;
#define MPS_KEY_INTERIOR       (&_mps_key_INTERIOR)
#define MPS_KEY_INTERIOR_FIELD b
/* AMC, AMCZ, MFS, MVFF: least bytes to take from the arena at a time. */
extern const struct mps_key_s _mps_key_EXTEND_BY;
#define MPS_KEY_EXTEND_BY       (&_mps_key_EXTEND_BY)
#define MPS_KEY_EXTEND_BY_FIELD size
/* AMC, AMCZ: bytes from which an object gets memory of its own. */
extern const struct mps_key_s _mps_key_LARGE_SIZE;
#define MPS_KEY_LARGE_SIZE       (&_mps_key_LARGE_SIZE)
#define MPS_KEY_LARGE_SIZE_FIELD size
/* MVT: mean, smallest and largest expected block in bytes; hints. MVFF takes
   the first, and ignores it. */
extern const struct mps_key_s _mps_key_MEAN_SIZE;
#define MPS_KEY_MEAN_SIZE       (&_mps_key_MEAN_SIZE)
#define MPS_KEY_MEAN_SIZE_FIELD size
extern const struct mps_key_s _mps_key_MIN_SIZE;
#define MPS_KEY_MIN_SIZE       (&_mps_key_MIN_SIZE)
#define MPS_KEY_MIN_SIZE_FIELD size
extern const struct mps_key_s _mps_key_MAX_SIZE;
#define MPS_KEY_MAX_SIZE       (&_mps_key_MAX_SIZE)
#define MPS_KEY_MAX_SIZE_FIELD size
/* MVFF, MVT: alignment of blocks, from a pointer's size to a grain. */
extern const struct mps_key_s _mps_key_ALIGN;
#define MPS_KEY_ALIGN       (&_mps_key_ALIGN)
#define MPS_KEY_ALIGN_FIELD align
/* Debug pools: a mps_pool_debug_option_s. */
extern const struct mps_key_s _mps_key_POOL_DEBUG_OPTIONS;
#define MPS_KEY_POOL_DEBUG_OPTIONS       (&_mps_key_POOL_DEBUG_OPTIONS)
#define MPS_KEY_POOL_DEBUG_OPTIONS_FIELD pool_debug_options

/* Allocation points of AMS, AWL and SNC: rank of the references. */
extern const struct mps_key_s _mps_key_RANK;
#define MPS_KEY_RANK       (&_mps_key_RANK)
#define MPS_KEY_RANK_FIELD rank
/* Allocation points of AMC, AMCZ: true if blocks make no generation due. */
extern const struct mps_key_s _mps_key_AP_HASH_ARRAYS;
#define MPS_KEY_AP_HASH_ARRAYS       (&_mps_key_AP_HASH_ARRAYS)
#define MPS_KEY_AP_HASH_ARRAYS_FIELD b

/* ---- Arenas ---- */

/* Make an arena, unclamped. The forms with variable arguments are
   deprecated. Memory codes. Needs no lock; concurrent calls are fine. */
mps_res_t mps_arena_create_k(mps_arena_t *arena_o, mps_arena_class_t cls,
                             mps_arg_s args[]);
mps_res_t mps_arena_create(mps_arena_t *arena_o, mps_arena_class_t cls, ...);
mps_res_t mps_arena_create_v(mps_arena_t *arena_o, mps_arena_class_t cls,
                             va_list args);

/* Give everything back. Pools, formats, roots, chains and threads left are
   client bugs; messages and transforms are not. By one thread, when no
   other uses the arena. */
void mps_arena_destroy(mps_arena_t arena);

/* Add the block [base, base + size) to a client arena. Memory codes;
   MPS_RES_MEMORY if it cannot hold the tables of the whole arena, which move
   into it when there is no more room in them: 40 bytes a grain. Locked. */
mps_res_t mps_arena_extend(mps_arena_t arena, mps_addr_t base, size_t size);

/* Bytes: of address space; of memory in use by the arena; the part of that
   which is free; and the most that may be in use. Locked. */
size_t mps_arena_reserved(mps_arena_t arena);
size_t mps_arena_committed(mps_arena_t arena);
size_t mps_arena_spare_committed(mps_arena_t arena);
size_t mps_arena_commit_limit(mps_arena_t arena);

/* Set the commit limit in bytes, giving back spare memory if need be;
   MPS_RES_FAIL, and no change, if more than that is in use. Locked. */
mps_res_t mps_arena_commit_limit_set(mps_arena_t arena, size_t limit);

/* The part of the committed memory that may be spare, 0.0 to 1.0. Setting
   it returns what is over at once. Locked. */
double mps_arena_spare(mps_arena_t arena);
void mps_arena_spare_set(mps_arena_t arena, double spare);

/* Deprecated: the same in bytes. Locked. */
size_t mps_arena_spare_commit_limit(mps_arena_t arena);
void mps_arena_spare_commit_limit_set(mps_arena_t arena, size_t limit);

/* How long one call may hold up the client, in seconds; 0.0 to infinity.
   Locked. */
double mps_arena_pause_time(mps_arena_t arena);
void mps_arena_pause_time_set(mps_arena_t arena, double seconds);

/* The number of flips so far in which objects may have moved. Query. */
mps_word_t mps_collections(mps_arena_t arena);

/* Clamp: nothing moves or dies until release. Park: the same, after
   finishing a collection in progress. Release: collect again when due. All
   may be repeated. Locked. */
void mps_arena_clamp(mps_arena_t arena);
void mps_arena_park(mps_arena_t arena);
void mps_arena_release(mps_arena_t arena);

/* For debuggers and assertion handlers: drop all protection and the lock
   that this thread holds. Only introspection works afterwards. May be called
   from callbacks, by the thread that is inside. */
void mps_arena_postmortem(mps_arena_t arena);

/* Collect everything and leave the arena parked; or unclamp it and start
   such a collection. MPS_RES_FAIL if there was nothing to collect. Locked. */
mps_res_t mps_arena_collect(mps_arena_t arena);
mps_res_t mps_arena_start_collect(mps_arena_t arena);

/* Work on collection for about interval seconds; start a full one only if it
   is expected to take at most multiplier * interval. Whether there was work:
   with a multiplier that allows one, always. Leaves a parked arena clamped.
   Negative numbers are client bugs. Locked. */
mps_bool_t mps_arena_step(mps_arena_t arena, double interval,
                          double multiplier);

/* ---- Introspection ---- */

/* Whether some thread is inside the arena. Query. */
mps_bool_t mps_arena_busy(mps_arena_t arena);

/* Whether addr is in memory that the arena gave out. Query. */
mps_bool_t mps_arena_has_addr(mps_arena_t arena, mps_addr_t addr);

/* The pool, or the format of the pool, that addr belongs to; false if there
   is none. Query. */
mps_bool_t mps_addr_pool(mps_pool_t *pool_o, mps_arena_t arena,
                         mps_addr_t addr);
mps_bool_t mps_addr_fmt(mps_fmt_t *fmt_o, mps_arena_t arena, mps_addr_t addr);

/* The client pointer of the AMC or AMCZ object that contains addr;
   MPS_RES_FAIL if there is none, MPS_RES_UNIMPL in other pools. Locked. */
mps_res_t mps_addr_object(mps_addr_t *obj_o, mps_arena_t arena,
                          mps_addr_t addr);

/* ---- Chains and formats ---- */

/* Make a chain of gen_count > 0 generations, any number. A generation is
   collected when more than its capacity was made in it; more than that where
   collecting it takes much of the time, or is mostly other work (manual,
   "Tuning"). Memory codes. Locked. */
mps_res_t mps_chain_create(mps_chain_t *chain_o, mps_arena_t arena,
                           size_t gen_count, mps_gen_param_s params[]);

/* Unmake a chain that no pool uses. Locked. */
void mps_chain_destroy(mps_chain_t chain);

/* Make a format; all but the first form are deprecated. Memory codes.
   Locked. */
mps_res_t mps_fmt_create_k(mps_fmt_t *fmt_o, mps_arena_t arena,
                           mps_arg_s args[]);
mps_res_t mps_fmt_create_A(mps_fmt_t *fmt_o, mps_arena_t arena,
                           mps_fmt_A_s *fmt_A);
mps_res_t mps_fmt_create_B(mps_fmt_t *fmt_o, mps_arena_t arena,
                           mps_fmt_B_s *fmt_B);
mps_res_t mps_fmt_create_auto_header(mps_fmt_t *fmt_o, mps_arena_t arena,
                                     mps_fmt_auto_header_s *fmt);
mps_res_t mps_fmt_create_fixed(mps_fmt_t *fmt_o, mps_arena_t arena,
                               mps_fmt_fixed_s *fmt_fixed);

/* Unmake a format that no pool uses. Locked. */
void mps_fmt_destroy(mps_fmt_t fmt);

/* ---- Pools ---- */

/* Make a pool; the classes have headers of their own. The forms with
   variable arguments are deprecated. Memory codes. Locked. */
mps_res_t mps_pool_create_k(mps_pool_t *pool_o, mps_arena_t arena,
                            mps_pool_class_t cls, mps_arg_s args[]);
mps_res_t mps_pool_create(mps_pool_t *pool_o, mps_arena_t arena,
                          mps_pool_class_t cls, ...);
mps_res_t mps_pool_create_v(mps_pool_t *pool_o, mps_arena_t arena,
                            mps_pool_class_t cls, va_list args);

/* Unmake a pool and its blocks; its allocation points and caches go first.
   Locked. */
void mps_pool_destroy(mps_pool_t pool);

/* Bytes obtained for blocks, and the part of them not in use. Locked. */
size_t mps_pool_total_size(mps_pool_t pool);
size_t mps_pool_free_size(mps_pool_t pool);

/* Allocate size > 0 bytes, not cleared, in a MFS or MVFF pool. Memory codes,
   after collecting. Locked. */
mps_res_t mps_alloc(mps_addr_t *p_o, mps_pool_t pool, size_t size);

/* Free a block of size bytes, or in MVFF and MVT an aligned part of one.
   Needs no memory. Locked. */
void mps_free(mps_pool_t pool, mps_addr_t p, size_t size);

/* Debug pools: check what surrounds the blocks, and the free memory; damage
   is a client bug. Nothing in other pools. Locked. */
void mps_pool_check_fenceposts(mps_pool_t pool);
void mps_pool_check_free_space(mps_pool_t pool);

/* ---- Allocation points ---- */

/* Make an allocation point, empty. The forms with variable arguments are
   deprecated. Memory codes; MPS_RES_PARAM for a rank that the pool does not
   support. Locked. */
mps_res_t mps_ap_create_k(mps_ap_t *ap_o, mps_pool_t pool, mps_arg_s args[]);
mps_res_t mps_ap_create(mps_ap_t *ap_o, mps_pool_t pool, ...);
mps_res_t mps_ap_create_v(mps_ap_t *ap_o, mps_pool_t pool, va_list args);

/* Unmake an allocation point with nothing reserved. Locked. */
void mps_ap_destroy(mps_ap_t ap);

/* Reserve a block of size bytes (a multiple of the pool's alignment) for the
   client to initialise. Memory codes, after collecting. One at a time.
   Function and macro; the macro evaluates its arguments repeatedly. */
mps_res_t mps_reserve(mps_addr_t *p_o, mps_ap_t ap, size_t size);

/* Make the reserved block live: true; or, when a collection invalidated it,
   false: reserve again. One at a time. Function and macro, as above. */
mps_bool_t mps_commit(mps_ap_t ap, mps_addr_t p, size_t size);

/* The slow paths of these two, for compilers that inline the fast ones.
   Fill reserves too. Trip is called after init = alloc when limit is null;
   the store to init comes before the load of limit. One at a time. */
mps_res_t mps_ap_fill(mps_addr_t *p_o, mps_ap_t ap, size_t size);
mps_bool_t mps_ap_trip(mps_ap_t ap, mps_addr_t p, size_t size);

#if defined(__GNUC__)

/* Private. Threads are stopped by signals, so it is enough that the compiler
   keeps the order: reserved before initialised, initialised before init is
   moved, init moved before limit is read. The result may be stored in a
   variable of the client's own pointer type. */
#define _mps_ORDER() __atomic_signal_fence(__ATOMIC_SEQ_CST)
typedef mps_addr_t _mps_any_addr_t __attribute__((__may_alias__));
#define _mps_AP_END(ap, size)                                                 \
  ((mps_word_t)(ap)->alloc + (mps_word_t)(size))

#define mps_reserve(p_o, ap, size)                                            \
  (_mps_AP_END(ap, size) > (mps_word_t)(ap)->alloc &&                         \
           _mps_AP_END(ap, size) <= (mps_word_t)(ap)->limit                   \
       ? ((ap)->alloc = (mps_addr_t)((char *)(ap)->alloc + (size)),           \
          _mps_ORDER(), *(_mps_any_addr_t *)(p_o) = (ap)->init,               \
          (mps_res_t)MPS_RES_OK)                                              \
       : mps_ap_fill(p_o, ap, size))

#define mps_commit(ap, p, size)                                               \
  (_mps_ORDER(), (ap)->init = (ap)->alloc, _mps_ORDER(),                      \
   (ap)->limit ? (mps_bool_t)1 : mps_ap_trip(ap, p, size))

#else
typedef mps_addr_t _mps_any_addr_t;
#endif

/* Statement: mps_reserve of p, a variable of type mps_addr_t. */
#define MPS_RESERVE_BLOCK(res, p, ap, size)                                   \
  MPS_BEGIN                                                                   \
    (res) = mps_reserve(&(p), ap, size);                                      \
  MPS_END

/* Push marks a frame; pop declares what was allocated since dead and makes
   the frame's parent current. Only SNC pools free memory by this. Memory
   codes; MPS_RES_FAIL between reserve and commit. One at a time. */
mps_res_t (mps_ap_frame_push)(mps_frame_t *frame_o, mps_ap_t ap);
mps_res_t (mps_ap_frame_pop)(mps_ap_t ap, mps_frame_t frame);

/* Patterns: most blocks from begin to end die soon after; the second kind
   also asks for a full collection then. Query. */
mps_alloc_pattern_t mps_alloc_pattern_ramp(void);
mps_alloc_pattern_t mps_alloc_pattern_ramp_collect_all(void);

/* Hints about what follows on the allocation point; they nest. End gives
   MPS_RES_FAIL without a begin; reset forgets all. One at a time. */
mps_res_t mps_ap_alloc_pattern_begin(mps_ap_t ap, mps_alloc_pattern_t pattern);
mps_res_t mps_ap_alloc_pattern_end(mps_ap_t ap, mps_alloc_pattern_t pattern);
mps_res_t mps_ap_alloc_pattern_reset(mps_ap_t ap);

/* ---- Segregated allocation caches ---- */

/* The most classes that one cache can have. */
#define MPS_SAC_CLASS_LIMIT ((size_t)8)

/* Private: classes in order of size, then one with the size (size_t)-1 that
   holds no blocks, so that the search for a class needs no other end. Free
   blocks are linked through their first words. */
typedef struct _mps_sac_list_s {
  size_t _size;       /* bytes in a block */
  size_t _count;      /* blocks here */
  size_t _count_max;  /* blocks to keep at most */
  mps_addr_t _blocks; /* the first block */
} _mps_sac_list_s;

typedef struct _mps_sac_s {
  _mps_sac_list_s _lists[8 + 1]; /* MPS_SAC_CLASS_LIMIT and the end */
} _mps_sac_s, *mps_sac_t;

/* Make a cache of n classes on a MFS or MVFF pool. Memory codes;
   MPS_RES_LIMIT for too many classes. Locked. */
mps_res_t mps_sac_create(mps_sac_t *sac_o, mps_pool_t pool, size_t n,
                         mps_sac_class_s classes[]);

/* Return the cached blocks to the pool, and unmake the cache. One at a
   time. */
void mps_sac_flush(mps_sac_t sac);
void mps_sac_destroy(mps_sac_t sac);

/* Allocate size > 0 bytes, and free what was allocated with that size; the
   last parameter of the first is ignored. Memory codes. One at a time. */
mps_res_t mps_sac_alloc(mps_addr_t *p_o, mps_sac_t sac, size_t size,
                        mps_bool_t unused);
void mps_sac_free(mps_sac_t sac, mps_addr_t p, size_t size);

/* Slow paths of the macros below, when a class is empty or full. */
mps_res_t mps_sac_fill(mps_addr_t *p_o, mps_sac_t sac, size_t size,
                       mps_bool_t unused);
void mps_sac_empty(mps_sac_t sac, mps_addr_t p, size_t size);

/* Statements that do the same as mps_sac_alloc and mps_sac_free, unchecked;
   p is a variable of type mps_addr_t. The short names are deprecated. */
#define MPS_SAC_ALLOC_FAST(res, p, sac, size, unused)                         \
  MPS_BEGIN                                                                   \
    _mps_sac_list_s *_mps_list = (sac)->_lists;                               \
    while (_mps_list->_size < (size_t)(size))                                 \
      ++_mps_list;                                                            \
    if (_mps_list->_count != 0) {                                             \
      (p) = _mps_list->_blocks;                                               \
      _mps_list->_blocks = *(_mps_any_addr_t *)(p);                           \
      --_mps_list->_count;                                                    \
      (res) = MPS_RES_OK;                                                     \
    } else {                                                                  \
      (res) = mps_sac_fill(&(p), sac, size, unused);                          \
    }                                                                         \
  MPS_END
#define MPS_SAC_FREE_FAST(sac, p, size)                                       \
  MPS_BEGIN                                                                   \
    _mps_sac_list_s *_mps_list = (sac)->_lists;                               \
    while (_mps_list->_size < (size_t)(size))                                 \
      ++_mps_list;                                                            \
    if (_mps_list->_count < _mps_list->_count_max) {                          \
      *(_mps_any_addr_t *)(p) = _mps_list->_blocks;                           \
      _mps_list->_blocks = (mps_addr_t)(p);                                   \
      ++_mps_list->_count;                                                    \
    } else {                                                                  \
      mps_sac_empty(sac, p, size);                                            \
    }                                                                         \
  MPS_END
#define MPS_SAC_ALLOC(res, p, sac, size, unused)                              \
  MPS_SAC_ALLOC_FAST(res, p, sac, size, unused)
#define MPS_SAC_FREE(sac, p, size) MPS_SAC_FREE_FAST(sac, p, size)

/* ---- Roots and threads ---- */

/* Ranks: may be no reference; is one; is one that keeps nothing alive; is
   half of a pair whose key keeps its value alive. Query. */
mps_rank_t mps_rank_ambig(void);
mps_rank_t mps_rank_exact(void);
mps_rank_t mps_rank_weak(void);
mps_rank_t mps_rank_ephemeron(void);

/* Root modes, promises that the library may use: the root is constant; it
   may be protected. */
#define MPS_RM_CONST      ((mps_rm_t)1)
#define MPS_RM_PROT       ((mps_rm_t)2)
#define MPS_RM_PROT_INNER MPS_RM_PROT

/* Register a root: what a function scans; formatted objects; an area; an
   area whose tagged words count; a table of references (deprecated, as is
   the next); a table of the words with no bit of mask set. Memory codes.
   Locked. */
mps_res_t mps_root_create(mps_root_t *root_o, mps_arena_t arena,
                          mps_rank_t rank, mps_rm_t rm, mps_root_scan_t scan,
                          void *p, size_t s);
mps_res_t mps_root_create_fmt(mps_root_t *root_o, mps_arena_t arena,
                              mps_rank_t rank, mps_rm_t rm,
                              mps_fmt_scan_t scan, mps_addr_t base,
                              mps_addr_t limit);
mps_res_t mps_root_create_area(mps_root_t *root_o, mps_arena_t arena,
                               mps_rank_t rank, mps_rm_t rm, void *base,
                               void *limit, mps_area_scan_t scan,
                               void *closure);
mps_res_t mps_root_create_area_tagged(mps_root_t *root_o, mps_arena_t arena,
                                      mps_rank_t rank, mps_rm_t rm, void *base,
                                      void *limit, mps_area_scan_t scan,
                                      mps_word_t mask, mps_word_t pattern);
mps_res_t mps_root_create_table(mps_root_t *root_o, mps_arena_t arena,
                                mps_rank_t rank, mps_rm_t rm, mps_addr_t *base,
                                size_t count);
mps_res_t mps_root_create_table_masked(mps_root_t *root_o, mps_arena_t arena,
                                       mps_rank_t rank, mps_rm_t rm,
                                       mps_addr_t *base, size_t count,
                                       mps_word_t mask);

/* Register the registers and the stack of a thread, from its stack pointer
   to the cold end, as a root: aligned words without a tag in their three low
   bits; tagged words; what a function scans. Rank ambiguous, mode 0. Memory
   codes. Locked. */
mps_res_t mps_root_create_thread(mps_root_t *root_o, mps_arena_t arena,
                                 mps_thr_t thr, void *cold);
mps_res_t mps_root_create_thread_tagged(mps_root_t *root_o, mps_arena_t arena,
                                        mps_rank_t rank, mps_rm_t rm,
                                        mps_thr_t thr, mps_area_scan_t scan,
                                        mps_word_t mask, mps_word_t pattern,
                                        void *cold);
mps_res_t mps_root_create_thread_scanned(mps_root_t *root_o, mps_arena_t arena,
                                         mps_rank_t rank, mps_rm_t rm,
                                         mps_thr_t thr, mps_area_scan_t scan,
                                         void *closure, void *cold);

/* Deprecated form of the first, with mps_stack_scan_ambig as scan, the cold
   end as p, and s ignored. Locked. */
mps_res_t mps_root_create_reg(mps_root_t *root_o, mps_arena_t arena,
                              mps_rank_t rank, mps_rm_t rm, mps_thr_t thr,
                              mps_reg_scan_t scan, void *p, size_t s);
mps_res_t mps_stack_scan_ambig(mps_ss_t ss, mps_thr_t thr, void *p, size_t s);

/* Forget a root. Locked. */
void mps_root_destroy(mps_root_t root);

/* Register the calling thread, as often as you like; it must be registered
   while it uses memory that may be moved or protected. Memory codes. Any
   thread may undo it, once its roots are gone. Locked. */
mps_res_t mps_thread_reg(mps_thr_t *thr_o, mps_arena_t arena);
void mps_thread_dereg(mps_thr_t thr);

/* ---- Scanning ----

   MPS_SCAN_BEGIN(ss) { ... } MPS_SCAN_END(ss); brackets the fixing of a
   scanner; a return from inside is fine. MPS_FIX1 tells from any word, tags
   and all, whether it may be of interest; only then, and only for a
   reference, MPS_FIX2 takes the address of an untagged copy, which the
   client stores back. MPS_FIX12 does both. MPS_FIX_CALL calls a function
   that takes ss within the bracket. For scanners only. */

#define MPS_SCAN_BEGIN(ss)                                                    \
  MPS_BEGIN                                                                   \
    const mps_ss_t _mps_ss = (ss);                                            \
    const mps_word_t _mps_base = _mps_ss->_base;                              \
    const mps_word_t _mps_size = _mps_ss->_size;                              \
    const unsigned char *const _mps_zones = _mps_ss->_zones;                  \
    const unsigned _mps_shift = _mps_ss->_shift;                              \
    mps_word_t _mps_offset = 0;                                               \
    unsigned _mps_zone = 0;                                                   \
    (void)_mps_base;                                                          \
    (void)_mps_size;                                                          \
    (void)_mps_zones;                                                         \
    (void)_mps_shift;                                                         \
    (void)_mps_offset;                                                        \
    (void)_mps_zone;                                                          \
    {

#define MPS_SCAN_END(ss)                                                      \
  }                                                                           \
  (void)(ss);                                                                 \
  MPS_END

#define MPS_FIX1(ss, ref)                                                     \
  ((void)(ss), _mps_offset = (mps_word_t)(ref) - _mps_base,                   \
   (mps_bool_t)(_mps_offset < _mps_size &&                                    \
                (_mps_zone = _mps_zones[_mps_offset >> _mps_shift]) != 0 &&   \
                ((_mps_zone & 0x80) != 0 ||                                   \
                 (_mps_ss->_seen |= _mps_zone, 0))))
#define MPS_FIX2(ss, ref_io) _mps_fix2(ss, ref_io)
#define MPS_FIX12(ss, ref_io)                                                 \
  (MPS_FIX1(ss, *(ref_io)) ? _mps_fix2(_mps_ss, ref_io)                       \
                           : (mps_res_t)MPS_RES_OK)
#define MPS_FIX(ss, ref_io) MPS_FIX12(ss, ref_io) /* deprecated name */
#define MPS_FIX_CALL(ss, call)                                                \
  MPS_BEGIN                                                                   \
    (void)(ss);                                                               \
    (void)(call);                                                             \
  MPS_END

/* Private: the other half of fixing. For scanners only. */
mps_res_t _mps_fix2(mps_ss_t ss, mps_addr_t *ref_io);

/* Fix a pair of an ephemeron table (mpscawl.h); base is the object that
   holds it. The value, both, or both live on if: the key is alive for
   another reason; either is; both are. Otherwise both become null. Null is
   alive: with a null key the value is strong, with a null value the key weak.
   Other codes are returned at once. For scanners only. */
mps_res_t mps_fix_weak_pair(mps_ss_t ss, mps_addr_t base, mps_addr_t *key_io,
                            mps_addr_t *value_io);
mps_res_t mps_fix_weak_or_pair(mps_ss_t ss, mps_addr_t base,
                               mps_addr_t *key_io, mps_addr_t *value_io);
mps_res_t mps_fix_weak_and_pair(mps_ss_t ss, mps_addr_t base,
                                mps_addr_t *key_io, mps_addr_t *value_io);

/* Area scanners: all words; all, with the bits of mask set aside; those with
   (w & mask) == pattern; these and those with (w & mask) == 0. The closure
   of all but the first is a mps_scan_tag_t. They give the first code of
   fixing that is not MPS_RES_OK. For roots, and for scanners. */
mps_res_t mps_scan_area(mps_ss_t ss, void *base, void *limit, void *closure);
mps_res_t mps_scan_area_masked(mps_ss_t ss, void *base, void *limit,
                               void *closure);
mps_res_t mps_scan_area_tagged(mps_ss_t ss, void *base, void *limit,
                               void *closure);
mps_res_t mps_scan_area_tagged_or_zero(mps_ss_t ss, void *base, void *limit,
                                       void *closure);

/* ---- Location dependencies ---- */

/* Empty a dependency. Locked; nobody else may use it meanwhile. */
void mps_ld_reset(mps_ld_t ld, mps_arena_t arena);

/* Depend on an address, any; on all that src depends on. Queries, but only
   one at a time for one dependency. */
void mps_ld_add(mps_ld_t ld, mps_arena_t arena, mps_addr_t addr);
void mps_ld_merge(mps_ld_t ld, mps_arena_t arena, mps_ld_t src);

/* Whether the object now or then at addr, or any object depended on, may
   have moved since it was added; never false if it has. Queries. */
mps_bool_t mps_ld_isstale(mps_ld_t ld, mps_arena_t arena, mps_addr_t addr);
mps_bool_t mps_ld_isstale_any(mps_ld_t ld, mps_arena_t arena);

/* ---- Messages and finalization ---- */

/* The types, constants: an object died; a collection ended; one started. */
#define mps_message_type_finalization() ((mps_message_type_t)0)
#define mps_message_type_gc()           ((mps_message_type_t)1)
#define mps_message_type_gc_start()     ((mps_message_type_t)2)

/* Switch a type on or off (it starts off). While off, its messages are
   lost; switching off drops those in the queue. Locked. */
void mps_message_type_enable(mps_arena_t arena, mps_message_type_t type);
void mps_message_type_disable(mps_arena_t arena, mps_message_type_t type);

/* Whether there is a message; the type of the first one; take the first one
   of a type, until it is discarded. False if there is none. Locked. */
mps_bool_t mps_message_poll(mps_arena_t arena);
mps_bool_t mps_message_queue_type(mps_message_type_t *type_o,
                                  mps_arena_t arena);
mps_bool_t mps_message_get(mps_message_t *message_o, mps_arena_t arena,
                           mps_message_type_t type);
void mps_message_discard(mps_arena_t arena, mps_message_t message);

/* The type of a message, and the mps_clock() when it was posted (0 for
   finalization). Locked. */
mps_message_type_t mps_message_type(mps_arena_t arena, mps_message_t message);
mps_clock_t mps_message_clock(mps_arena_t arena, mps_message_t message);

/* Bytes that survived, that were to be collected, and that were not, about;
   from a message of the second type. Locked. */
size_t mps_message_gc_live_size(mps_arena_t arena, mps_message_t message);
size_t mps_message_gc_condemned_size(mps_arena_t arena, mps_message_t message);
size_t mps_message_gc_not_condemned_size(mps_arena_t arena,
                                         mps_message_t message);

/* Why a collection started, in English, until the message, of the third
   type, is discarded. Locked. */
const char *mps_message_gc_start_why(mps_arena_t arena, mps_message_t message);

/* Ask for a message when the block at *ref_p, in an automatic pool, dies;
   each request gives one. Memory codes. Or take back one such request;
   MPS_RES_FAIL if there is none. Locked; ref_p may be in managed memory. */
mps_res_t mps_finalize(mps_arena_t arena, mps_addr_t *ref_p);
mps_res_t mps_definalize(mps_arena_t arena, mps_addr_t *ref_p);

/* The block of a message of the first type, which keeps it. Locked; ref_o
   may be in managed memory. */
void mps_message_finalization_ref(mps_addr_t *ref_o, mps_arena_t arena,
                                  mps_message_t message);

/* ---- Walks and transforms ---- */

/* Scan every object of an automatic or SNC pool of a parked arena, in ranges;
   a changed reference must be fixed. The first code of the scanner that is
   not MPS_RES_OK ends it. Locked. */
mps_res_t mps_pool_walk(mps_pool_t pool, mps_area_scan_t scan, void *closure);

/* Deprecated: visit every object of such pools; every reference in the roots
   of a parked arena to a block of an automatic pool. Locked. */
void mps_arena_formatted_objects_walk(mps_arena_t arena,
                                      mps_formatted_objects_stepper_t f,
                                      void *p, size_t s);
void mps_arena_roots_walk(mps_arena_t arena, mps_roots_stepper_t f, void *p,
                          size_t s);

/* A transform replaces references. Make it in a parked arena; add count
   pairs; apply it, which collects everything and parks; unmake it. Apply
   sets *applied_o to 0, and replaces nothing, if an ambiguous reference to
   an old object exists. Memory codes; MPS_RES_PARAM if a collection came
   between; MPS_RES_LIMIT if one is under way. Locked. */
mps_res_t mps_transform_create(mps_transform_t *transform_o,
                               mps_arena_t arena);
mps_res_t mps_transform_add_oldnew(mps_transform_t transform,
                                   mps_addr_t *old_refs, mps_addr_t *new_refs,
                                   size_t count);
mps_res_t mps_transform_apply(mps_bool_t *applied_o,
                              mps_transform_t transform);
void mps_transform_destroy(mps_transform_t transform);

/* ---- Telemetry ---- */

/* Set and clear bits of the filter of all arenas, and read it: 0 arena,
   1 pool, 2 trace, 3 segment, 4 reference, 5 object, 6 user. Queries. */
void mps_telemetry_set(mps_word_t mask);
void mps_telemetry_reset(mps_word_t mask);
mps_word_t mps_telemetry_get(void);

/* A new label for a string of up to 256 bytes with its end; and the event
   that gives an address such a label. Queries. */
mps_label_t mps_telemetry_intern(const char *string);
void mps_telemetry_label(mps_addr_t addr, mps_label_t label);

/* Write out the events so far. Query. */
void mps_telemetry_flush(void);

#ifdef __cplusplus
}
#endif

#endif /* mps_h */
