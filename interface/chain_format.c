/* Testudo: entry points for generation chains and object formats (interface,
   sections 2.7 and 2.8).
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/args.h"
#include "interface/entry.h"

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
    TDO_ASSERT(params[i].mps_capacity > 0,
               "a generation's capacity must be positive");
    TDO_ASSERT(params[i].mps_mortality >= 0.0 &&
                   params[i].mps_mortality <= 1.0,
               "a generation's mortality must lie between 0.0 and 1.0");
  }
  tdo_heap_enter(arena);
  res = tdo_chain_create(chain_o, arena, count, params);
  tdo_heap_leave(arena);
  return res;
}

void mps_chain_destroy(mps_chain_t chain) {
  mps_arena_t arena;

  ENTRY_REQUIRE(chain != NULL && chain->sig == TDO_CHAIN_SIG,
                "not a chain, or one destroyed", );
  arena = chain->heap;
  tdo_heap_enter(arena);
  TDO_ASSERT(!tdo_trace_busy(&arena->trace) || chain->pools > 0 ||
                 !chain->gens[0].condemned,
             "a chain was destroyed while it is being collected");
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
  tdo_heap_enter(arena);
  res = tdo_format_create(fmt_o, arena, methods);
  tdo_heap_leave(arena);
  return res;
}

mps_res_t mps_fmt_create_k(mps_fmt_t *fmt_o, mps_arena_t arena,
                           mps_arg_s args[]) {
  tdo_format_t m;
  mps_arg_s arg;

  if (!tdo_args_check(args))
    return MPS_RES_PARAM;
  memset(&m, 0, sizeof m);
  m.align = sizeof(tdo_word_t);
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_ALIGN))
    m.align = arg.val.align;
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_HEADER_SIZE))
    m.header = arg.val.size;
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_SCAN))
    m.scan = arg.val.fmt_scan;
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_SKIP))
    m.skip = arg.val.fmt_skip;
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_FWD))
    m.fwd = arg.val.fmt_fwd;
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_ISFWD))
    m.isfwd = arg.val.fmt_isfwd;
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_PAD))
    m.pad = arg.val.fmt_pad;
  if (tdo_arg_pick(&arg, args, MPS_KEY_FMT_CLASS))
    m.klass = arg.val.fmt_class;
  return format_create(fmt_o, arena, &m);
}

mps_res_t mps_fmt_create_A(mps_fmt_t *fmt_o, mps_arena_t arena,
                           mps_fmt_A_s *a) {
  tdo_format_t m;

  ENTRY_REQUIRE(a != NULL, "no format description", MPS_RES_PARAM);
  memset(&m, 0, sizeof m);
  m.align = a->align;
  m.scan = a->scan;
  m.skip = a->skip;
  m.fwd = a->fwd;
  m.isfwd = a->isfwd;
  m.pad = a->pad;
  return format_create(fmt_o, arena, &m);
}

mps_res_t mps_fmt_create_B(mps_fmt_t *fmt_o, mps_arena_t arena,
                           mps_fmt_B_s *b) {
  tdo_format_t m;

  ENTRY_REQUIRE(b != NULL, "no format description", MPS_RES_PARAM);
  memset(&m, 0, sizeof m);
  m.align = b->align;
  m.scan = b->scan;
  m.skip = b->skip;
  m.fwd = b->fwd;
  m.isfwd = b->isfwd;
  m.pad = b->pad;
  m.klass = b->mps_class;
  return format_create(fmt_o, arena, &m);
}

mps_res_t mps_fmt_create_auto_header(mps_fmt_t *fmt_o, mps_arena_t arena,
                                     mps_fmt_auto_header_s *h) {
  tdo_format_t m;

  ENTRY_REQUIRE(h != NULL, "no format description", MPS_RES_PARAM);
  memset(&m, 0, sizeof m);
  m.align = h->align;
  m.header = h->mps_headerSize;
  m.scan = h->scan;
  m.skip = h->skip;
  m.fwd = h->fwd;
  m.isfwd = h->isfwd;
  m.pad = h->pad;
  return format_create(fmt_o, arena, &m);
}

mps_res_t mps_fmt_create_fixed(mps_fmt_t *fmt_o, mps_arena_t arena,
                               mps_fmt_fixed_s *f) {
  tdo_format_t m;

  ENTRY_REQUIRE(f != NULL, "no format description", MPS_RES_PARAM);
  memset(&m, 0, sizeof m);
  m.align = f->align;
  m.scan = f->scan;
  m.fwd = f->fwd;
  m.isfwd = f->isfwd;
  m.pad = f->pad;
  return format_create(fmt_o, arena, &m);
}

void mps_fmt_destroy(mps_fmt_t fmt) {
  mps_arena_t arena;

  ENTRY_REQUIRE(fmt != NULL && fmt->sig == TDO_FORMAT_SIG,
                "not a format, or one destroyed", );
  arena = fmt->heap;
  tdo_heap_enter(arena);
  tdo_format_destroy(fmt);
  tdo_heap_leave(arena);
}
