/* Testudo: writing a recording of the shield's requests.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdatomic.h>
#include <string.h>
#include "shield/record.h"

static const struct {
  bool pages;
  uint8_t numbers;
} record_shape[TDO_REQUESTS_COUNT] = {
#define RECORD_SHAPE(name, pages, numbers) {pages, numbers},
    TDO_REQUESTS(RECORD_SHAPE)
#undef RECORD_SHAPE
};

static void record_word(tdo_record_t *file, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    *file->at++ = (unsigned char)(value >> 8 * i);
}

mps_res_t tdo_shield_record_open(tdo_shield_record_t *record, const char *path,
                                 size_t page_size, size_t pages, unsigned mode,
                                 size_t mapping_limit) {
  mps_res_t res = tdo_record_open(&record->file, path);
  if (res == MPS_RES_OK) {
    memcpy(record->file.at, TDO_RECORD_MAGIC, 8);
    record->file.at += 8;
    record_word(&record->file, page_size);
    record_word(&record->file, pages);
    record_word(&record->file, mode);
    record_word(&record->file, mapping_limit);
    record->last = 0;
    record->quiet = record->writing = false;
    record->reached = SIZE_MAX;
  }
  return res;
}

void tdo_shield_record_numbers(tdo_shield_record_t *record,
                               tdo_request_t request, unsigned argument,
                               size_t first, size_t limit,
                               const uint64_t *numbers) {
  tdo_record_t *file = &record->file;
  unsigned char *op;
  if ((record_shape[request].pages && first == limit) || record->writing)
    return; /* no pages: nothing was asked, and a reader would object */
  record->writing = true;
  atomic_signal_fence(memory_order_seq_cst);
  if (!tdo_record_secure(file)) {
    record->writing = false;
    return;
  }
  op = file->at++;
  if (record_shape[request].pages) {
    uint64_t step = first >= record->last
                        ? (uint64_t)(first - record->last) * 2
                        : (uint64_t)(record->last - first) * 2 - 1;
    tdo_record_number(file, step);
    tdo_record_number(file, limit - first);
    record->last = limit;
  }
  for (unsigned i = 0; i < record_shape[request].numbers; ++i)
    tdo_record_number(file, numbers[i]);
  *op = (unsigned char)(request | argument << 5); /* complete: valid */
  atomic_signal_fence(memory_order_seq_cst);
  record->writing = false;
}

/* Memory that comes or goes: nothing that was noted tells of that, which may
   be the library's own. */
static bool record_of_memory(tdo_request_t request) {
  return request == TDO_REQUEST_COMMITTED ||
         request == TDO_REQUEST_DECOMMITTED ||
         request == TDO_REQUEST_ADOPT || request == TDO_REQUEST_RETIRE;
}

void tdo_shield_record_note(tdo_shield_record_t *record, tdo_request_t request,
                            unsigned argument, size_t first, size_t limit) {
  size_t reached = record->reached;
  if (record->quiet && !record_of_memory(request))
    return;
  if (reached != SIZE_MAX) {
    record->reached = SIZE_MAX;
    tdo_shield_record_numbers(record, TDO_REQUEST_REACHED, 0, reached,
                              reached + 1, NULL);
  }
  tdo_shield_record_numbers(record, request, argument, first, limit, NULL);
}
