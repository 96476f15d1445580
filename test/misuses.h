/* Testudo: every row of the table of misuses (interface, section 7), as
   statements of test_misuse.c, which says what the names are.
   SPDX-License-Identifier: BSD-2-Clause */
/* clang-format off */

/* null, where something is required */
M(res = mps_arena_create_k(NULL, mps_arena_class_vm(), mps_args_none));
M(res = mps_arena_create_k(&other, NULL, mps_args_none));
M(res = mps_arena_create_k(&other, mps_arena_class_vm(), NULL));
M(mps_arena_destroy(NULL));
M(mps_arena_clamp(NULL));
M(mps_arena_park(NULL));
M(mps_arena_release(NULL));
M(mps_arena_postmortem(NULL));
M(res = mps_arena_collect(NULL));
M(res = mps_arena_start_collect(NULL));
M((void)mps_arena_step(NULL, 1.0, 1.0));
M((void)mps_arena_reserved(NULL));
M((void)mps_arena_committed(NULL));
M((void)mps_arena_spare_committed(NULL));
M((void)mps_arena_commit_limit(NULL));
M((void)mps_arena_commit_limit_set(NULL, 1));
M((void)mps_arena_spare(NULL));
M(mps_arena_spare_set(NULL, 0.5));
M((void)mps_arena_pause_time(NULL));
M(mps_arena_pause_time_set(NULL, 0.5));
M((void)mps_collections(NULL));
M((void)mps_arena_busy(NULL));
M((void)mps_arena_has_addr(NULL, NULL));
M((void)mps_addr_pool(&made_pool, NULL, NULL));
M((void)mps_addr_pool(NULL, arena, table[0]));
M((void)mps_addr_fmt(NULL, arena, table[0]));
M(res = mps_addr_object(NULL, arena, table[0]));
M(res = mps_chain_create(NULL, arena, 1, good_gens));
M(res = mps_chain_create(&made_chain, NULL, 1, good_gens));
M(res = mps_chain_create(&made_chain, arena, 1, NULL));
M(mps_chain_destroy(NULL));
M(res = mps_fmt_create_k(NULL, arena, mps_args_none));
M(res = mps_fmt_create_k(&made_fmt, NULL, mps_args_none));
M(res = mps_fmt_create_k(&made_fmt, arena, NULL));
M(res = mps_fmt_create_A(&made_fmt, arena, NULL));
M(res = mps_fmt_create_B(&made_fmt, arena, NULL));
M(res = mps_fmt_create_auto_header(&made_fmt, arena, NULL));
M(res = mps_fmt_create_fixed(&made_fmt, arena, NULL));
M(mps_fmt_destroy(NULL));
M(res = mps_pool_create_k(NULL, arena, mps_class_mvff(), mps_args_none));
M(res = mps_pool_create_k(&made_pool, NULL, mps_class_mvff(), mps_args_none));
M(res = mps_pool_create_k(&made_pool, arena, NULL, mps_args_none));
M(res = mps_pool_create_k(&made_pool, arena, mps_class_mvff(), NULL));
M(mps_pool_destroy(NULL));
M((void)mps_pool_total_size(NULL));
M((void)mps_pool_free_size(NULL));
M(mps_pool_check_fenceposts(NULL));
M(mps_pool_check_free_space(NULL));
M(res = mps_alloc(NULL, mvff, 16));
M(res = mps_alloc(&out, NULL, 16));
M(mps_free(NULL, block, 64));
M(res = mps_ap_create_k(NULL, pool, mps_args_none));
M(res = mps_ap_create_k(&made_ap, NULL, mps_args_none));
M(res = mps_ap_create_k(&made_ap, pool, NULL));
M(mps_ap_destroy(NULL));
M(res = mps_ap_fill(NULL, ap, 16));
M(res = mps_ap_fill(&out, NULL, 16));
M((void)mps_ap_trip(NULL, block, 16));
M(res = (mps_reserve)(NULL, ap, 16));
M(res = (mps_reserve)(&out, NULL, 16));
M((void)(mps_commit)(NULL, block, 16));
M(res = mps_ap_frame_push(NULL, ap));
M(res = mps_ap_frame_push(&frame, NULL));
M(res = mps_ap_frame_pop(NULL, NULL));
M(res = mps_ap_alloc_pattern_begin(NULL, mps_alloc_pattern_ramp()));
M(res = mps_ap_alloc_pattern_begin(ap, NULL));
M(res = mps_ap_alloc_pattern_end(NULL, mps_alloc_pattern_ramp()));
M(res = mps_ap_alloc_pattern_reset(NULL));
M(res = mps_sac_create(NULL, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}));
M(res = mps_sac_create(&made_sac, NULL, 1, (mps_sac_class_s[]){{8, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, NULL));
M(mps_sac_destroy(NULL));
M(mps_sac_flush(NULL));
M(res = mps_sac_alloc(&out, NULL, 8, 0));
M(mps_sac_free(NULL, block, 8));
M(res = mps_root_create(NULL, arena, mps_rank_exact(), 0, scan_root, NULL, 0));
M(res = mps_root_create(&made_root, NULL, mps_rank_exact(), 0, scan_root, NULL, 0));
M(res = mps_root_create(&made_root, arena, mps_rank_exact(), 0, NULL, NULL, 0));
M(mps_root_destroy(NULL));
M(res = mps_thread_reg(NULL, arena));
M(res = mps_thread_reg(&made_thr, NULL));
M(mps_thread_dereg(NULL));
M(mps_ld_reset(NULL, arena));
M(mps_ld_reset(&ld, NULL));
M(mps_ld_add(NULL, arena, table[0]));
M((void)mps_ld_isstale(NULL, arena, table[0]));
M((void)mps_ld_isstale_any(NULL, arena));
M(mps_ld_merge(&ld, arena, NULL));
M(mps_message_type_enable(NULL, mps_message_type_gc()));
M(mps_message_type_disable(NULL, mps_message_type_gc()));
M((void)mps_message_poll(NULL));
M((void)mps_message_queue_type(NULL, arena));
M((void)mps_message_get(NULL, arena, mps_message_type_gc()));
M(mps_message_discard(arena, NULL));
M((void)mps_message_type(arena, NULL));
M((void)mps_message_clock(arena, NULL));
M((void)mps_message_gc_live_size(arena, NULL));
M((void)mps_message_gc_condemned_size(arena, NULL));
M((void)mps_message_gc_not_condemned_size(arena, NULL));
M((void)mps_message_gc_start_why(arena, NULL));
M(mps_message_finalization_ref(&out, arena, NULL));
M(res = mps_finalize(NULL, &table[0]));
M(res = mps_finalize(arena, NULL));
M(res = mps_definalize(NULL, &table[0]));
M(res = mps_definalize(arena, NULL));
M(res = mps_pool_walk(NULL, mps_scan_area, NULL));
M(mps_arena_roots_walk(NULL, NULL, NULL, 0));
M(mps_arena_formatted_objects_walk(NULL, in_callback, NULL, 0));
M(mps_amc_apply(NULL, NULL, NULL, 0));
M(res = mps_transform_create(NULL, arena));
M(res = mps_transform_add_oldnew(NULL, table, table, 0));
M(res = mps_arena_extend(NULL, table, 4096));
M(res = mps_arena_vm_growth(NULL, 1, 1));
M((void)mps_arena_spare_commit_limit(NULL));
M(mps_arena_spare_commit_limit_set(NULL, 1));
M((void)mps_addr_fmt(&made_fmt, NULL, table[0]));
M(res = mps_addr_object(&out, NULL, table[0]));
M(res = mps_root_create_fmt(NULL, arena, mps_rank_exact(), 0, obj_scan, table, table + 1));
M(res = mps_root_create_fmt(&made_root, NULL, mps_rank_exact(), 0, obj_scan, table, table + 1));
M(res = mps_root_create_area(NULL, arena, mps_rank_exact(), 0, table, table + 1, mps_scan_area, NULL));
M(res = mps_root_create_area(&made_root, NULL, mps_rank_exact(), 0, table, table + 1, mps_scan_area, NULL));
M(res = mps_root_create_area_tagged(NULL, arena, mps_rank_exact(), 0, table, table + 1, mps_scan_area_tagged, 7, 0));
M(res = mps_root_create_area_tagged(&made_root, arena, mps_rank_exact(), 0, table, table + 1, NULL, 7, 0));
M(res = mps_root_create_table(NULL, arena, mps_rank_exact(), 0, table, 1));
M(res = mps_root_create_table(&made_root, NULL, mps_rank_exact(), 0, table, 1));
M(res = mps_root_create_table_masked(NULL, arena, mps_rank_exact(), 0, table, 1, 7));
M(res = mps_root_create_thread(NULL, arena, thr, &out));
M(res = mps_root_create_thread(&made_root, NULL, thr, &out));
M(res = mps_root_create_thread_tagged(&made_root, arena, mps_rank_ambig(), 0, thr, NULL, 7, 0, &out));
M(res = mps_root_create_thread_scanned(&made_root, arena, mps_rank_ambig(), 0, thr, NULL, NULL, &out));
M(res = mps_root_create_reg(&made_root, arena, mps_rank_ambig(), 0, thr, NULL, &out, 0));
M((void)mps_message_queue_type(&type_of_first, NULL));
M((void)mps_message_get(&message, NULL, mps_message_type_gc()));
M(mps_ld_add(&ld, NULL, table[0]));
M((void)mps_ld_isstale(&ld, NULL, table[0]));
M(mps_ld_merge(NULL, arena, &ld));
M((void)mps_sac_fill(&out, NULL, 8, 0));
M(mps_sac_empty(NULL, block, 8));
M(res = mps_pool_walk(pool, NULL, NULL));
M(mps_arena_roots_walk(arena, NULL, NULL, 0));
M(mps_arena_formatted_objects_walk(arena, NULL, NULL, 0));
M(mps_amc_apply(pool, NULL, NULL, 0));
M((void)mps_telemetry_intern(NULL));
M(res = mps_transform_apply(NULL, NULL));
M(mps_transform_destroy(NULL));

M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 0, table, SIZE_MAX / sizeof(mps_addr_t) + 3));
M(res = mps_root_create_table_masked(&made_root, arena, mps_rank_ambig(), 0, table, SIZE_MAX / sizeof(mps_addr_t) + 3, 7));

