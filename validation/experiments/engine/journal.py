# SPDX-License-Identifier: Apache-2.0
"""All that was measured, a JSON object a line, on the disk before the next run begins: an experiment that was killed goes
on from there."""
import fcntl
import json
import os


class JournalError(Exception):
    """Says what is wrong with the file, and what to do."""


class Journal:
    """`identity`: what has to be the same for runs to be of one experiment. Held by one process at a time."""

    def __init__(self, path, identity):
        self.path = path
        self._file = open(path, "a+b")
        try:
            self._lock()
            self._entries = self._read()
            self._check(identity)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._file.close()

    def append(self, **entry):
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._entries.append(entry)

    def of(self, kind):
        return [entry for entry in self._entries if entry["kind"] == kind]

    def once(self, name, find):
        """What find() returned when it was first asked for by that name, in this run of the experiment or in one before."""
        for note in self.of("note"):
            if note["name"] == name:
                return note["value"]
        value = find()
        self.append(kind="note", name=name, value=value)
        return value

    def _lock(self):
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise JournalError(f"{self.path}: another process writes it; give another --out") from error

    def _read(self):
        self._file.seek(0)
        content = self._file.read()
        whole = content[:content.rfind(b"\n") + 1]
        if len(whole) < len(content):  # cut while it was written
            self._file.truncate(len(whole))
        try:
            entries = [json.loads(line) for line in whole.splitlines()]
        except ValueError as error:
            raise JournalError(f"{self.path}: a line is no JSON ({error}); --fresh begins anew") from error
        if not all(isinstance(entry, dict) and "kind" in entry for entry in entries):
            raise JournalError(f"{self.path}: this is no journal of an experiment; give another --out")
        return entries

    def _check(self, identity):
        if not self._entries:
            self.append(kind="identity", **identity)
            return
        known = self._entries[0]
        different = [name for name, value in identity.items() if known.get(name) != value]
        if different:
            raise JournalError(f"{self.path}: its runs had another {' and another '.join(different)}; "
                               "--fresh begins anew, another --out leaves them")
