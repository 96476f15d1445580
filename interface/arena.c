/* Testudo: entry points for arenas (interface, sections 2.2-2.5).
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include "code/args.h"
#include "code/event.h"
#include "code/platform.h"
#include "code/settings.h"
#include "interface/entry.h"
#include "mpsavm.h"
#include "mpsacl.h"
#include "interface/statistics.h"
#include "testudo.h"
#include "trace/pause.h"
#include "trace/policy.h"
#include "trace/shortage.h"

#define ARENA_SIZE_DEFAULT ((size_t)1 << 28)
#define PAUSE_DEFAULT      0.1
#define ARENA_CLIENT_GRAIN 8192

struct mps_arena_class_s {
  const char *name;
  bool client; /* memory given by the client */
};

static const struct mps_arena_class_s arena_class_vm = {"VM", false};

static const struct mps_arena_class_s arena_class_cl = {"CL", true};

mps_arena_class_t mps_arena_class_vm(void) {
  return (mps_arena_class_t)&arena_class_vm;
}

mps_arena_class_t mps_arena_class_cl(void) {
  return (mps_arena_class_t)&arena_class_cl;
}

/* The file that TESTUDO_RECORD names, or null. */
static const char *arena_record(void) {
  const char *path = getenv("TESTUDO_RECORD");

  return path == NULL || *path == '\0' ? NULL : path;
}

/* Those of the shield. The environment, S, wins over the program. */
static mps_res_t arena_shield_settings(tdo_shield_settings_t *shield,
                                       mps_arg_s args[],
                                       const tdo_settings_t *s) {
  mps_arg_s arg;

  tdo_shield_settings_init(shield, s);
  if (tdo_arg_pick(&arg, args, TDO_KEY_SHIELD_MODE)) {
    ENTRY_REQUIRE(arg.val.u < TDO_SHIELD_MODES, "not a mode of the shield",
                  MPS_RES_PARAM);
    if (!s->shield_given)
      shield->mode = (tdo_shield_mode_t)arg.val.u;
  }
  if (tdo_arg_pick(&arg, args, TDO_KEY_SHIELD_QUEUE)) {
    ENTRY_REQUIRE(arg.val.size >= 1,
                  "the shield's queue must have room for a range",
                  MPS_RES_PARAM);
    if (!s->queue_given)
      shield->queue_length = arg.val.size;
  }
  if (!TDO_BARRIERS)
    shield->mode = TDO_SHIELD_OFF;
  return MPS_RES_OK;
}

static mps_res_t arena_settings(tdo_heap_options_t *o, mps_arg_s args[]) {
  tdo_settings_t s;
  mps_arg_s arg;
  mps_res_t res;

  tdo_settings_read(&s);
  res = arena_shield_settings(&o->shield, args, &s);
  if (res != MPS_RES_OK)
    return res;
  o->quantum = s.quantum;
  if (tdo_arg_pick(&arg, args, TDO_KEY_SHIELD_QUANTUM)) {
    ENTRY_REQUIRE(arg.val.size >= TDO_QUANTUM_LEAST,
                  "the shield's quantum must be 4096 bytes at least",
                  MPS_RES_PARAM);
    if (!s.quantum_given)
      o->quantum = arg.val.size;
  }
  o->huge = s.huge;
  if (tdo_arg_pick(&arg, args, TDO_KEY_HUGE) && !s.huge_given)
    o->huge = arg.val.u;
  o->small = s.small;
  o->adapt = s.adapt;
  o->populate = s.populate;
  if (tdo_arg_pick(&arg, args, TDO_KEY_POPULATE) && !s.populate_given)
    o->populate = arg.val.b;
  if (s.grain_given && s.grain != 0)
    o->grain = s.grain;
  if (s.spare_given) {
    o->spare = s.spare;
    o->spare_bytes = SIZE_MAX;
  }
  o->window = s.reserve;
  o->stress = s.stress;
  o->stress_blocks = s.stress_blocks;
  o->check_heap = s.check;
  o->log = s.log;
  if (s.statistics)
    tdo_statistics_at_exit();
  return MPS_RES_OK;
}

/* Deprecated: LIMIT bytes; with a commit limit, the same part of what is
   committed as LIMIT is of that. */
static void arena_spare_limit(tdo_heap_options_t *o, size_t limit) {
  if (limit == 0) {
    o->spare = 0.0;
  } else if (o->commit_limit == SIZE_MAX) {
    o->spare = 1.0;
    o->spare_bytes = limit;
  } else {
    o->spare = limit >= o->commit_limit
                   ? 1.0
                   : (double)limit / (double)o->commit_limit;
  }
}

