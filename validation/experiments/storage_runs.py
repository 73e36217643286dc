# SPDX-License-Identifier: Apache-2.0
"""nvmemu bench storage on emulated storage, as a program of experiments: a small machine with the paper's proportions."""
import contextlib
import os
import tempfile

from acceptance.runner import RunError
from engine.experiment import Figure

# The paper's names, and the profiles.
STORAGES = {"PCM": "pcm-dax", "PCM-SSD": "paper-pcm-ssd", "PCM-HDD": "paper-pcm-hdd", "SSD": "ssd-sata", "HDD": "hdd-5400"}
FLOWS = ("fileserver", "webserver", "webproxy", "varmail")
FILES = {flow: 1000 if flow == "varmail" else 2000 for flow in FLOWS}
# The paper's guest has 16 GB, some 14 of them for its page cache; data sets and page cache are a 50th of the paper's.
PAGE_CACHE = "280M"
FIGURES = [Figure("ops", "operations", "1/s"), Figure("read_us", "read", "us"), Figure("write_us", "write and append", "us"),
           Figure("sync_us", "sync", "us"), Figure("sync_percent", "of the time, syncs", "%"), Figure("operation_us", "an operation", "us"),
           Figure("slower_percent", "of calls, slower here than there", "%")]
NOT_CLAIMED = [
    "That such devices would be as fast: profiles are data sheets and round figures, and files lie in this machine's memory.",
    "The paper's factors: its PCM was bound by another processor, and each operation takes this machine's system calls.",
    "How its PCM-SSD and PCM-HDD were made the paper does not say; the profiles are a host's page cache that syncs do not leave.",
    "Write-back by age and the journal's own timer are not emulated, nor directory blocks and inodes.",
]


def add_options(seconds):
    def add(parser):
        parser.add_argument("--seconds", type=float, default=seconds, metavar="N", help="of each run [%(default)s]")
        parser.add_argument("--directory", default="/dev/shm", metavar="DIR", help="where files are made, in memory [%(default)s]")
    return add


@contextlib.contextmanager
def data_folder(lab):
    """In memory, and gone afterwards: real storage that is slower than the emulated one would show."""
    try:
        with tempfile.TemporaryDirectory(prefix="nvmemu-experiment-", dir=lab.arguments.directory, ignore_cleanup_errors=True) as folder:
            os.chmod(folder, 0o755)
            yield folder
    except FileNotFoundError as error:
        raise RunError(f"--directory: {error}") from error


def _of(operations, *actions):
    """Sum in ns, and how many."""
    chosen = [one["latencies"] for one in operations if not actions or one["action"] in actions]
    return sum(one["sum_ns"] for one in chosen), sum(one["count"] for one in chosen)


def _mean_us(operations, *actions):
    total_ns, count = _of(operations, *actions)
    return total_ns / count / 1e3 if count else None


# What a flow does, and as a column.
ACTIONS = {"open": "open", "create": "create", "read": "read", "write": "write", "append": "append", "log": "append to the log", "sync": "sync",
           "stat": "stat", "close": "close", "delete": "delete"}


def run_flow(lab, flow, profile, *options, threads=8, page_cache=PAGE_CACHE):
    """What it did in --seconds below a folder of that storage, natively where `profile` is None; and nvmemu's report."""
    result = lab.path("bench.json")
    with data_folder(lab) as folder:
        report = lab.run([lab.nvmemu, "bench", "storage", "--directory", folder, "--flow", flow, "--threads", str(threads),
                          "--seconds", f"{lab.arguments.seconds:g}", "--json", result, *options],
                         ["--storage", f"{folder}={profile}", "--page-cache", page_cache] if profile else None).report
    return lab.read("bench.json")["flows"][0], report


def latencies_by_action(found):
    """Of a flow's result: us by action; of one that it has not, None."""
    return {f"{action}_us": _mean_us(found["operations"], action) for action in ACTIONS}


def flow_figures(lab, flow, profile, *options, threads=8, page_cache=PAGE_CACHE):
    found, report = run_flow(lab, flow, profile, *options, threads=threads, page_cache=page_cache)
    operations = found["operations"]
    all_ns, sync_ns = _of(operations)[0], _of(operations, "sync")[0]
    storage = report["storage"][0] if report else None
    calls = storage["reads"] + storage["writes"] + storage["syncs"] if storage else 0
    return {"ops": found["operations_per_second"], "read_us": _mean_us(operations, "read"), "write_us": _mean_us(operations, "write", "append", "log"),
            "sync_us": _mean_us(operations, "sync"), "sync_percent": 100 * sync_ns / all_ns if sync_ns else None,
            "operation_us": _mean_us(operations), "slower_percent": 100 * storage["slower"] / calls if calls else None}
