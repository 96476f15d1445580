"""Testudo: the manual's settings. SPDX-License-Identifier: BSD-2-Clause"""

import os
import sys

sys.path.insert(0, os.path.abspath("_ext"))

project = "Testudo"
copyright = "2026, the Testudo authors"
author = "the Testudo authors"
extensions = ["excerpt", "settings", "tested_table"]
root_doc = "index"
primary_domain = "c"
highlight_language = "none"
html_theme = "alabaster"
html_theme_options = {
    "description": "Memory pools and page barriers for language runtimes",
    "fixed_sidebar": True,
    "page_width": "64em",
}
html_show_sourcelink = False
