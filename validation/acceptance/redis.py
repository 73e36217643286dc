# SPDX-License-Identifier: Apache-2.0
"""A server: redis, natively and emulated, under the same load."""
import contextlib
import hashlib
import os
import shutil
import subprocess
import time

from acceptance.bounds import PROGRAMS_TARGET
from acceptance.rows import Row
from acceptance.runner import Outcome, RunError, progress

START_SECONDS = 60
STOP_SECONDS = 60
CLIENT_SECONDS = 600
BENCHMARK = ["-t", "set,get", "-n", "200000", "-r", "200000", "-q"]


def commands():
    """What the server is asked so that its answers can be compared."""
    for number in range(20_000):
        yield f"SET key:{number} {number * 2654435761 % 1000003}"
        yield f"INCRBY key:{number * 7919 % 20_000} {number}"
        yield f"RPUSH list:{number % 100} {number}"
    for number in range(100):
        yield f"LRANGE list:{number} 0 -1"
    for number in range(20_000):
        yield f"GET key:{number}"


class Redis:
    def __init__(self):
        self.row = Row("program: redis", "%")
        self.rows = [self.row]

    def round(self, runner, _selected):
        missing = missing_program()
        if missing:
            self.row.skipped = f"{missing} is not installed"
            return
        progress(f"  {self.row.name}")
        socket = os.path.join(runner.folder, "redis.sock")
        server = server_command(runner.folder, socket)
        report = os.path.join(runner.folder, "redis.json")
        try:
            native = serve(server, socket)
            emulated = serve(
                runner.emulated_command(server, ["--read-latency", PROGRAMS_TARGET], report), socket)
            runner.read_report(report, Outcome(emulated.status, b"", "", 0, None))
            if emulated.status != native.status:
                raise RunError(f"exit status {emulated.status}, natively {native.status}")
            if emulated.stdout != native.stdout:
                raise RunError("other answers than natively")
            self.row.samples.append(100 * (emulated.seconds / native.seconds - 1))
        except RunError as error:
            self.row.failure = str(error)


def missing_program():
    """Of those that are needed, one that is not installed; None: all are."""
    needed = ("redis-server", "redis-cli", "redis-benchmark")
    return next((program for program in needed if shutil.which(program) is None), None)


def server_command(folder, socket):
    return ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--appendonly", "no", "--dir", folder,
            "--loglevel", "warning"]


def serve(command, socket):
    """Starts the server, puts load on it, shuts it down: how long the load took, a hash of the answers, the status."""
    with running(command, socket) as server:
        start = time.monotonic()
        client(["redis-benchmark", "-s", socket, *BENCHMARK])
        seconds = time.monotonic() - start
        client(["redis-cli", "-s", socket, "flushall"])
        answers = client(["redis-cli", "-s", socket], "\n".join(commands()) + "\n")
        status = shut_down(server, socket)
    return Outcome(status, hashlib.sha256(answers).digest(), "", seconds, None)


def cpu_seconds_of_load(command, socket):
    """The server's own, of all its threads."""
    with running(command, socket) as server:
        before = cpu_seconds(socket)
        client(["redis-benchmark", "-s", socket, *BENCHMARK])
        seconds = cpu_seconds(socket) - before
        status = shut_down(server, socket)
    if status != 0:
        raise RunError(f"exit status {status}")
    return seconds


def cpu_seconds(socket):
    told = dict(line.split(":", 1) for line in client(["redis-cli", "-s", socket, "info", "cpu"]).decode().splitlines()
                if ":" in line)
    return float(told["used_cpu_user"]) + float(told["used_cpu_sys"])


def shut_down(server, socket):
    client(["redis-cli", "-s", socket, "shutdown", "nosave"], check=False)  # it cannot answer any more
    return server.wait(STOP_SECONDS)


@contextlib.contextmanager
def running(command, socket):
    """A server that answers; it is gone afterwards."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as server:
        try:
            wait_until_ready(server, socket)
            yield server
        except subprocess.SubprocessError as error:
            raise RunError(str(error)) from error
        finally:
            if server.poll() is None:
                server.terminate()
                try:
                    server.wait(STOP_SECONDS)
                except subprocess.TimeoutExpired:
                    server.kill()


def wait_until_ready(server, socket):
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RunError(f"redis-server ended with status {server.returncode}")
        if os.path.exists(socket) and client(["redis-cli", "-s", socket, "ping"], check=False) == b"PONG\n":
            return
        time.sleep(0.05)
    raise RunError(f"redis-server does not answer after {START_SECONDS} s")


def client(command, text=None, check=True):
    return subprocess.run(command, input=text.encode() if text else None, stdin=None if text else subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=CLIENT_SECONDS, check=check).stdout


def experiments():
    yield Redis()
