"""Testudo: the parts of the testudo command.

SPDX-License-Identifier: BSD-2-Clause
"""
