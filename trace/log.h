/* Testudo: a line about each collection, for people who tune (TESTUDO_LOG).
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_TRACE_LOG_H
#define TDO_TRACE_LOG_H

#include "trace/heap.h"

/* At the end of a collection: a line about it, if the user wants them. */
void tdo_log_collection(tdo_heap_t *heap);

#endif /* TDO_TRACE_LOG_H */
