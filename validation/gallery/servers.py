# SPDX-License-Identifier: Apache-2.0
"""Servers that keep what they serve in memory."""
import os
import signal
import socket

from acceptance import redis
from acceptance.runner import RunError
from gallery.judge import digest
from gallery.process import native
from gallery.program import Server

MEMCACHED_KEYS = 100_000
MEMCACHED_BATCH = 100
FILES = 200
FILE_BYTES = 64 * 1024


def redis_cli(folder, *arguments, text=None):
    return native(["redis-cli", "-s", f"{folder}/socket", *arguments], folder, text)


def load_redis(folder):
    native(["redis-benchmark", "-s", f"{folder}/socket", *redis.BENCHMARK], folder)


def ask_redis(folder):
    redis_cli(folder, "flushall")
    return digest(redis_cli(folder, text="\n".join(redis.commands()).encode() + b"\n")).encode()


def stop_redis(folder):
    redis_cli(folder, "shutdown", "nosave")


def memcached(folder):
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(60)
    client.connect(f"{folder}/socket")
    return client, client.makefile("rb")


def memcached_ready(folder):
    client, answers = memcached(folder)
    with client, answers:
        client.sendall(b"version\r\n")
        return answers.readline().startswith(b"VERSION")


def value(number):
    return b"%d:" % number + b"%x" % (number * 2654435761) * (number % 16 + 1)


def fill_memcached(client, answers):
    for start in range(0, MEMCACHED_KEYS, MEMCACHED_BATCH):
        values = ((number, value(number)) for number in range(start, start + MEMCACHED_BATCH))
        client.sendall(b"".join(b"set key:%d 0 0 %d\r\n%s\r\n" % (number, len(text), text) for number, text in values))
        for _ in range(MEMCACHED_BATCH):
            if answers.readline() != b"STORED\r\n":
                raise RunError("memcached did not store a value")


def read_memcached(client, answers):
    """All answers, in an order that leaps through memory."""
    found = []
    for start in range(0, MEMCACHED_KEYS, MEMCACHED_BATCH):
        numbers = ((start + step) * 7919 % MEMCACHED_KEYS for step in range(MEMCACHED_BATCH))
        client.sendall(b"get " + b" ".join(b"key:%d" % number for number in numbers) + b"\r\n")
        while not found or found[-1] != b"END\r\n":
            found.append(answers.readline())
            if not found[-1]:
                raise RunError("memcached closed the connection")
        found.append(b"")
    return b"".join(found)


def load_memcached(folder):
    client, answers = memcached(folder)
    with client, answers:
        fill_memcached(client, answers)
        for _ in range(5):
            read_memcached(client, answers)


def ask_memcached(folder):
    client, answers = memcached(folder)
    with client, answers:
        return digest(read_memcached(client, answers)).encode()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def url(folder, path=""):
    with open(f"{folder}/port") as file:
        return f"http://127.0.0.1:{file.read()}/{path}"


def prepare_nginx(folder):
    port = free_port()
    with open(f"{folder}/port", "w") as file:
        file.write(str(port))
    os.mkdir(f"{folder}/files")
    for number in range(FILES):
        with open(f"{folder}/files/{number}", "wb") as file:
            file.write((b"%d " % number * FILE_BYTES)[:FILE_BYTES])
    temporary = "".join(f"{name}_temp_path {folder}/temp; "
                        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    # Without sendfile, so that it copies the files itself.
    with open(f"{folder}/conf", "w") as file:
        file.write(f"daemon off; worker_processes 2; pid {folder}/pid; error_log stderr;\n"
                   "events { worker_connections 256; }\n"
                   f"http {{ access_log off; sendfile off; gzip on; gzip_types *; {temporary}\n"
                   f"server {{ listen 127.0.0.1:{port}; root {folder}/files; }} }}\n")


def curl(folder, path):
    """By hand: neither a package nor a library for one request."""
    host, port = url(folder).split("/")[2].split(":")
    with socket.create_connection((host, int(port)), 60) as client:
        client.sendall(f"GET /{path} HTTP/1.0\r\n\r\n".encode())
        with client.makefile("rb") as answer:
            return answer.read().split(b"\r\n\r\n", 1)[1]


def load_nginx(folder):
    for extra in ([], ["-H", "Accept-Encoding: gzip"]):
        said = native(["ab", "-q", "-k", "-c", "8", "-n", "20000", *extra, url(folder, "7")], folder)
        if b"Failed requests:        0" not in said or b"Non-2xx" in said:
            raise RunError("ab counts failed requests")


def ask_nginx(folder):
    return digest(b"".join(curl(folder, str(number)) for number in range(FILES))).encode()


PROGRAMS = [
    Server("redis", ("redis-server", "redis-cli", "redis-benchmark"), ("redis-server", "--version"),
           command=("redis-server", "--port", "0", "--unixsocket", "FOLDER/socket", "--save", "", "--appendonly", "no",
                    "--dir", "FOLDER", "--loglevel", "warning"),
           ready=lambda folder: redis_cli(folder, "ping") == b"PONG\n",
           load=load_redis, ask=ask_redis, stop_by=stop_redis),
    Server("memcached", ("memcached",), ("memcached", "--version"),
           command=("memcached", "-s", "FOLDER/socket", "-m", "256", "-t", "2"), as_unprivileged=True,
           ready=memcached_ready, load=load_memcached, ask=ask_memcached),
    # Its workers give up root by themselves, after they were preloaded.
    Server("nginx", ("nginx", "ab"), ("nginx", "-v"), command=("nginx", "-e", "stderr", "-c", "FOLDER/conf"),
           prepare=prepare_nginx, ready=lambda folder: curl(folder, "0") != b"",
           load=load_nginx, ask=ask_nginx, stop=signal.SIGQUIT),
]
