/* Testudo: entry points for generation chains and object formats (interface,
   sections 2.7 and 2.8).
   SPDX-License-Identifier: BSD-2-Clause */
#include "code/args.h"
#include "interface/entry.h"
#include "mpstd.h"

mps_res_t mps_chain_create(mps_chain_t *chain_o, mps_arena_t arena,
                           size_t count, mps_gen_param_s params[]) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(chain_o != NULL && params != NULL,
                "a chain needs parameters and a place for its handle",
                MPS_RES_PARAM);
  ENTRY_REQUIRE(count > 0, "a chain needs at least one generation",
                MPS_RES_PARAM);
  for (size_t i = 0; i < count; ++i) {
    ENTRY_REQUIRE(params[i].mps_capacity > 0,
                  "a generation's capacity must be positive", MPS_RES_PARAM);
    ENTRY_REQUIRE(params[i].mps_mortality >= 0.0 &&
                      params[i].mps_mortality <= 1.0,
                  "a generation's mortality must lie between 0.0 and 1.0",
                  MPS_RES_PARAM);
  }
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_chain_create(chain_o, arena, count, params);
  tdo_heap_leave(arena);
  return res;
}

void mps_chain_destroy(mps_chain_t chain) {
  mps_arena_t arena;

  ENTRY_REQUIRE(chain != NULL && chain->sig == TDO_CHAIN_SIG,
                "not a chain, or one destroyed", );
  arena = chain->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  TDO_ASSERT(!tdo_trace_busy(&arena->trace) || chain->pools > 0 ||
                 !chain->gens[0].condemned,
             "a chain was destroyed while it is being collected");
  if (tdo_trace_flipped(&arena->trace)) /* else nothing of it is condemned */
    tdo_trace_finish(arena);
  tdo_chain_destroy(chain);
  tdo_heap_leave(arena);
}

static mps_res_t format_create(mps_fmt_t *fmt_o, mps_arena_t arena,
                               const tdo_format_t *methods) {
  mps_res_t res;

  ENTRY_ARENA(arena, MPS_RES_PARAM);
  ENTRY_REQUIRE(fmt_o != NULL, "no place for the new format",
                MPS_RES_PARAM);
  ENTRY_ENTER(arena, MPS_RES_FAIL);
  res = tdo_format_create(fmt_o, arena, methods);
  tdo_heap_leave(arena);
  return res;
}

mps_res_t mps_fmt_create_k(mps_fmt_t *fmt_o, mps_arena_t arena,
                           mps_arg_s args[]) {
  tdo_format_t m = {.align = MPS_PF_ALIGN};
  mps_arg_s arg;

  if (!tdo_args_check(args))
    return MPS_RES_PARAM;
#define FORMAT_KEY(key, field, member)                                        \
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_##key))                            \
    m.field = arg.val.member;
  FORMAT_KEY(ALIGN, align, align)
  FORMAT_KEY(HEADER_SIZE, header, size)
  FORMAT_KEY(SCAN, scan, fmt_scan)
  FORMAT_KEY(SKIP, skip, fmt_skip)
  FORMAT_KEY(FWD, fwd, fmt_fwd)
  FORMAT_KEY(ISFWD, isfwd, fmt_isfwd)
  FORMAT_KEY(PAD, pad, fmt_pad)
#undef FORMAT_KEY
  /* The class method could only be of use to telemetry, which has no event for
     it. */
  (void)tdo_arg_pick(&arg, args, MPS_KEY_FMT_CLASS);
  return format_create(fmt_o, arena, &m);
}

/* A constructor from the structure TYPE at F: what all of them have, and
   what is given here. */
#define FORMAT_FROM(name, type, ...)                                          \
  mps_res_t name(mps_fmt_t *fmt_o, mps_arena_t arena, type *f) {              \
    ENTRY_REQUIRE(f != NULL, "no format description", MPS_RES_PARAM);         \
    tdo_format_t m = {.align = f->align,                                      \
                      .scan = f->scan,                                        \
                      .fwd = f->fwd,                                          \
                      .isfwd = f->isfwd,                                      \
                      .pad = f->pad,                                          \
                      __VA_ARGS__};                                           \
    return format_create(fmt_o, arena, &m);                                   \
  }

FORMAT_FROM(mps_fmt_create_A, mps_fmt_A_s, .skip = f->skip)
FORMAT_FROM(mps_fmt_create_B, mps_fmt_B_s, .skip = f->skip)
FORMAT_FROM(mps_fmt_create_auto_header, mps_fmt_auto_header_s,
            .skip = f->skip, .header = f->mps_headerSize)
FORMAT_FROM(mps_fmt_create_fixed, mps_fmt_fixed_s, .skip = NULL)

void mps_fmt_destroy(mps_fmt_t fmt) {
  mps_arena_t arena;

  ENTRY_REQUIRE(fmt != NULL && fmt->sig == TDO_FORMAT_SIG,
                "not a format, or one destroyed", );
  arena = fmt->heap;
  ENTRY_ENTER_OUTSIDE(arena, );
  tdo_format_destroy(fmt);
  tdo_heap_leave(arena);
}
