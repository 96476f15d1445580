/* Testudo: where the telemetry goes. The functions may be replaced by
   the client at link time.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpsio_h
#define mpsio_h

#include "mps.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A stream of bytes. The library makes it when it first has events to write,
   and calls these functions one at a time, with locks held, and maybe in the
   handler of a memory fault or with threads stopped. They may not call the
   library or touch managed memory. */
typedef struct mps_io_s *mps_io_t;

/* Open the stream; the default is the file that the environment variable
   MPS_TELEMETRY_FILENAME names, or mpsio.log. MPS_RES_IO. */
mps_res_t mps_io_create(mps_io_t *io_o);

/* Close it. */
void mps_io_destroy(mps_io_t io);

/* Write all size bytes of buf, or push out what was written; MPS_RES_IO. */
mps_res_t mps_io_write(mps_io_t io, void *buf, size_t size);
mps_res_t mps_io_flush(mps_io_t io);

#ifdef __cplusplus
}
#endif

#endif /* mpsio_h */