/* destroyed handles */
M(res = mps_fmt_create_k(&made_fmt, arena, mps_args_none); mps_fmt_destroy(made_fmt); mps_fmt_destroy(made_fmt));
M(res = mps_fmt_create_k(&made_fmt, arena, mps_args_none); mps_fmt_destroy(made_fmt); POOL_WITH(mps_class_amc(), FORMAT, made_fmt));
M(mps_pool_destroy(mvff); mps_pool_destroy(mvff));
M(mps_pool_destroy(mvff); res = mps_alloc(&out, mvff, 16));
M(root_made(); mps_root_destroy(made_root); mps_root_destroy(made_root));
M(made_ap = point(pool); mps_ap_destroy(made_ap); mps_ap_destroy(made_ap));
M(made_ap = point(pool); mps_ap_destroy(made_ap); res = mps_ap_fill(&out, made_ap, 16));
M(res = mps_thread_reg(&made_thr, arena); mps_thread_dereg(made_thr); mps_thread_dereg(made_thr));
M(res = mps_chain_create(&made_chain, arena, 1, good_gens); mps_chain_destroy(made_chain); mps_chain_destroy(made_chain));
M(res = mps_chain_create(&made_chain, arena, 1, good_gens); mps_chain_destroy(made_chain); POOL_WITH_2(mps_class_amc(), FORMAT, fmt, CHAIN, made_chain));
M(get_message(mps_message_type_gc()); mps_message_discard(arena, message); mps_message_discard(arena, message));
M(get_message(mps_message_type_gc()); mps_message_discard(arena, message); (void)mps_message_type(arena, message));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}); mps_sac_destroy(made_sac); mps_sac_destroy(made_sac));
M(res = mps_transform_create(&made_transform, arena); mps_transform_destroy(made_transform); mps_transform_destroy(made_transform));
M(mps_arena_destroy(other); (void)mps_arena_committed(other));
M(mps_pool_destroy(mvff); mps_free(mvff, block, 64));
M(mps_pool_destroy(mvff); res = mps_ap_create_k(&made_ap, mvff, mps_args_none));
M(mps_pool_destroy(mvff); (void)mps_pool_total_size(mvff));
M(made_ap = point(pool); mps_ap_destroy(made_ap); res = (mps_reserve)(&out, made_ap, 16));
M(made_ap = point(pool); mps_ap_destroy(made_ap); (void)(mps_commit)(made_ap, block, 16));
M(made_ap = point(pool); mps_ap_destroy(made_ap); res = mps_ap_frame_push(&frame, made_ap));
M(res = mps_thread_reg(&made_thr, arena); mps_thread_dereg(made_thr); res = mps_root_create_thread(&made_root, arena, made_thr, &out));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}); mps_sac_destroy(made_sac); res = mps_sac_alloc(&out, made_sac, 8, 0));
M(res = mps_transform_create(&made_transform, arena); mps_transform_destroy(made_transform); res = mps_transform_apply(&applied, made_transform));
M(get_message(mps_message_type_gc()); mps_message_discard(arena, message); (void)mps_message_gc_live_size(arena, message));

