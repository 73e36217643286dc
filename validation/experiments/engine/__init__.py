# SPDX-License-Identifier: Apache-2.0
"""What runs the experiments of this folder: programs x settings x rounds, a journal, a table, JSON, plots."""
