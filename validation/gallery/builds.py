# SPDX-License-Identifier: Apache-2.0
"""What makes files: a build of many short processes, and an encoder of many threads."""
import glob
import os

from acceptance.programs import write_c
from gallery.program import Job

UNITS = 6

FRAMES = ("ffmpeg", "-nostdin", "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=10",
          "-c:v", "libx264", "-preset", "fast", "-threads", "2", "-f", "framemd5", "-")


def prepare_make(folder):
    write_c(f"{folder}/functions.c")
    with open(f"{folder}/functions.c") as file:
        functions = file.read().splitlines(keepends=True)
    for unit in range(UNITS):
        with open(f"{folder}/unit{unit}.c", "w") as file:
            file.writelines(functions[unit * 60:(unit + 1) * 60])
    with open(f"{folder}/Makefile", "w") as file:
        objects = " ".join(f"unit{unit}.o" for unit in range(UNITS))
        file.write(f"CFLAGS = -O2\nall.a: {objects}\n\tar rcD $@ $^\n")


def objects(folder):
    return glob.glob(f"{folder}/*.[oa]")


def clean(folder):
    for path in objects(folder):
        os.unlink(path)


PROGRAMS = [
    Job("make -j2, gcc", ("make", "gcc", "ar"), ("gcc", "--version"), prepare=prepare_make, before=clean, makes=objects,
        command=("make", "-s", "-j2", "-C", "FOLDER")),
    Job("ffmpeg, x264", ("ffmpeg",), ("ffmpeg", "-version"), command=FRAMES),
]
