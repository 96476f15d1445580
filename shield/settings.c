/* Testudo: the shield's settings and the names of its modes, which the table
   of all settings has (code/settings.h). SPDX-License-Identifier: BSD-2-Clause
*/
#include <string.h>
#include "code/check.h"
#include "shield/shield.h"

_Static_assert(sizeof tdo_settings_shields / sizeof tdo_settings_shields[0] ==
                   TDO_SHIELD_MODES,
               "each mode of the shield has a name");

void tdo_shield_settings_init(tdo_shield_settings_t *settings,
                              const tdo_settings_t *from) {
  settings->mode = (tdo_shield_mode_t)from->shield;
  settings->queue_length = from->queue;
  settings->defer_fresh = from->defer_fresh;
  settings->defer_hit = from->defer_hit;
  settings->budget = from->budget;
  settings->huge_pages = 0;
  settings->hide_unit = 0;
  settings->hide_least = from->hide == 0 ? SIZE_MAX : from->hide;
}

void tdo_shield_settings_defaults(tdo_shield_settings_t *settings) {
  tdo_settings_t defaults;

  tdo_settings_defaults(&defaults);
  tdo_shield_settings_init(settings, &defaults);
}

bool tdo_shield_mode_parse(tdo_shield_mode_t *mode_o, const char *name) {
  for (unsigned i = 0; name != NULL && i < TDO_SHIELD_MODES; ++i) {
    if (strcmp(name, tdo_settings_shields[i]) == 0) {
      *mode_o = (tdo_shield_mode_t)i;
      return true;
    }
  }
  return false;
}

const char *tdo_shield_mode_name(tdo_shield_mode_t mode) {
  TDO_CHECK((unsigned)mode < TDO_SHIELD_MODES);
  return (unsigned)mode < TDO_SHIELD_MODES ? tdo_settings_shields[mode] : "?";
}
