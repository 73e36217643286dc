# SPDX-License-Identifier: Apache-2.0
"""The gallery of real programs: what validation/programs-gallery runs, a group of programs a module."""
