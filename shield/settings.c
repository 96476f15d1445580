/* Testudo: the shield's settings and the names of its modes.
   SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>
#include "code/check.h"
#include "shield/shield.h"

static const char *const settings_names[TDO_SHIELD_MODES] = {
    [TDO_SHIELD_NAIVE] = "naive",       [TDO_SHIELD_RANGED] = "ranged",
    [TDO_SHIELD_DEFERRED] = "deferred", [TDO_SHIELD_DIRTY] = "dirty",
    [TDO_SHIELD_OFF] = "off",
};

void tdo_shield_settings_init(tdo_shield_settings_t *settings) {
  settings->mode = TDO_SHIELD_DEFERRED;
  settings->queue_length = 1024;
  settings->defer_fresh = 4;
  settings->defer_hit = 16;
  settings->budget = 0.25;
  settings->huge_pages = 0;
  settings->hide_unit = 0;
  settings->hide_least = (size_t)4 << 20;
}

bool tdo_shield_mode_parse(tdo_shield_mode_t *mode_o, const char *name) {
  for (unsigned i = 0; name != NULL && i < TDO_SHIELD_MODES; ++i) {
    if (strcmp(name, settings_names[i]) == 0) {
      *mode_o = (tdo_shield_mode_t)i;
      return true;
    }
  }
  return false;
}

const char *tdo_shield_mode_name(tdo_shield_mode_t mode) {
  TDO_CHECK((unsigned)mode < TDO_SHIELD_MODES);
  return (unsigned)mode < TDO_SHIELD_MODES ? settings_names[mode] : "?";
}