/* two arenas */
M(res = mps_fmt_create_k(&made_fmt, other, mps_args_none); POOL_WITH(mps_class_amc(), FORMAT, made_fmt));
M(res = mps_chain_create(&made_chain, other, 1, good_gens); POOL_WITH_2(mps_class_amc(), FORMAT, fmt, CHAIN, made_chain));
M(res = mps_root_create_thread(&made_root, other, thr, &out));

/* callbacks */
M(mps_arena_formatted_objects_walk(arena, in_callback, NULL, 0));

/* keywords */
M(POOL_WITH(mps_class_amc(), CHAIN, chain));
M(res = mps_pool_create_k(&made_pool, arena, mps_class_mfs(), mps_args_none));
M(mps_arg_s args[2000]; for (int i = 0; i < 2000; ++i) args[i].key = MPS_KEY_RANK; res = mps_ap_create_k(&made_ap, pool, args));
M(mps_arg_s args[2] = {{NULL, {0}}}; res = mps_ap_create_k(&made_ap, pool, args));

/* arenas */
M(ARENA_WITH(ARENA_GRAIN_SIZE, 3 * suite_pages(1)));
M(ARENA_WITH(SPARE, 1.5));
M(ARENA_WITH(SPARE, -0.5));
M(ARENA_WITH(PAUSE_TIME, -1.0));
M(mps_arena_spare_set(arena, 1.5));
M(mps_arena_spare_set(arena, -0.1));
M(mps_arena_pause_time_set(arena, -0.1));
M((void)mps_arena_step(arena, -1.0, 0.0));
M((void)mps_arena_step(arena, 0.0, -1.0));
M(res = mps_arena_create(&other, mps_arena_class_cl(), (size_t)1 << 20, (mps_addr_t)NULL));
M(res = mps_arena_create_k(&other, mps_arena_class_cl(), mps_args_none));
M(mps_arena_destroy(arena));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_pool_create_k(&made_pool, a, mps_class_mvff(), mps_args_none); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_fmt_create_k(&made_fmt, a, mps_args_none); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_root_create(&made_root, a, mps_rank_exact(), 0, scan_root, NULL, 0); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_chain_create(&made_chain, a, 1, good_gens); mps_arena_destroy(a));
M(mps_arena_t a; res = mps_arena_create_k(&a, mps_arena_class_vm(), mps_args_none); res = mps_thread_reg(&made_thr, a); mps_arena_destroy(a));
M(res = mps_arena_extend(arena, other_words, 4096));
M(res = mps_arena_vm_growth(arena, 4096, 8192));
M(mps_arena_t a; res = mps_arena_create(&a, mps_arena_class_cl(), sizeof client, client); res = mps_arena_vm_growth(a, 4096, 4096));
M(mps_arena_t a; MPS_ARGS_BEGIN(args) { MPS_ARGS_ADD(args, MPS_KEY_ARENA_CL_BASE, client); MPS_ARGS_ADD(args, MPS_KEY_ARENA_SIZE, sizeof client); MPS_ARGS_ADD(args, MPS_KEY_ARENA_GRAIN_SIZE, 3000); res = mps_arena_create_k(&a, mps_arena_class_cl(), args); } MPS_ARGS_END(args));