static mps_res_t arena_spare(tdo_heap_options_t *o, mps_arg_s args[]) {
  mps_arg_s arg;

  o->spare = TDO_SPARE_DEFAULT;
  o->spare_bytes = SIZE_MAX;
  if (tdo_arg_pick(&arg, args, MPS_KEY_SPARE_COMMIT_LIMIT))
    arena_spare_limit(o, arg.val.size);
  if (tdo_arg_pick(&arg, args, MPS_KEY_SPARE)) {
    o->spare = arg.val.d;
    o->spare_bytes = SIZE_MAX;
  }
  ENTRY_REQUIRE(o->spare >= 0.0 && o->spare <= 1.0,
                "the spare fraction must lie between 0.0 and 1.0",
                MPS_RES_PARAM);
  return MPS_RES_OK;
}

static void arena_callbacks(tdo_heap_options_t *o, mps_arg_s args[]) {
  mps_arg_s arg;

  if (tdo_arg_pick(&arg, args, MPS_KEY_ARENA_EXTENDED))
    o->extended = (mps_arena_extended_t)arg.val.fun;
  if (tdo_arg_pick(&arg, args, MPS_KEY_ARENA_CONTRACTED))
    o->contracted = (mps_arena_contracted_t)arg.val.fun;
}

/* Client memory: where it is, and its own grain. The callbacks stay in the
   list: such an arena never extends itself. */
static mps_res_t arena_client(tdo_heap_options_t *o, mps_arg_s args[]) {
  mps_arg_s arg;

  o->grain = ARENA_CLIENT_GRAIN;
  if (tdo_arg_pick(&arg, args, MPS_KEY_ARENA_GRAIN_SIZE))
    o->grain = arg.val.size;
  ENTRY_REQUIRE(tdo_is_pow2(o->grain) && o->grain >= sizeof(void *),
                "the arena's grain size must be a power of two, and at least "
                "the size of a pointer",
                MPS_RES_PARAM);
  if (!tdo_arg_require(&arg, args, MPS_KEY_ARENA_SIZE))
    return MPS_RES_PARAM;
  o->size = arg.val.size;
  if (!tdo_arg_require(&arg, args, MPS_KEY_ARENA_CL_BASE))
    return MPS_RES_PARAM;
  o->client = arg.val.addr;
  ENTRY_REQUIRE(o->client != NULL, "the arena's memory is null",
                MPS_RES_PARAM);
  return MPS_RES_OK;
}

/* System memory: how much to begin with, and whom to tell. */
static mps_res_t arena_system(tdo_heap_options_t *o, mps_arg_s args[]) {
  size_t page = tdo_vm_system()->page_size;
  mps_arg_s arg;

  o->size = ARENA_SIZE_DEFAULT;
  o->grain = page;
  if (tdo_arg_pick(&arg, args, MPS_KEY_ARENA_SIZE))
    o->size = arg.val.size;
  if (tdo_arg_pick(&arg, args, MPS_KEY_ARENA_GRAIN_SIZE))
    o->grain = tdo_max(arg.val.size, page);
  ENTRY_REQUIRE(tdo_is_pow2(o->grain),
                "the arena's grain size must be a power of two",
                MPS_RES_PARAM);
  arena_callbacks(o, args);
  return MPS_RES_OK;
}

static mps_res_t arena_options(tdo_heap_options_t *o, mps_arena_class_t cls,
                               mps_arg_s args[]) {
  mps_arg_s arg;
  mps_res_t res;

  memset(o, 0, sizeof *o);
  o->commit_limit = SIZE_MAX;
  o->pause_time = PAUSE_DEFAULT;
  if (tdo_arg_pick(&arg, args, MPS_KEY_COMMIT_LIMIT))
    o->commit_limit = arg.val.size;
  if (tdo_arg_pick(&arg, args, MPS_KEY_PAUSE_TIME))
    o->pause_time = arg.val.d;
  ENTRY_REQUIRE(o->pause_time >= 0.0, "the pause time must not be negative",
                MPS_RES_PARAM);
  (void)tdo_arg_pick(&arg, args, MPS_KEY_ARENA_ZONED);
  res = arena_spare(o, args);
  if (res == MPS_RES_OK && !cls->client)
    res = arena_system(o, args);
  if (res != MPS_RES_OK)
    return res;
  res = arena_settings(o, args);
  if (res == MPS_RES_OK && cls->client)
    res = arena_client(o, args);
  return res;
}

