/* Testudo: settings from the environment, one row for each.
   SPDX-License-Identifier: BSD-2-Clause */
#ifndef TDO_CODE_SETTINGS_H
#define TDO_CODE_SETTINGS_H

#include "code/base.h"
#include "testudo.h"

/* X(field, type, variable, default, default in words, lowest, highest, what
   is accepted, in words, help). Types:
     SIZE    bytes, with K, M or G behind the number
     SIZE0   SIZE that may also be 0, which means "not given"
     POW2    SIZE0 that is a power of two
     COUNT   whole number
     REAL    decimal fraction
     FLAG    bool
     CHOICE  index of one of the words of tdo_settings_shields
     HUGE    lowest generation that gets huge pages, or a word for it */
#define TDO_SETTINGS(X)                                                       \
  X(shield, CHOICE, "TESTUDO_SHIELD", 2, "deferred", 0, 4,                    \
    "naive, ranged, deferred, dirty or off",                                  \
    "how page protection is managed")                                         \
  X(queue, COUNT, "TESTUDO_QUEUE", 1024, "1024", 1, 1048576,                  \
    "a whole number from 1 to 1048576",                                       \
    "ranges that the shield queues before it flushes early")                  \
  X(quantum, SIZE, "TESTUDO_QUANTUM", 262144, "256K",                         \
    TDO_QUANTUM_LEAST, 1099511627776,                                         \
    "a size from 4K to 1024G",                                                \
    "bytes scanned for each hit of the read barrier")                         \
  X(defer_fresh, COUNT, "TESTUDO_DEFER_FRESH", 4, "4", 0, 1000000,            \
    "a whole number from 0 to 1000000",                                       \
    "scans without a write before a new page is write-protected")             \
  X(defer_hit, COUNT, "TESTUDO_DEFER_HIT", 16, "16", 0, 1000000,              \
    "a whole number from 0 to 1000000",                                       \
    "the same for a page whose protection was hit")                           \
  X(budget, REAL, "TESTUDO_BUDGET", 0.25, "0.25", 0, 1,                       \
    "a decimal fraction from 0 to 1",                                         \
    "part of the system's limit of mappings that may be used")                \
  X(hide, SIZE, "TESTUDO_HIDE", 4194304, "4M", 0, 1099511627776,              \
    "a size up to 1024G; 0 for never",                                        \
    "memory to close at once before it is moved away instead")                \
  X(grain, POW2, "TESTUDO_GRAIN", 0, "what the program says", 4096,           \
    1073741824, "a power of two from 4K to 1G, or 0 for the program's own",   \
    "unit of address space in which an arena hands out memory")               \
  X(spare, REAL, "TESTUDO_SPARE", 0, "what the program says", 0, 1,           \
    "a decimal fraction from 0 to 1",                                         \
    "part of the memory in use that may be kept though it is free")           \
  X(huge, HUGE, "TESTUDO_HUGE", TDO_HUGE_OFF, "off", 0, 1000000,              \
    "off, old, all, or the number of a generation",                           \
    "lowest generation whose memory shall be huge pages")                     \
  X(small, SIZE, "TESTUDO_SMALL", 16777216, "16M", 0, 1099511627776,          \
    "a size up to 1024G; 0 for never",                                        \
    "old memory up to which a heap is collected as a whole")                  \
  X(adapt, FLAG, "TESTUDO_ADAPT", 1, "on", 0, 1, "on or off",                 \
    "let generations grow where collecting takes much of the time")           \
  X(populate, FLAG, "TESTUDO_POPULATE", 1, "on", 0, 1, "on or off",            \
    "touch memory before it is needed, on another processor")                 \
  X(reserve, SIZE0, "TESTUDO_RESERVE", 0, "a size chosen by the library",     \
    1048576, 70368744177664,                                                  \
    "a size from 1M to 65536G, or 0 to let the library choose",               \
    "address space to reserve for each arena")                                \
  X(stress, COUNT, "TESTUDO_STRESS", 0, "0", 0, 1000000000,                   \
    "a whole number from 0 to 1000000000",                                    \
    "collect at every n-th chance, for tests (0: never)")                     \
  X(stress_blocks, FLAG, "TESTUDO_STRESS_BLOCKS", 0, "off", 0, 1,             \
    "on or off",                                                              \
    "with TESTUDO_STRESS: each block is a chance, not each page of them")     \
  X(statistics, FLAG, "TESTUDO_STATISTICS", 0, "off", 0, 1, "on or off",      \
    "print statistics when the program ends")                                 \
  X(check, FLAG, "TESTUDO_CHECK", 0, "off", 0, 1, "on or off",                \
    "check the whole heap around each collection")                            \
  X(log, FLAG, "TESTUDO_LOG", 0, "off", 0, 1, "on or off",                    \
    "print a line about each collection")

#define TDO_QUANTUM_LEAST 4096 /* bytes, whoever gives the quantum */

#define TDO_SETTING_C_SIZE   size_t
#define TDO_SETTING_C_SIZE0  size_t
#define TDO_SETTING_C_POW2   size_t
#define TDO_SETTING_C_COUNT  unsigned
#define TDO_SETTING_C_REAL   double
#define TDO_SETTING_C_FLAG   bool
#define TDO_SETTING_C_CHOICE unsigned
#define TDO_SETTING_C_HUGE   unsigned

/* The value of each setting, and whether the environment gave it (FIELD_given
   is false too when the value was 0 for "not given"). */
typedef struct tdo_settings {
#define TDO_SETTINGS_FIELD(field, type, ...)                                  \
  TDO_SETTING_C_##type field;                                                 \
  bool field##_given;
  TDO_SETTINGS(TDO_SETTINGS_FIELD)
#undef TDO_SETTINGS_FIELD
} tdo_settings_t;

/* The words of TESTUDO_SHIELD, which name the shield's modes, in the order of
   tdo_shield_mode_t. */
extern const char *const tdo_settings_shields[5];

/* Each setting as it is if nobody gives it. */
void tdo_settings_defaults(tdo_settings_t *settings_o);

/* Read the environment; what it does not give has its default. A value that
   cannot be read gives one line on the plinth's standard error, once in the
   process for each variable; it counts as unset, and so does an empty one.
   Thread-safe as getenv is. */
void tdo_settings_read(tdo_settings_t *settings_o);

/* The rows as text, for help. */
typedef struct tdo_setting_row {
  const char *variable, *default_text, *accepts, *help;
} tdo_setting_row_t;

const tdo_setting_row_t *tdo_settings_rows(size_t *count_o);

#endif /* TDO_CODE_SETTINGS_H */
