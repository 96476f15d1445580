/* Testudo: an old name of mpscmvt.h. SPDX-License-Identifier: BSD-2-Clause */
#ifndef mpscmv2_h
#define mpscmv2_h

#include "mpscmvt.h"

#endif /* mpscmv2_h */