/* chains */
M(res = mps_chain_create(&made_chain, arena, 0, good_gens));
M(res = mps_chain_create(&made_chain, arena, 1, (mps_gen_param_s[]){{0, 0.5}}));
M(res = mps_chain_create(&made_chain, arena, 1, (mps_gen_param_s[]){{1, 1.5}}));
M(res = mps_chain_create(&made_chain, arena, 1, (mps_gen_param_s[]){{1, -0.5}}));
M(mps_chain_destroy(chain));

/* formats */
M(FORMAT_WITH(FMT_ALIGN, 0));
M(FORMAT_WITH(FMT_ALIGN, 24));
M(mps_fmt_destroy(fmt));

/* pools */
M(res = mps_pool_create_k(&made_pool, arena, mps_class_amc(), mps_args_none));
M(res = mps_pool_create_k(&made_pool, arena, mps_class_lo(), mps_args_none));
M(POOL_WITH_2(mps_class_amc(), FORMAT, fmt, EXTEND_BY, 0));
M(POOL_WITH_2(mps_class_amc(), FORMAT, fmt, CHAIN, NULL));
M(POOL_WITH(mps_class_mvff(), EXTEND_BY, 0));
M(POOL_WITH(mps_class_mvff(), MEAN_SIZE, 0));
M(POOL_WITH(mps_class_mvff(), ALIGN, 24));
M(POOL_WITH(mps_class_mvff(), ALIGN, 4));
M(POOL_WITH(mps_class_mvff(), ALIGN, (size_t)1 << 20));
M(POOL_WITH(mps_class_mvff(), SPARE, 2.0));
M(POOL_WITH(mps_class_mfs(), MFS_UNIT_SIZE, 0));
M(POOL_WITH_2(mps_class_mfs(), MFS_UNIT_SIZE, 8, EXTEND_BY, 0));
M(POOL_WITH_2(mps_class_mvt(), MIN_SIZE, 64, MEAN_SIZE, 32));
M(POOL_WITH_2(mps_class_mvt(), MEAN_SIZE, 64, MAX_SIZE, 32));
M(POOL_WITH(mps_class_mvt(), MIN_SIZE, 64)); /* the mean is 32 if not given */
M(POOL_WITH(mps_class_mvt(), MEAN_SIZE, 10000));
M(POOL_WITH(mps_class_mvt(), MVT_FRAG_LIMIT, 1.5));
M(POOL_WITH(mps_class_mvt(), MEAN_SIZE, 0));
M(POOL_WITH(mps_class_mvt(), MIN_SIZE, 0));
M(POOL_WITH(mps_class_mvt(), ALIGN, 24));
M(POOL_WITH(mps_class_mvt(), ALIGN, 4));
M(POOL_WITH(mps_class_mvt(), MVT_FRAG_LIMIT, -0.5));
M(POOL_WITH(mps_class_mvff_debug(), POOL_DEBUG_OPTIONS, NULL));
M(res = mps_pool_create_k(&made_pool, arena, mps_class_snc(), mps_args_none));
M(res = mps_pool_create(&made_pool, arena, mps_class_amc(), fmt, (mps_chain_t)NULL));
M(POOL_WITH_2(mps_class_lo(), FORMAT, fmt, GEN, 9));
M(POOL_WITH_2(mps_class_ams(), FORMAT, fmt, GEN, 9));
M(POOL_WITH_2(mps_class_awl(), FORMAT, fmt, GEN, 9));
M(mps_pool_destroy(pool));

