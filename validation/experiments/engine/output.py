# SPDX-License-Identifier: Apache-2.0
"""Results as a table and as JSON."""
import statistics

from engine.experiment import row_name

SCHEMA = "nvmemu-experiment-1"
AGREES = {True: "yes", False: "no", None: "cannot be told"}


def number(value):
    """Three digits that count, and no fewer than before the point."""
    if value is None:
        return "-"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def _cell(values):
    if not values:
        return "-"
    median = number(statistics.median(values))
    lowest, highest = number(min(values)), number(max(values))
    return median if lowest == highest else f"{median} ({lowest} to {highest})"


def _line(cells):
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _table(header, lines):
    return [_line(header), _line(["---"] * len(header)), *map(_line, lines)]


def table(experiment, rows, results, about):
    """Markdown: what was measured, what is said of it, what is not claimed."""
    titles = [f"{figure.title}, {figure.unit}" if figure.unit else figure.title for figure in experiment.figures]
    measured = [[program.name, setting.name, *(_cell(results.of(row_name(program, setting), figure.name)) for figure in experiment.figures)]
                for program, setting in rows if results.samples.get(row_name(program, setting))]
    lines = [f"# {experiment.title}", "", about, ""]
    lines += _table(["program", "setting", *titles], measured) if measured else ["Nothing was measured."]
    findings = experiment.findings(results)
    if findings:
        lines += ["", *_table(["said", "here", "agrees"], [[finding.says, finding.here, AGREES[finding.agrees]] for finding in findings])]
    for heading, texts in (("Left out", results.left_out), ("Failed", results.failures)):
        if texts:
            lines += ["", f"{heading}:", *(f"- {name}: {text}" for name, text in texts.items())]
    if experiment.not_claimed:
        lines += ["", "Not claimed:", *(f"- {text}" for text in experiment.not_claimed)]
    return "\n".join(lines) + "\n"


def _figure_as_json(figure, values):
    summary = {"median": statistics.median(values), "min": min(values), "max": max(values)} if values else {
        "median": None, "min": None, "max": None}
    return {"unit": figure.unit, **summary, "samples": values}


def as_json(experiment, rows, results, machine):
    return {
        "schema": SCHEMA, "experiment": experiment.name, "title": experiment.title, **machine,
        "rows": [{"program": program.name, "setting": setting.name,
                  "figures": {figure.name: _figure_as_json(figure, results.of(row_name(program, setting), figure.name))
                              for figure in experiment.figures},
                  "left_out": results.left_out.get(row_name(program, setting)),
                  "failure": results.failures.get(row_name(program, setting))} for program, setting in rows],
        "findings": [{"says": finding.says, "here": finding.here, "agrees": finding.agrees, "bound": finding.bound}
                     for finding in experiment.findings(results)],
        "not_claimed": list(experiment.not_claimed)}
