# SPDX-License-Identifier: Apache-2.0
"""Language runtimes: interpreters, compilers at run time, garbage collectors, their own threads."""
import os
import sys

from acceptance.programs import PYTHON
from gallery.process import native
from gallery.program import SOURCES, Job

POOL = """
import multiprocessing
def work(seed):
    found = {}
    for i in range(300000): found[(i + seed) * 2654435761 % 4294967291] = i
    return sum(v * (k & 7) for k, v in found.items())
if __name__ == "__main__":
    multiprocessing.set_start_method("START")
    with multiprocessing.Pool(2) as pool: print(pool.map(work, range(20), chunksize=1))
"""


def pool(start):
    def prepare(folder):
        with open(f"{folder}/pool.py", "w") as file:
            file.write(POOL.replace("START", start))
    return prepare


def build_go(cgo, source, *options):
    def prepare(folder):
        settings = ["GO111MODULE=off", f"CGO_ENABLED={cgo}", f"GOPATH={folder}/go"]
        native(["env", *settings, "go", "build", *options, "-o", f"{folder}/program",
                os.path.join(SOURCES, source)], folder, timeout=600)
    return prepare


def python(name, start):
    return Job(name, (sys.executable,), (sys.executable, "--version"), prepare=pool(start),
               command=(sys.executable, "FOLDER/pool.py"))


PROGRAMS = [
    Job("python3", (sys.executable,), (sys.executable, "--version"), command=(sys.executable, "-c", PYTHON)),
    python("python3, pool by fork", "fork"),
    python("python3, pool by spawn", "spawn"),
    Job("node", ("node",), ("node", "--version"), command=("node", os.path.join(SOURCES, "maps.js"))),
    Job("java", ("java", "javac"), ("java", "-version"), command=("java", os.path.join(SOURCES, "Maps.java"))),
    Job("go, with cgo", ("go", "gcc"), ("go", "version"), prepare=build_go(1, "cgo.go"), command=("FOLDER/program",)),
    Job("go, dynamic without cgo", ("go",), ("go", "version"), prepare=build_go(0, "maps.go", "-buildmode=pie"),
        command=("FOLDER/program",), timed=False,
        remark="runs natively: threads that Go's runtime makes by itself are not emulated"),
    Job("go, static", ("go",), ("go", "version"), prepare=build_go(0, "maps.go"), command=("FOLDER/program",),
        refused=True),
]
