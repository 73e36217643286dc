# SPDX-License-Identifier: Apache-2.0
"""Starts the processes of a program, and leaves none behind."""
import contextlib
import os
import pwd
import signal
import subprocess
import time

from acceptance.runner import RunError
from gallery.limits import TIMEOUT_SECONDS

UNPRIVILEGED = "nobody"


def unprivileged(command):
    """The command as a user that servers agree to run as. Of someone who is not root: as that user."""
    if os.geteuid() != 0:
        return list(command)
    return ["setpriv", f"--reuid={UNPRIVILEGED}", f"--regid={pwd.getpwnam(UNPRIVILEGED).pw_gid}", "--clear-groups",
            *command]


def give_away(folder):
    """To that user."""
    if os.geteuid() == 0:
        user = pwd.getpwnam(UNPRIVILEGED)
        os.chown(folder, user.pw_uid, user.pw_gid)


def native(command, folder, text=None, timeout=TIMEOUT_SECONDS):
    """Runs what prepares or loads a program; its stdout."""
    try:
        done = subprocess.run(command, cwd=folder, env=environment(folder), input=text, check=False, timeout=timeout,
                              stdin=None if text is not None else subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RunError(str(error)) from error
    if done.returncode != 0:
        raise RunError(f"{command[0]} ended with status {done.returncode}: "
                       f"{done.stderr.decode(errors='replace').strip()[-300:]}")
    return done.stdout


def environment(folder):
    return {**os.environ, "LC_ALL": "C", "TMPDIR": folder, "GOCACHE": os.path.join(folder, "go-cache"),
            **_calibration(folder)}


def _calibration(folder):
    """Where the folder is that user's, so is the calibration: root's cannot be read."""
    if os.stat(folder).st_uid == os.geteuid():
        return {}
    return {"XDG_CACHE_HOME": f"{folder}/cache"}


class Process:
    """In a group of its own, which is killed at the end where it has not ended by itself. Output goes to files: a pipe
    could be kept open by a daemon, or fill up. To be entered: from its start until then what ends us waits, or there would
    be nobody to end it."""

    ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def __init__(self, command, folder):
        self._files = [os.path.join(folder, name) for name in ("stdout", "stderr")]
        with contextlib.ExitStack() as stack:
            stdout, stderr = (stack.enter_context(open(path, "wb")) for path in self._files)
            self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, self.ENDING)
            self._start = time.monotonic()
            try:
                self._process = subprocess.Popen(command, cwd=folder, env=environment(folder), stdin=subprocess.DEVNULL,
                                                 stdout=stdout, stderr=stderr, start_new_session=True, preexec_fn=self._let_through)
            except (OSError, subprocess.SubprocessError) as error:
                self._let_through()
                raise RunError(str(error)) from error

    def _let_through(self):
        signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def __enter__(self):
        try:
            self._let_through()
        except BaseException:  # of a signal that has come meanwhile
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    @property
    def status(self):
        """None: it runs."""
        return self._process.poll()

    def signal(self, number):
        self._process.send_signal(number)

    def wait(self, timeout=TIMEOUT_SECONDS):
        """Status, and the seconds since it was started."""
        try:
            return self._process.wait(timeout), time.monotonic() - self._start
        except subprocess.TimeoutExpired as error:
            raise RunError(f"hangs: did not end in {timeout} s; {self.stderr()[-300:]}") from error

    def stdout(self):
        with open(self._files[0], "rb") as file:
            return file.read()

    def stderr(self):
        with open(self._files[1], errors="replace") as file:
            return file.read()
