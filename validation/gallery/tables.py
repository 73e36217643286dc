# SPDX-License-Identifier: Apache-2.0
"""The rows as text for a terminal and as Markdown."""
import os

HEADER = ["program", "version", "native s", "emulated s", "slowdown", "threads", "processes", "injected s", "runs",
          "verdict"]
BEGIN, END = "<!-- gallery: generated, do not edit -->", "<!-- /gallery -->"


def cells(row):
    figures = ["-"] * 6
    if row.natives:
        figures[0] = f"{row.native_seconds:.2f}"
    if row.emulated:
        figures[1:3] = f"{row.emulated_seconds:.2f}", f"{row.slowdown:.2f}"
    if row.emulated and any(run.reports for run in row.emulated):
        figures[3] = f"{row.of_reports(lambda report: report['totals']['threads']):.0f}"
        figures[4] = f"{row.of_reports(lambda report: len(report['processes'])):.0f}"
        figures[5] = f"{row.of_reports(lambda report: report['totals']['injected_ns']) / 1e9:.2f}"
    return [row.name, row.version or "-", *figures, str(len(row.emulated)), row.verdict()]


def text(rows):
    lines = [HEADER, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADER))]
    notes = ["", *(row.note() for row in rows)]
    return "\n".join(
        "  ".join([*(cell.ljust(width) if column in (0, 1) else cell.rjust(width)
                     for column, (cell, width) in enumerate(zip(line, widths))), note]).rstrip()
        for line, note in zip(lines, notes))


def markdown(rows, about):
    """A table, the notes below it, and what the figures were measured on."""
    lines = [about, "", _line(HEADER), _line(["---", "---", *["---:"] * 7, "---"])]
    lines += [_line(cells(row)) for row in rows]
    notes = [f"- {_plain(row.name)}: {_plain(row.note())}" for row in rows if row.note()]
    return "\n".join(lines + ([""] + notes if notes else [])) + "\n"


def _line(texts):
    return "| " + " | ".join(map(_plain, texts)) + " |"


def _plain(cell):
    return cell.replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def write_markdown(path, section):
    """Replaces what is between the marks, where the file has them; else the file."""
    before = after = ""
    if os.path.exists(path):
        with open(path) as file:
            old = file.read()
        if BEGIN in old and END in old:
            before, after = old.split(BEGIN)[0], old.split(END, 1)[1]
    with open(path, "w") as file:
        file.write(f"{before}{BEGIN}\n{section}{END}{after or chr(10)}")
