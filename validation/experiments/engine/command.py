# SPDX-License-Identifier: Apache-2.0
"""The command line of every experiment."""
import argparse
import json
import os
import platform
import re
import signal
import sys
import tempfile

from acceptance.builds import newest_nvmemu
from acceptance.runner import RunError, progress
from gallery.machine import cpu_model, system

from engine import output, plot
from engine.experiment import LeftOut, Results, order, row_name
from engine.journal import Journal, JournalError
from engine.lab import Lab

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__)))))
SHARED = ("rounds", "only", "out", "build", "fresh", "list")


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def pattern(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def parse(experiment, words):
    parser = argparse.ArgumentParser(
        prog=experiment.name, description=experiment.title, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Killed, it goes on where it was when it is called again; with more --rounds, it makes those that are lacking.\n"
        "Exit status: 0 measured, 1 a run failed or a promise of nvmemu's does not hold, 2 it cannot start, 128 + N: signal N.")
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="of everything, interleaved [%(default)s]")
    parser.add_argument("--only", type=pattern, default="", metavar="PATTERN", help="rows that match this regular expression only")
    parser.add_argument("--out", metavar="DIR", default=os.path.join(REPOSITORY, "build", "experiments", experiment.name),
                        help="where journal.jsonl, table.md, result.json and plots go [%(default)s]")
    parser.add_argument("--build", metavar="DIR", help="whose nvmemu and pmbench are run [the newest of build/release and build/test]")
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--list", action="store_true", help="print the names of the rows, and run nothing")
    experiment.add_options(parser)
    return parser.parse_args(words)


def fail(experiment, message):
    print(f"{experiment.name}: error: {message}", file=sys.stderr)
    return 2


def find_build(given):
    """The folder; RunError says what to do where there is none."""
    nvmemu = os.path.join(given, "tools", "nvmemu") if given else newest_nvmemu(REPOSITORY)
    if nvmemu is None:
        raise RunError("no nvmemu in the build folder; hint: tools/quickstart builds it, or give --build DIR")
    if not os.path.isfile(nvmemu) or not os.access(nvmemu, os.X_OK):
        raise RunError(f"there is no program {nvmemu}; hint: --build takes the folder that cmake built in")
    return os.path.dirname(os.path.dirname(os.path.realpath(nvmemu)))


def identity_of(experiment, build, arguments):
    status = os.stat(os.path.join(build, "tools", "nvmemu"))
    options = {name: value for name, value in vars(arguments).items() if name not in SHARED}
    return {"experiment": experiment.name, "build": [build, status.st_size, status.st_mtime_ns], "options": options}


def conduct(experiment, rows, rounds, lab, journal):
    """Makes the runs that the journal does not have yet; the results of all."""
    results = Results()
    for entry in journal.of("run"):
        results.add(entry["row"], entry["figures"])
    prepared = set()
    for number, (program, setting) in order(rows, rounds):
        row = row_name(program, setting)
        if row in results.left_out or row in results.failures or len(results.samples.get(row, [])) > number:
            continue
        missing = program.missing() or setting.missing()
        if missing:
            results.left_out[row] = missing
            continue
        progress(f"round {number + 1} of {rounds}: {row}")
        try:
            if program.name not in prepared:
                experiment.prepare(lab, program)
                prepared.add(program.name)
            figures = experiment.measure(lab, program, setting)
            journal.append(kind="run", row=row, round=number, figures=figures)
            results.add(row, figures)
        except LeftOut as why:
            results.left_out[row] = str(why)
        except RunError as error:
            progress(f"failed: {error}")
            journal.append(kind="failure", row=row, round=number, why=str(error))
            results.failures[row] = str(error)
    return results


def machine_of(identity, rounds):
    return {"rounds": rounds, "build": identity["build"][0], "options": identity["options"], "cpu": cpu_model(),
            "processors": os.cpu_count(), "kernel": platform.release(), "system": system()}


def write(experiment, rows, results, machine, out):
    """The files; the table's text."""
    options = "".join(f" --{name.replace('_', '-')} {value}" for name, value in machine["options"].items())
    about = (f"`validation/experiments/{experiment.name} --rounds {machine['rounds']}{options}`: medians of the rounds, in brackets "
             f"the least and the most. {machine['cpu']}, {machine['processors']} processors, Linux {machine['kernel']}, {machine['system']}.")
    text = output.table(experiment, rows, results, about)
    with open(os.path.join(out, "table.md"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(out, "result.json"), "w", encoding="utf-8") as file:
        json.dump(output.as_json(experiment, rows, results, machine), file, indent=1)
        file.write("\n")
    for number, one in enumerate(experiment.plots, 1):
        unit = next(figure.unit for figure in experiment.figures if figure.name == one.figure)
        drawn = plot.script(one, rows, results, unit)
        if drawn:
            try:
                plot.draw(drawn, os.path.join(out, f"plot-{number}.svg"))
            except (OSError, RunError) as error:
                progress(f"no plot: {error}")
    return text


def show(text):
    """Whoever reads may go away before the end."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    print(text)
    sys.stdout.flush()


def _stop(number, _frame):
    raise SystemExit(128 + number)


def main(experiment, words=None):
    """Exit status."""
    arguments = parse(experiment, words)
    rows = [row for row in experiment.rows() if not arguments.only or arguments.only.search(row_name(*row))]
    if not rows:
        return fail(experiment, f"no row matches {arguments.only.pattern}; hint: --list names them")
    if arguments.list:
        show("\n".join(row_name(*row) for row in rows))
        return 0
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # so that whatever runs is ended, and its files are removed
        signal.signal(number, _stop)
    try:
        identity = identity_of(experiment, find_build(arguments.build), arguments)
        os.makedirs(arguments.out, exist_ok=True)
        path = os.path.join(arguments.out, "journal.jsonl")
        if arguments.fresh and os.path.exists(path):
            os.unlink(path)
        with Journal(path, identity) as journal, tempfile.TemporaryDirectory(prefix=f"nvmemu-{experiment.name}-", ignore_cleanup_errors=True) as folder:
            os.chmod(folder, 0o755)  # servers run as another user
            results = conduct(experiment, rows, arguments.rounds, Lab(identity["build"][0], folder, arguments, journal.once), journal)
        text = write(experiment, rows, results, machine_of(identity, arguments.rounds), arguments.out)
    except (OSError, RunError, JournalError) as error:
        return fail(experiment, str(error))
    show(text.rstrip())
    broken = [finding.says for finding in experiment.findings(results) if finding.bound and finding.agrees is False]
    return 1 if results.failures or broken else 0