/* manual allocation */
M(res = mps_alloc(&out, pool, 16));
M(mps_free(pool, table[0], 16));
M(res = mps_alloc(&out, snc, 16));
M(res = mps_alloc(&out, mvff, 0));
M(mps_free(mvff, block, 0));
M(res = mps_alloc(&out, mfs, 32));
M(res = mps_alloc(&out, mfs, 64); mps_free(mfs, out, 32));
M(mps_free(mvff, NULL, 64));
M(mps_free(mvff, (char *)block + 1, 16));
M(mps_free(mvff, other_words, 16));
M(mps_free(mvff, table[0], 16));
M(mps_free(mvff, block, 64); mps_free(mvff, block, 64));
M(mps_free(mvff, block, 4096));
M(mps_free(mvff, (char *)block - 64, 64));
M(mps_free(snc, table[0], 16));
M(mps_free(mfs, NULL, 64));
M(mps_free(mfs, other_words, 64));
M(out = alloc(mfs, 64); mps_free(mfs, (char *)out + 1, 64));
M(out = alloc(mfs, 64); mps_free(mfs, out, 64); mps_free(mfs, out, 64));
M(MVT; out = make(point(made_pool), 64); mps_free(made_pool, out, 64); mps_free(made_pool, out, 64));
M(MVT; out = make(point(made_pool), 64); mps_free(made_pool, (char *)out + 3, 16));
M(MVT; res = mps_alloc(&out, made_pool, 64));
M(MVT; mps_free(made_pool, block, 64));
M(res = mps_alloc(&out, mfs, 63));
M(res = mps_alloc(&out, mfs, 0));
M(out = alloc(mfs, 64); mps_free(mfs, out, 0));
M(MVT; out = make(point(made_pool), 64); mps_free(made_pool, out, 0));

