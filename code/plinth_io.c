/* Testudo: the default plinth, the output half (interface, section 2.27), on
   the ISO C library alone. SPDX-License-Identifier: BSD-2-Clause */
#include "code/base.h"

#if !defined(CONFIG_PLINTH_NONE)

#include <stdio.h>
#include <stdlib.h>
#include "mpsio.h"

static FILE *plinth_file(mps_io_t io) {
  return (FILE *)(void *)io;
}

mps_res_t mps_io_create(mps_io_t *io_o) {
  const char *name = getenv("MPS_TELEMETRY_FILENAME");
  FILE *file = fopen(name != NULL ? name : "mpsio.log", "wb");
  if (file == NULL) {
    return MPS_RES_IO;
  }
  *io_o = (mps_io_t)(void *)file;
  return MPS_RES_OK;
}

void mps_io_destroy(mps_io_t io) {
  (void)fclose(plinth_file(io));
}

mps_res_t mps_io_write(mps_io_t io, void *buf, size_t size) {
  return fwrite(buf, 1, size, plinth_file(io)) == size ? MPS_RES_OK
                                                       : MPS_RES_IO;
}

mps_res_t mps_io_flush(mps_io_t io) {
  return fflush(plinth_file(io)) == 0 ? MPS_RES_OK : MPS_RES_IO;
}

#endif /* !CONFIG_PLINTH_NONE */
