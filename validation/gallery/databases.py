# SPDX-License-Identifier: Apache-2.0
"""Databases on a data directory of their own, without durability: the disk is not what is slowed."""
import glob
import os

from acceptance.programs import SQL
from gallery.process import native, unprivileged
from gallery.program import Job, Server

SUMS = ("select count(*), sum(abalance) from pgbench_accounts; select count(*), sum(tbalance) from pgbench_tellers; "
        "select count(*), sum(bbalance) from pgbench_branches; select count(*), sum(delta) from pgbench_history;")

LARGE_SQL = SQL.replace("399999", "799999").replace("400000", "800000")

# The engine that makes up sequences is MariaDB's.
SCRIPT = """
drop database if exists gallery; create database gallery; use gallery;
create table item(id int primary key, other int, text varchar(100), key(other)) engine=innodb;
insert into item select seq, (seq * 2654435761) % 200000, concat('item ', repeat(seq, 5)) from seq_0_to_199999;
select count(*), sum(length(b.text)) from item a join item b on b.id = a.other;
update item set text = concat(text, id) where other % 3 = 0;
select count(*), sum(crc32(text)) from item;
"""


def debian_postgres(name):
    """Debian keeps the server's programs outside PATH, a folder per version."""
    found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"), key=lambda path: int(path.split("/")[4]))
    return found[-1] if found else name


POSTGRES, INITDB = debian_postgres("postgres"), debian_postgres("initdb")


def to_postgres(folder, program, *arguments):
    return native([program, "-h", folder, "-U", "gallery", *arguments], folder)


def prepare_postgres(folder):
    native(unprivileged([INITDB, "-D", f"{folder}/data", "-U", "gallery", "-A", "trust", "-N"]), folder)


def postgres_ready(folder):
    """By what it notes down: it logs whom it refuses while it starts."""
    with open(f"{folder}/data/postmaster.pid") as file:
        return file.read().rstrip().endswith("ready")


def load_postgres(folder):
    to_postgres(folder, "pgbench", "-i", "-q", "-s", "2", "postgres")
    # The same transactions each time; their order differs, the sums do not.
    to_postgres(folder, "pgbench", "-c", "2", "-j", "1", "-t", "3000", "--random-seed=1", "postgres")


def ask_postgres(folder):
    return to_postgres(folder, "psql", "-X", "-A", "-t", "-c", SUMS, "postgres")


def to_mariadb(folder, program, *arguments, text=None):
    return native([program, "--no-defaults", "--socket", f"{folder}/socket", "-u", "root", *arguments], folder, text)


def prepare_mariadb(folder):
    native(unprivileged(["mariadb-install-db", "--no-defaults", f"--datadir={folder}/data",
                         "--auth-root-authentication-method=normal", "--skip-test-db"]), folder)


def load_mariadb(folder):
    with open(f"{folder}/answers", "wb") as file:
        file.write(to_mariadb(folder, "mariadb", text=SCRIPT.encode()))
    to_mariadb(folder, "mariadb-slap", "--auto-generate-sql", "--concurrency=4", "--number-of-queries=2000")


def ask_mariadb(folder):
    with open(f"{folder}/answers", "rb") as file:
        return file.read()


def without_database(folder):
    if os.path.exists(f"{folder}/test.db"):
        os.unlink(f"{folder}/test.db")


PROGRAMS = [
    Server("PostgreSQL", (POSTGRES, INITDB, "pgbench", "psql"), (POSTGRES, "--version"), as_unprivileged=True,
           command=(POSTGRES, "-D", "FOLDER/data", "-k", "FOLDER", "-c", "listen_addresses=", "-c", "fsync=off"),
           prepare=prepare_postgres, ready=postgres_ready, load=load_postgres, ask=ask_postgres),
    Server("MariaDB", ("mariadbd", "mariadb-install-db", "mariadb", "mariadb-slap"), ("mariadbd", "--version"),
           command=("mariadbd", "--no-defaults", "--datadir=FOLDER/data", "--socket=FOLDER/socket", "--skip-networking",
                    "--innodb-flush-log-at-trx-commit=0"),
           as_unprivileged=True, prepare=prepare_mariadb,
           ready=lambda folder: to_mariadb(folder, "mariadb", "-e", "") == b"", load=load_mariadb, ask=ask_mariadb),
    Job("sqlite3", ("sqlite3",), ("sqlite3", "--version"),
        command=("sqlite3", "FOLDER/test.db", "PRAGMA synchronous = OFF;" + LARGE_SQL), before=without_database),
]