/* allocation points */
M(res = mps_ap_create_k(&made_ap, mfs, mps_args_none));
M(MPS_ARGS_BEGIN(args) { MPS_ARGS_ADD(args, MPS_KEY_RANK, 4); res = mps_ap_create_k(&made_ap, snc, args); } MPS_ARGS_END(args));
M(res = mps_ap_create(&made_ap, snc, 4));
M(POOL_WITH(mps_class_ams(), FORMAT, fmt); res = mps_ap_create(&made_ap, made_pool, 4));
M(POOL_WITH(mps_class_awl(), FORMAT, fmt); res = mps_ap_create(&made_ap, made_pool, 4));
M(MPS_ARGS_BEGIN(args) { MPS_ARGS_ADD(args, MPS_KEY_GEN, 4); res = mps_ap_create_k(&made_ap, pool, args); } MPS_ARGS_END(args));
M(res = mps_ap_fill(&out, ap, 0));
M(res = (mps_reserve)(&out, ap, 0));
M(res = mps_ap_fill(&out, ap, 13));
M(res = (mps_reserve)(&out, ap, 13));
M(res = (mps_reserve)(&out, ap, 16); res = (mps_reserve)(&out, ap, 16));
M(res = (mps_reserve)(&out, ap, 16); res = mps_ap_fill(&out, ap, 16));
M(res = (mps_reserve)(&out, ap, 16); (void)(mps_commit)(ap, NULL, 16));
M(res = (mps_reserve)(&out, ap, 16); (void)(mps_commit)(ap, (char *)out + 8, 16));
M(res = (mps_reserve)(&out, ap, 16); (void)(mps_commit)(ap, out, 24));
M((void)(mps_commit)(ap, table[0], 16));
M(res = (mps_reserve)(&out, ap, 16); mps_ap_destroy(ap));
M((void)mps_ap_trip(ap, table[0], 16));