mps_res_t mps_arena_create_k(mps_arena_t *arena_o, mps_arena_class_t cls,
                             mps_arg_s args[]) {
  static atomic_bool made; /* the first, which is recorded, or being made */
  tdo_heap_options_t options;
  tdo_heap_t *heap;
  mps_res_t res;
  bool first;

  ENTRY_REQUIRE(arena_o != NULL, "no place for the new arena",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(cls == &arena_class_vm || cls == &arena_class_cl,
                "not an arena class", MPS_RES_PARAM);
  if (!tdo_args_check(args))
    return MPS_RES_PARAM;
  tdo_event_init();
  res = arena_options(&options, cls, args);
  if (res != MPS_RES_OK)
    return res;
  first = !atomic_exchange(&made, true);
  if (first)
    options.record = arena_record();
  res = tdo_heap_create(&heap, cls, &options);
  if (res != MPS_RES_OK) {
    if (first) /* the next one will be */
      atomic_store(&made, false);
    return res;
  }
  heap->first = first;
  TDO_EVENT(ARENA, ARENA_CREATE, (tdo_word_t)heap,
            tdo_space_reserved(&heap->space),
            (tdo_word_t)1 << heap->space.grain_shift);
  *arena_o = heap;
  return MPS_RES_OK;
}

mps_res_t mps_arena_create_v(mps_arena_t *arena_o, mps_arena_class_t cls,
                             va_list list) {
  mps_arg_s args[MPS_ARGS_MAX];

  args[0].key = MPS_KEY_ARENA_SIZE;
  args[0].val.size = va_arg(list, size_t);
  args[1].key = MPS_KEY_ARGS_END;
  if (cls == &arena_class_cl) {
    args[1].key = MPS_KEY_ARENA_CL_BASE;
    args[1].val.addr = va_arg(list, mps_addr_t);
    args[2].key = MPS_KEY_ARGS_END;
  }
  return mps_arena_create_k(arena_o, cls, args);
}

mps_res_t mps_arena_create(mps_arena_t *arena_o, mps_arena_class_t cls,
                           ...) {
  va_list list;
  mps_res_t res;

  va_start(list, cls);
  res = mps_arena_create_v(arena_o, cls, list);
  va_end(list);
  return res;
}

void mps_arena_destroy(mps_arena_t arena) {
  ENTRY_ARENA(arena, );
  ENTRY_REQUIRE(!tdo_lock_mine(&arena->lock),
                "an arena was destroyed by what runs inside it", );
  tdo_statistics_leave(arena);
  tdo_heap_destroy(arena);
  TDO_EVENT(ARENA, ARENA_DESTROY, (tdo_word_t)arena);
  tdo_event_flush();
}

mps_res_t mps_arena_extend(mps_arena_t arena, mps_addr_t base, size_t size) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(arena->klass == &arena_class_cl,
                "only an arena over client memory can be given more",
                MPS_RES_UNIMPL);
  ENTRY_REQUIRE(base != NULL, "the arena's new memory is null",
                MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_heap_extend(arena, base, size);
  tdo_heap_leave(arena);
  return res;
}

mps_res_t mps_arena_vm_growth(mps_arena_t arena, size_t desired,
                              size_t minimum) {
  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(arena->klass == &arena_class_vm,
                "only an arena over system memory grows by itself",
                MPS_RES_UNIMPL);
  ENTRY_REQUIRE(desired >= minimum,
                "the preferred growth is less than the smallest acceptable",
                MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  arena->space.growth = desired;
  arena->space.growth_min = minimum;
  tdo_heap_leave(arena);
  return MPS_RES_OK;
}

/* ---- properties ---- */

/* What is seen keeps the invariants that giving back late may break for a
   while. */
#define PROPERTY(type, name, expression)                                      \
  type name(mps_arena_t arena) {                                              \
    type value;                                                               \
    bool entered;                                                             \
    ENTRY_ARENA(arena, (type)0);                                              \
    entered = ENTRY_LOOK(arena);                                              \
    if (entered)                                                              \
      tdo_space_settle(&arena->space);                                        \
    value = (expression);                                                     \
    if (entered)                                                              \
      tdo_heap_leave(arena);                                                  \
    return value;                                                             \
  }

PROPERTY(size_t, mps_arena_reserved, tdo_space_reserved(&arena->space))
PROPERTY(size_t, mps_arena_committed, arena->space.committed)
PROPERTY(size_t, mps_arena_spare_committed, tdo_space_spare(&arena->space))
PROPERTY(size_t, mps_arena_commit_limit, arena->space.commit_limit)
PROPERTY(double, mps_arena_spare, arena->space.spare_fraction)
PROPERTY(size_t, mps_arena_spare_commit_limit,
         tdo_space_spare_most(&arena->space, arena->space.committed))
PROPERTY(double, mps_arena_pause_time, arena->pause_time)

mps_res_t mps_arena_commit_limit_set(mps_arena_t arena, size_t limit) {
  size_t before, room;
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  before = arena->space.commit_limit;
  room = tdo_space_room(&arena->space);
  res = tdo_space_commit_limit_set(&arena->space, limit);
  if (res == MPS_RES_OK && limit > before)
    tdo_shortage_raised(arena, room);
  tdo_heap_leave(arena);
  return res;
}

void mps_arena_spare_set(mps_arena_t arena, double spare) {
  ENTRY_ARENA(arena, );
  ENTRY_REQUIRE(spare >= 0.0 && spare <= 1.0,
                "the spare fraction must lie between 0.0 and 1.0", );
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_control_settle(&arena->control);
  tdo_space_spare_set(&arena->space, spare);
  tdo_heap_leave(arena);
}

void mps_arena_spare_commit_limit_set(mps_arena_t arena, size_t limit) {
  double committed;

  ENTRY_ARENA(arena, );
  committed = (double)mps_arena_committed(arena);
  mps_arena_spare_set(arena, (double)limit >= committed
                                 ? 1.0
                                 : (double)limit / committed);
}

void mps_arena_pause_time_set(mps_arena_t arena, double seconds) {
  ENTRY_ARENA(arena, );
  ENTRY_REQUIRE(seconds >= 0.0, "the pause time must not be negative", );
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_pause_set_time(arena, seconds);
  tdo_heap_leave(arena);
}

mps_word_t mps_collections(mps_arena_t arena) {
  ENTRY_ARENA(arena, 0);
  return atomic_load(&arena->ld.epoch);
}

/* ---- states ---- */

/* In a signal handler that interrupted the library nothing moves before it
   returns; to park is to clamp. */

void mps_arena_clamp(mps_arena_t arena) {
  bool entered;

  ENTRY_ARENA(arena, );
  entered = ENTRY_LOOK(arena);
  arena->clamp = TDO_CLAMPED;
  if (entered)
    tdo_heap_leave(arena);
}

/* The flip of the collection in progress may be to come. */
static TDO_NOINLINE mps_res_t arena_park(mps_arena_t arena, void *hot) {
  ENTRY_ARENA(arena, MPS_RES_PARAM);
  if (TDO_UNLIKELY(!tdo_heap_try_enter(arena))) {
    arena->clamp = TDO_CLAMPED;
    return MPS_RES_FAIL;
  }
  entry_scannable(arena, hot);
  tdo_trace_settle(arena);
  arena->clamp = TDO_PARKED;
  tdo_heap_leave(arena);
  return MPS_RES_OK;
}

TDO_NO_SANITIZE static TDO_NOINLINE mps_res_t
arena_park_framed(mps_arena_t arena) {
  TDO_FRAME_RETURN(mps_res_t, hot, arena_park(arena, hot));
}

void mps_arena_park(mps_arena_t arena) {
  (void)arena_park_framed(arena);
}

void mps_arena_release(mps_arena_t arena) {
  bool entered;

  ENTRY_ARENA(arena, );
  entered = ENTRY_LOOK(arena);
  arena->cuts += arena->clamp != TDO_UNCLAMPED;
  arena->clamp = TDO_UNCLAMPED;
  if (entered)
    tdo_heap_leave(arena);
}

void mps_arena_postmortem(mps_arena_t arena) {
  ENTRY_ARENA(arena, );
  tdo_heap_postmortem(arena);
}

static TDO_NOINLINE mps_res_t arena_collect(mps_arena_t arena, void *hot) {
  bool condemned;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  entry_scannable(arena, hot);
  arena->explicit_collect = true;
  condemned = tdo_policy_collect(arena, "The client asked for a full "
                                        "collection.");
  arena->explicit_collect = false;
  arena->clamp = TDO_PARKED;
  tdo_heap_leave(arena);
  return condemned ? MPS_RES_OK : MPS_RES_FAIL;
}

TDO_NO_SANITIZE mps_res_t mps_arena_collect(mps_arena_t arena) {
  TDO_FRAME_RETURN(mps_res_t, hot, arena_collect(arena, hot));
}

static TDO_NOINLINE mps_res_t arena_start_collect(mps_arena_t arena,
                                                  void *hot) {
  bool condemned;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  entry_scannable(arena, hot);
  arena->clamp = TDO_UNCLAMPED;
  condemned = tdo_policy_start_full(arena, "The client asked for a full "
                                           "collection to start.");
  tdo_heap_leave(arena);
  return condemned ? MPS_RES_OK : MPS_RES_FAIL;
}

TDO_NO_SANITIZE mps_res_t mps_arena_start_collect(mps_arena_t arena) {
  TDO_FRAME_RETURN(mps_res_t, hot, arena_start_collect(arena, hot));
}

static TDO_NOINLINE mps_bool_t arena_step(mps_arena_t arena, double interval,
                                          double multiplier, void *hot) {
  bool worked;

  ENTRY_ARENA(arena, 0);
  ENTRY_REQUIRE(interval >= 0.0 && multiplier >= 0.0,
                "a step's interval and multiplier must not be negative", 0);
  ENTRY_ENTER(arena, 0);
  entry_scannable(arena, hot);
  worked = tdo_policy_step(arena, interval, multiplier);
  if (arena->clamp == TDO_PARKED) {
    arena->clamp = TDO_CLAMPED;
    ++arena->cuts;
  }
  tdo_heap_leave(arena);
  return worked;
}

TDO_NO_SANITIZE mps_bool_t mps_arena_step(mps_arena_t arena, double interval,
                                          double multiplier) {
  TDO_FRAME_RETURN(mps_bool_t, hot,
                   arena_step(arena, interval, multiplier, hot));
}

/* ---- introspection: no lock ---- */

mps_bool_t mps_arena_busy(mps_arena_t arena) {
  ENTRY_ARENA(arena, 0);
  return tdo_lock_held(&arena->lock);
}

mps_bool_t mps_arena_has_addr(mps_arena_t arena, mps_addr_t p) {
  ENTRY_ARENA(arena, 0);
  return tdo_seg_of(&arena->space, p) != NULL;
}

/* The pool that has P, or null, and its format. What is read of a descriptor
   counts only if it is still the owner's afterwards: another thread may have
   given it back, and used its memory for something else. */
TDO_NO_SANITIZE static mps_pool_t
arena_pool_seen(mps_fmt_t *fmt_o, mps_arena_t arena, mps_addr_t p) {
  for (;;) {
    tdo_seg_t *seg = tdo_seg_of(&arena->space, p);
    mps_pool_t pool = seg != NULL ? seg->pool : NULL;

    atomic_thread_fence(memory_order_acquire);
    if (tdo_seg_of(&arena->space, p) != seg)
      continue;
    *fmt_o = pool != NULL ? pool->format : NULL;
    atomic_thread_fence(memory_order_acquire);
    if (tdo_seg_of(&arena->space, p) == seg)
      return pool;
  }
}

static mps_pool_t arena_pool_at(mps_fmt_t *fmt_o, mps_arena_t arena,
                                mps_addr_t p) {
  size_t begun = tdo_control_look(&arena->control);
  mps_pool_t pool = arena_pool_seen(fmt_o, arena, p);

  tdo_control_looked(&arena->control, begun);
  return pool;
}

mps_bool_t mps_addr_pool(mps_pool_t *pool_o, mps_arena_t arena,
                         mps_addr_t p) {
  mps_pool_t pool;
  mps_fmt_t fmt;

  ENTRY_ARENA(arena, 0);
  ENTRY_REQUIRE(pool_o != NULL, "no place for the pool", 0);
  pool = arena_pool_at(&fmt, arena, p);
  if (pool != NULL)
    *pool_o = pool;
  return pool != NULL;
}

mps_bool_t mps_addr_fmt(mps_fmt_t *fmt_o, mps_arena_t arena, mps_addr_t p) {
  mps_fmt_t fmt;

  ENTRY_ARENA(arena, 0);
  ENTRY_REQUIRE(fmt_o != NULL, "no place for the format", 0);
  (void)arena_pool_at(&fmt, arena, p);
  if (fmt != NULL)
    *fmt_o = fmt;
  return fmt != NULL;
}

mps_res_t mps_addr_object(mps_addr_t *obj_o, mps_arena_t arena,
                          mps_addr_t p) {
  tdo_seg_t *seg;
  tdo_pool_t *pool;
  mps_res_t res = MPS_RES_FAIL;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(obj_o != NULL, "no place for the object", MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  seg = tdo_seg_of(&arena->space, p);
  if (seg != NULL && seg->pool != NULL) {
    pool = seg->pool;
    res = pool->klass->addr_object == NULL
              ? MPS_RES_UNIMPL
              : pool->klass->addr_object(obj_o, pool,
                                         tdo_gcseg_of(&arena->space, p), p);
  }
  tdo_heap_leave(arena);
  return res;
}
