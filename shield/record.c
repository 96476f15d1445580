/* Testudo: writing a recording of the shield's requests.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "shield/record.h"

static const bool record_about_pages[TDO_REQUESTS_COUNT] = {
#define RECORD_PAGES(name, pages) pages,
    TDO_REQUESTS(RECORD_PAGES)
#undef RECORD_PAGES
};

static void record_word(tdo_record_t *file, uint64_t value) {
  for (int i = 0; i < 8; ++i) {
    *file->at++ = (unsigned char)(value >> 8 * i);
  }
}

mps_res_t tdo_shield_record_open(tdo_shield_record_t *record, const char *path,
                                 size_t page_size, size_t pages,
                                 unsigned mode) {
  mps_res_t res = tdo_record_open(&record->file, path);
  if (res == MPS_RES_OK) {
    memcpy(record->file.at, TDO_RECORD_MAGIC, 8);
    record->file.at += 8;
    record_word(&record->file, page_size);
    record_word(&record->file, pages);
    record_word(&record->file, mode);
    record->last = 0;
  }
  return res;
}

void tdo_shield_record_note(tdo_shield_record_t *record, tdo_request_t request,
                            unsigned argument, size_t first, size_t limit) {
  tdo_record_t *file = &record->file;
  if (!tdo_record_secure(file)) {
    return;
  }
  unsigned char *op = file->at++;
  if (record_about_pages[request]) {
    uint64_t step = first >= record->last
                        ? (uint64_t)(first - record->last) * 2
                        : (uint64_t)(record->last - first) * 2 - 1;
    tdo_record_number(file, step);
    tdo_record_number(file, limit - first);
    record->last = limit;
  }
  *op = (unsigned char)(request | argument << 5); /* complete: valid */
}