/* caches */
M(res = mps_sac_create(&made_sac, mvff, 0, (mps_sac_class_s[]){{8, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 2, (mps_sac_class_s[]){{16, 1, 1}, {8, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 2, (mps_sac_class_s[]){{16, 1, 1}, {16, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{4, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{12, 1, 1}}));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}); res = mps_sac_alloc(&out, made_sac, 0, 0));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}); res = mps_sac_alloc(&out, made_sac, 8, 0); mps_sac_free(made_sac, out, 0));
M(res = mps_sac_create(&made_sac, mvff, 1, (mps_sac_class_s[]){{8, 1, 1}}); mps_sac_free(made_sac, NULL, 8));
M(res = mps_sac_create(&made_sac, snc, 1, (mps_sac_class_s[]){{8, 1, 1}}); res = mps_sac_alloc(&out, made_sac, 8, 0));
M(res = mps_sac_create(&made_sac, snc, 1, (mps_sac_class_s[]){{8, 1, 1}}); mps_sac_free(made_sac, block, 8); mps_sac_flush(made_sac));

/* roots */
M(res = mps_root_create(&made_root, arena, 4, 0, scan_root, NULL, 0));
M(res = mps_root_create_fmt(&made_root, arena, 4, 0, obj_scan, table, table + 1));
M(res = mps_root_create_area(&made_root, arena, 4, 0, table, table + 1, mps_scan_area, NULL));
M(res = mps_root_create_area_tagged(&made_root, arena, 4, 0, table, table + 1, mps_scan_area_tagged, 7, 0));
M(res = mps_root_create_table(&made_root, arena, 4, 0, table, 1));
M(res = mps_root_create_table_masked(&made_root, arena, 4, 0, table, 1, 7));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 16, obj_scan, table, table + 1));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 4, table, table + 1, mps_scan_area, NULL));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 0, obj_scan, table + 1, table));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 8, table, 4));
M(res = mps_root_create(&made_root, arena, mps_rank_exact(), MPS_RM_CONST, scan_root, NULL, 0));
M(res = mps_root_create_reg(&made_root, arena, mps_rank_ambig(), MPS_RM_PROT, thr, mps_stack_scan_ambig, &out, 0));
M(res = mps_root_create_thread_tagged(&made_root, arena, mps_rank_ambig(), MPS_RM_PROT, thr, mps_scan_area_tagged, 7, 0, &out));
M(res = mps_root_create_thread_scanned(&made_root, arena, mps_rank_ambig(), MPS_RM_PROT, thr, mps_scan_area, NULL, &out));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 0, NULL, 4));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 0, (mps_addr_t *)(mps_addr_t)((char *)table + 1), 4));
M(res = mps_root_create_table(&made_root, arena, mps_rank_exact(), 0, table, 0));
M(res = mps_root_create_table_masked(&made_root, arena, mps_rank_exact(), 0, table, 0, 7));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, table, table, mps_scan_area, NULL));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, table + 1, table, mps_scan_area, NULL));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, (char *)table + 1, table + 9, mps_scan_area, NULL));
M(res = mps_root_create_area(&made_root, arena, mps_rank_exact(), 0, table, table + 9, NULL, NULL));
M(res = mps_root_create_area_tagged(&made_root, arena, mps_rank_exact(), 0, table, (char *)table + 9, mps_scan_area_tagged, 7, 0));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 0, obj_scan, NULL, table));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 0, obj_scan, table, table));
M(res = mps_root_create_fmt(&made_root, arena, mps_rank_exact(), 0, NULL, table, table + 1));
M(res = mps_root_create_thread(&made_root, arena, NULL, &out));
M(res = mps_root_create_thread(&made_root, arena, thr, NULL));
M(res = mps_root_create_thread(&made_root, arena, thr, (char *)&out + 1));
M(res = mps_root_create_thread_tagged(&made_root, arena, mps_rank_exact(), 0, thr, mps_scan_area_tagged, 7, 0, &out));
M(res = mps_root_create_thread_scanned(&made_root, arena, mps_rank_exact(), 0, thr, mps_scan_area, NULL, &out));
M(res = mps_root_create_reg(&made_root, arena, mps_rank_exact(), 0, thr, mps_stack_scan_ambig, &out, 0));
M(res = mps_root_create_reg(&made_root, arena, mps_rank_ambig(), 0, thr, scan_reg, &out, 0));

