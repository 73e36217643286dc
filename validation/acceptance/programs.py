# SPDX-License-Identifier: Apache-2.0
"""Real programs do the same, emulated: same output, same exit status; how much slower is told."""
import hashlib
import os
import random
import shutil
import sys

from acceptance.bounds import PROGRAMS_TARGET
from acceptance.rows import Row
from acceptance.runner import RunError, progress

SQL = """
CREATE TABLE item(id INTEGER PRIMARY KEY, other INTEGER, text TEXT);
WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 399999)
INSERT INTO item SELECT i, (i * 2654435761) % 400000, 'item ' || i FROM n;
SELECT count(*), sum(length(b.text)) FROM item a JOIN item b ON b.id = a.other;
"""
PYTHON = ("d = {}\nfor i in range(1500000): d[i * 2654435761 % 4294967291] = i\n"
          "print(sum(v * (k & 7) for k, v in d.items()))\n")
PERL = ("my %h; $h{($_ * 2654435761) % 4294967291} = $_ for 0 .. 700000;"
        "my $s = 0; $s += $h{$_} * ($_ & 7) for sort keys %h; print qq($s\\n);")


def write_lines(path, count=400_000):
    """So many lines of random words."""
    words = random.Random(1)
    with open(path, "w") as file:
        file.writelines(f"{words.getrandbits(64):x} {number}\n" for number in range(count))


def write_c(path):
    """A thousand functions."""
    with open(path, "w") as file:
        for number in range(1000):
            file.write(f"unsigned f{number}(unsigned x, unsigned *p) {{ for (unsigned i = 0; i < x; ++i) "
                       f"p[i] = p[i] * {number}u + (p[i] >> {number % 31 + 1}) ^ x; return p[x]; }}\n")


class Program:
    """Run natively, then emulated, in a folder of its own; `makes`: the file it makes, where that is not stdout."""

    def __init__(self, name, command, prepare=None, makes=None, pinned=True, needs=None):
        self.row = Row(f"program: {name}", "%")
        self.rows = [self.row]
        self.command = command
        self.prepare = prepare
        self.makes = makes
        self.pinned = pinned
        self.needs = needs or name

    def round(self, runner, _selected):
        if shutil.which(self.needs) is None:
            self.row.skipped = f"{self.needs} is not installed"
            return
        progress(f"  {self.row.name}")
        try:
            command = [word.replace("FOLDER", runner.folder) for word in self.command]
            if self.prepare:
                file, write = self.prepare
                if not os.path.exists(os.path.join(runner.folder, file)):
                    write(os.path.join(runner.folder, file))
            native, native_hash = self.run(runner, lambda: runner.native(command, self.pinned))
            options = ["--read-latency", PROGRAMS_TARGET]
            emulated, emulated_hash = self.run(runner, lambda: runner.emulated(command, options, self.pinned))
            self.compare(native, emulated, native_hash, emulated_hash)
        except RunError as error:
            self.row.failure = str(error)

    def run(self, runner, start):
        made = os.path.join(runner.folder, self.makes) if self.makes else None
        if made and os.path.exists(made):
            os.unlink(made)
        outcome = start()
        digest = hashlib.sha256(outcome.stdout)
        if made and os.path.exists(made):
            with open(made, "rb") as file:
                digest.update(file.read())
        return outcome, digest.hexdigest()

    def compare(self, native, emulated, native_hash, emulated_hash):
        if native.status != 0:
            raise RunError(f"exit status {native.status} natively: {native.stderr.strip()[-300:]}")
        if emulated.status != native.status:
            raise RunError(f"exit status {emulated.status}, natively {native.status}: "
                           f"{emulated.stderr.strip()[-300:]}")
        if emulated_hash != native_hash:
            raise RunError("another output than natively")
        self.row.samples.append(100 * (emulated.seconds / native.seconds - 1))


def experiments():
    lines = ("lines", write_lines)
    yield Program("sort", ["env", "LC_ALL=C", "sort", "--parallel=2", "FOLDER/lines"], lines, pinned=False)
    yield Program("gzip", ["gzip", "--no-name", "--stdout", "FOLDER/lines"], lines)
    yield Program("python3", [sys.executable, "-c", PYTHON], needs=sys.executable)
    yield Program("perl", ["perl", "-e", PERL])
    yield Program("sqlite3", ["sqlite3", ":memory:", SQL])
    yield Program("gcc", ["gcc", "-O2", "-c", "-o", "FOLDER/functions.o", "FOLDER/functions.c"],
                  ("functions.c", write_c), makes="functions.o")
