# SPDX-License-Identifier: Apache-2.0
"""Plots of results, by gnuplot, as the validation's are."""
import shutil
import subprocess

from acceptance.runner import RunError


def _quoted(text):
    return "'" + text.replace("'", "''") + "'"


def _axes(plot, unit):
    yield f"set title {_quoted(plot.title)}"
    yield f"set ylabel {_quoted(unit)}"
    yield "set grid ytics\nset key outside right top"
    yield "set yrange [*:*]" if "y" in plot.log else "set yrange [0:*]"
    if plot.log:
        yield f"set logscale {plot.log}"


def _line_curves(plot, rows, results):
    """Name, and data lines of x and y."""
    curves = {}
    for program, setting in rows:
        median = results.median(program.name, setting.name, plot.figure)
        if median is not None and setting.x is not None:
            curves.setdefault(program.name, []).append((setting.x, median))
    return {name: "".join(f"{x:g} {y:g}\n" for x, y in sorted(points)) for name, points in curves.items()}


def _bar_curves(plot, rows, results):
    """One a setting; programs along the axis."""
    programs = list(dict.fromkeys(program.name for program, _ in rows))
    curves = {}
    for setting in dict.fromkeys(setting.name for _, setting in rows):
        medians = [results.median(program, setting, plot.figure) for program in programs]
        if any(median is not None for median in medians):
            curves[setting] = "".join(f'"{program}" {"NaN" if median is None else format(median, "g")}\n'
                                      for program, median in zip(programs, medians))
    return curves


def _operation_curves(plot, rows, results):
    """One a setting of that program's; figures along the axis, as far as there are any."""
    settings = [setting.name for program, setting in rows if program.name == plot.program]
    medians = {setting: {name: results.median(plot.program, setting, name) for name in plot.figures} for setting in settings}
    known = [name for name in plot.figures if any(of[name] is not None for of in medians.values())]
    return {setting: "".join(f'"{plot.figures[name]}" {"NaN" if of[name] is None else format(of[name], "g")}\n' for name in known)
            for setting, of in medians.items() if any(of[name] is not None for name in known)}


def _curves(plot, rows, results):
    if plot.program:
        return _operation_curves(plot, rows, results)
    return (_line_curves if plot.lines else _bar_curves)(plot, rows, results)


def script(plot, rows, results, unit):
    """All but terminal and output; empty: nothing was measured."""
    curves = _curves(plot, rows, results)
    if not curves:
        return ""
    lines = [f"$data{number} << EOD\n{data}EOD" for number, data in enumerate(curves.values())]
    lines += _axes(plot, unit)
    if plot.lines:
        lines.append(f"set xlabel {_quoted(plot.x_title)}")
        drawn = [f"$data{number} using 1:2 with linespoints pt 7 title {_quoted(name)}" for number, name in enumerate(curves)]
    else:
        lines.append("set style data histograms\nset style fill solid 0.7\nset xtics rotate by -30")
        drawn = [f"$data{number} using 2:xtic(1) title {_quoted(name)}" for number, name in enumerate(curves)]
    return "\n".join([*lines, "plot " + ", ".join(drawn)]) + "\n"


def draw(text, path):
    """As SVG. RunError: it could not be."""
    if shutil.which("gnuplot") is None:
        raise RunError("gnuplot is not installed")
    whole = f"set terminal svg size 900,450 dynamic background rgb 'white'\nset output {_quoted(path)}\n{text}"
    done = subprocess.run(["gnuplot"], input=whole, capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise RunError(f"gnuplot: {done.stderr.strip()}")