/* scanning */
M(table[1] = (char *)table[0] + 1; res = mps_arena_collect(arena));

/* location dependencies */
M(memset(&ld, 0x7E, sizeof ld); mps_ld_add(&ld, arena, table[0]));
M(memset(&ld, 0x7E, sizeof ld); (void)mps_ld_isstale(&ld, arena, table[0]));
M(memset(&ld, 0x7E, sizeof ld); (void)mps_ld_isstale_any(&ld, arena));
M(mps_ld_s fresh; memset(&ld, 0x7E, sizeof ld); mps_ld_reset(&fresh, arena); mps_ld_merge(&fresh, arena, &ld));

/* messages */
M(mps_message_type_enable(arena, 17));
M(mps_message_type_disable(arena, 17));
M((void)mps_message_get(&message, arena, 17));
M(get_message(mps_message_type_gc()); (void)mps_message_gc_start_why(arena, message));
M(get_message(mps_message_type_gc()); mps_message_finalization_ref(&out, arena, message));
M(get_message(mps_message_type_gc_start()); (void)mps_message_gc_live_size(arena, message));
M(get_message(mps_message_type_finalization()); (void)mps_message_gc_condemned_size(arena, message));

/* finalization */
M(res = mps_finalize(arena, (mps_addr_t[]){&table[0]}));
M(res = mps_finalize(arena, &block));
M(out = (char *)table[0] + 1; res = mps_finalize(arena, &out));
M(res = mps_finalize(arena, (mps_addr_t[]){obj_on(point(snc), OBJ_NODE, 2)}));
M(res = mps_definalize(arena, (mps_addr_t[]){&table[0]}));

/* walking */
M(mps_arena_release(arena); res = mps_pool_walk(pool, mps_scan_area, NULL));
M(mps_amc_apply(mvff, step, NULL, 0));
M(mps_amc_apply(obj_pool(mps_class_lo()), step, NULL, 0));
M(in_progress(); mps_arena_clamp(arena); res = mps_pool_walk(pool, mps_scan_area, NULL));
M(in_progress(); mps_amc_apply(pool, step, NULL, 0));
M(in_progress(); mps_arena_clamp(arena); mps_arena_roots_walk(arena, step_root, NULL, 0));

/* transforms */
M(NEW_TRANSFORM; res = mps_transform_add_oldnew(made_transform, &block, table, 1));
M(NEW_TRANSFORM; res = mps_transform_add_oldnew(made_transform, (mps_addr_t[]){table}, table, 1));
M(NEW_TRANSFORM; res = mps_transform_add_oldnew(made_transform, (mps_addr_t[]){table[0], table[0]}, (mps_addr_t[]){table[0], table[0]}, 2));
M(NEW_TRANSFORM; res = mps_transform_add_oldnew(made_transform, NULL, table, 1));
M(NEW_TRANSFORM; res = mps_transform_apply(NULL, made_transform));
M(out = obj_on(point(snc), OBJ_NODE, 2); NEW_TRANSFORM; res = mps_transform_add_oldnew(made_transform, &out, table, 1); res = mps_transform_apply(&applied, made_transform));

/* telemetry */
M(mps_telemetry_label(table[0], 12345));

/* clang-format on */
