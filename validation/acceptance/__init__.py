# SPDX-License-Identifier: Apache-2.0
"""The acceptance benchmark: what validation/accept runs, one idea a module."""
