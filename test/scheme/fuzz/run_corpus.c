/* Testudo: run a fuzz target on the inputs of a corpus, given as arguments.
   SPDX-License-Identifier: BSD-2-Clause */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const char *path) {
  static uint8_t data[1 << 16];
  FILE *file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  size_t size = fread(data, 1, sizeof data, file);
  fclose(file);
  printf("%s\n", path);
  fflush(stdout);
  LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    fputs("usage: scheme_corpus FILE...\n", stderr);
    return 2;
  }
  LLVMFuzzerInitialize(&argc, &argv);
  for (int i = 1; i < argc; i++)
    run(argv[i]);
  return 0;
}
