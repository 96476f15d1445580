/* Testudo: a table of blocks by address.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "pool/tags.h"
#include "code/check.h"

#define TAGS_FIRST 64 /* chains of the smallest table */

static size_t tags_hash(const char *block) {
  return (size_t)(((tdo_word_t)block * 0x9E3779B97F4A7C15u) >> 20);
}

void tdo_tags_init(tdo_tags_t *tags, tdo_pool_t *pool) {
  tags->pool = pool;
  tags->chains = NULL;
  tags->chain_count = tags->count = 0;
}

void tdo_tags_finish(tdo_tags_t *tags) {
  for (size_t i = 0; i < tags->chain_count; ++i)
    while (tags->chains[i] != NULL) {
      tdo_tag_t *tag = tags->chains[i];
      tags->chains[i] = tag->next;
      tdo_pool_control_free(tags->pool, tag, sizeof *tag);
    }
  if (tags->chain_count > 0)
    tdo_pool_control_free(tags->pool, tags->chains,
                          tags->chain_count * sizeof *tags->chains);
  tdo_tags_init(tags, tags->pool);
}

static tdo_tag_t **tags_chain(const tdo_tags_t *tags, const char *block) {
  return &tags->chains[tags_hash(block) & (tags->chain_count - 1)];
}

/* Twice as many chains, or some to begin with. */
static mps_res_t tags_grow(tdo_tags_t *tags) {
  tdo_tags_t new = *tags;
  void *p;
  mps_res_t res;

  new.chain_count = tdo_max(TAGS_FIRST, tags->chain_count * 2);
  res = tdo_pool_control_alloc(&p, tags->pool,
                               new.chain_count * sizeof *new.chains);
  if (res != MPS_RES_OK)
    return res;
  new.chains = p;
  memset(new.chains, 0, new.chain_count * sizeof *new.chains);
  for (size_t i = 0; i < tags->chain_count; ++i)
    while (tags->chains[i] != NULL) {
      tdo_tag_t *tag = tags->chains[i];
      tdo_tag_t **chain = tags_chain(&new, tag->block);
      tags->chains[i] = tag->next;
      tag->next = *chain;
      *chain = tag;
    }
  if (tags->chain_count > 0)
    tdo_pool_control_free(tags->pool, tags->chains,
                          tags->chain_count * sizeof *tags->chains);
  *tags = new;
  return MPS_RES_OK;
}

mps_res_t tdo_tags_add(tdo_tags_t *tags, char *block, size_t size) {
  tdo_tag_t *tag, **chain;
  void *p;
  mps_res_t res;

  if (tags->count >= tags->chain_count) {
    res = tags_grow(tags);
    if (res != MPS_RES_OK && tags->chain_count == 0)
      return res;
  }
  res = tdo_pool_control_alloc(&p, tags->pool, sizeof *tag);
  if (res != MPS_RES_OK)
    return res;
  tag = p;
  tag->block = block;
  tag->size = size;
  chain = tags_chain(tags, block);
  tag->next = *chain;
  *chain = tag;
  ++tags->count;
  return MPS_RES_OK;
}

tdo_tag_t *tdo_tags_find(const tdo_tags_t *tags, const char *block) {
  tdo_tag_t *tag;

  if (tags->chain_count == 0)
    return NULL;
  tag = *tags_chain(tags, block);
  while (tag != NULL && tag->block != block)
    tag = tag->next;
  return tag;
}

void tdo_tags_remove(tdo_tags_t *tags, const char *block) {
  tdo_tag_t **link = tags_chain(tags, block), *tag;

  while ((*link)->block != block)
    link = &(*link)->next;
  tag = *link;
  *link = tag->next;
  --tags->count;
  tdo_pool_control_free(tags->pool, tag, sizeof *tag);
}

void tdo_tags_each(const tdo_tags_t *tags, tdo_tags_visit_t visit) {
  for (size_t i = 0; i < tags->chain_count; ++i)
    for (tdo_tag_t *tag = tags->chains[i]; tag != NULL; tag = tag->next)
      visit(tags->pool, tag);
}
