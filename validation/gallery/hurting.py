# SPDX-License-Identifier: Apache-2.0
"""What makes signal handlers, alternate stacks, sandboxes and descriptors its own, and breaks where they are touched."""
import ctypes
import errno
import os
import shlex

from gallery.process import native
from gallery.program import SOURCES, Job


def source(name):
    return os.path.join(SOURCES, name)


def compile_by(*command):
    """SOURCE and FOLDER in it: the program becomes FOLDER/program."""
    def prepare(folder):
        native([word.replace("FOLDER", folder) for word in command], folder, timeout=300)
    return prepare


def compiled(name, needs, *command, **rest):
    return Job(name, needs, (needs[0], "--version"), prepare=compile_by(*command), command=("FOLDER/program",), **rest)


def c_program(name, file, *options, **rest):
    return compiled(name, ("gcc",), "gcc", "-O2", *options, "-o", "FOLDER/program", source(file), **rest)


def made_here(*names):
    return lambda folder: [os.path.join(folder, name) for name in names]


def io_uring_refused():
    """By a kernel without it, or a container's filter: io_uring_setup(2) of nothing says so."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall(425, 0, None)
    return "" if ctypes.get_errno() in (errno.EINVAL, errno.EFAULT) else "io_uring is refused here"


def write_page(folder):
    with open(f"{folder}/page.html", "w") as file:
        file.write("<script>let m = {}; for (let i = 0; i < 200000; ++i) m[i * 7919 % 1000003] = i;"
                   "document.title = Object.keys(m).length</script>")


NATIVELY = "the sandbox leaves no room: runs natively from where it is locked in"

PROGRAMS = [
    compiled("Rust, std", ("rustc", "gcc"), "rustc", "-O", "-o", "FOLDER/program", source("maps.rs")),
    Job("Rust, rustc itself", ("rustc", "gcc"), ("rustc", "--version"), makes=made_here("maps.o"),
        command=("rustc", "-O", "--emit=obj", "-o", "FOLDER/maps.o", source("maps.rs"))),
    # Too short, or with a set as large as neighbours leave of the last-level cache: how long these take says nothing.
    Job("Rust, ripgrep", ("rg",), ("rg", "--version"), timed=False,
        command=("rg", "--sort=path", "-c", "define", "/usr/include/linux", "/usr/include/c++")),
    compiled("OCaml, stack overflow", ("ocamlfind", "ocamlopt"), "sh", "-c",  # what it makes lies beside the source
             f"cp {shlex.quote(source('maps.ml'))} FOLDER && ocamlfind ocamlopt -O3 -w -a -package str -o FOLDER/program FOLDER/maps.ml"),
    compiled("GNAT, exceptions of faults", ("gnatmake",), "gnatmake", "-q", "-O2", "-D", "FOLDER", "-o", "FOLDER/program",
             source("faults.adb"), timed=False),
    compiled("Haskell", ("ghc",), "ghc", "-v0", "-O", "-threaded", "-outputdir", "FOLDER", "-o", "FOLDER/program",
             source("Maps.hs")),
    Job("Erlang", ("escript",), ("erl", "-version"), command=("escript", source("maps.erl"))),
    Job("SBCL", ("sbcl",), ("sbcl", "--version"), command=("sbcl", "--script", source("maps.lisp"))),
    Job("GNU Common Lisp", ("gcl",), ("gcl", "-batch", "-eval", "(princ (lisp-implementation-version))"),
        command=("gcl", "-batch", "-load", source("maps.lisp"))),
    c_program("coroutines of 8 KiB", "coroutines.c"),
    c_program("AddressSanitizer", "closes.c", "-fsanitize=address", "-static-libasan"),
    c_program("AddressSanitizer, as a library", "closes.c", "-fsanitize=address"),
    c_program("ThreadSanitizer", "closes.c", "-fsanitize=thread"),
    c_program("closes all descriptors", "closes.c", timed=False),
    c_program("10,000 threads and processes", "crowd.c", "-pthread", timed=False),
    c_program("seccomp, kills", "locked.c", timed=False, remark=NATIVELY),
    c_program("seccomp, born with it", "service.c", timed=False),  # by timers: perf_event would end it
    Job("io_uring", ("gcc",), ("gcc", "--version"), lacking=io_uring_refused, command=("FOLDER/program", "/bin/ls"),
        prepare=compile_by("gcc", "-O2", "-o", "FOLDER/program", source("uring.c"))),
    Job("strace on it", ("strace", "gzip"), ("strace", "--version"), timed=False,
        command=("strace", "-f", "-o", "FOLDER/trace", "gzip", "-9", "-c", "/bin/bash")),
    Job("gdb on it", ("gdb", "gzip"), ("gdb", "--version"), timed=False,
        stdout_counts=False, makes=made_here("bash.gz"),  # gdb names process and thread by number
        command=("gdb", "-q", "-batch", "-nx", "-ex", "run -9 -c /bin/bash >FOLDER/bash.gz", "-ex", "quit $_exitcode", "gzip")),
    Job("Chromium, headless", ("chromium",), ("chromium", "--version"), timed=False, prepare=write_page,
        command=("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
                 "--user-data-dir=FOLDER/profile", "--dump-dom", "FOLDER/page.html")),
]
