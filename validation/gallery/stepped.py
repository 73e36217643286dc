# SPDX-License-Identifier: Apache-2.0
"""Programs of one thread whose results are the same in every run: what is walked in them is single-stepped, too."""
import random
import sys

from acceptance.programs import PERL, PYTHON, SQL, write_c, write_lines
from gallery.program import Job

AWK = "{ sum[$1 % 977] += $2; $1 = substr($1, 3); if (/[0-9]f.*[a-c]1/) ++found } END { for (i = 0; i < 977; ++i) " \
      "total += sum[i] * i; print total, found }"
PYTHON3 = "/usr/bin/python3"  # the system's
BASH = 's=0; for ((i = 0; i < 200000; ++i)); do s=$(( (s * 31 + i) % 65521 )); t=${s/1/23}; done; echo "$s $t"'
REALS = "SELECT printf('%.12g %.3e', sum(id / 7.0 * (other - 3e5)), avg(other * 1e-17 * id)) FROM item;"
NUMBERS = """
import decimal, json, math, re, struct
values = [math.sin(i) * 10 ** (i % 40 - 20) for i in range(60000)]
text = json.dumps(values)
assert json.loads(text) == values
print(len(text), sum(map(math.fsum, zip(values, map(math.exp, [i / 999 for i in range(60000)])))))
print(len(re.findall(r"(\\d)\\.(?:\\d*)\\1e-(1\\d)", text)), sum(struct.unpack("60000f", struct.pack("60000f", *values))))
decimal.getcontext().prec = 400
print(sum(decimal.Decimal(i).sqrt() for i in range(9000)), pow(3, 10 ** 4000, 10 ** 400 + 69))
"""


def lines(folder):
    write_lines(f"{folder}/lines", 300_000)


def many_lines(folder):
    write_lines(f"{folder}/lines", 2_000_000)


def few_functions(folder):
    write_c(f"{folder}/all.c")
    with open(f"{folder}/all.c") as whole, open(f"{folder}/unit.c", "w") as unit:
        unit.writelines(whole.readlines()[:60])


def two_texts(folder):
    numbers = random.Random(2)
    write_lines(f"{folder}/lines", 100_000)
    with open(f"{folder}/lines") as one, open(f"{folder}/others", "w") as other:
        other.writelines(line for line in one if numbers.random() < 0.9)


def script(name, text):
    def prepare(folder):
        with open(f"{folder}/{name}", "w") as file:
            file.write(text)
    return prepare


def packer(name, *options):
    return Job(name, (name,), (name, "--version"), prepare=lines, command=(name, *options, "-c", "FOLDER/lines"))


def openssl(what, *arguments, prepare=None):
    return Job(f"openssl, {what}", ("openssl",), ("openssl", "version"), prepare=prepare,
               command=("openssl", *arguments))


def encrypted(cipher, key_digits, what):
    return openssl(what, "enc", cipher, "-K", "42" * key_digits, "-iv", "17" * 16, "-in", "FOLDER/lines",
                   prepare=many_lines)


PROGRAMS = [
    Job("sort", ("sort",), ("sort", "--version"), prepare=lines, command=("sort", "--parallel=1", "FOLDER/lines")),
    Job("awk", ("awk",), ("awk", "-W", "version"), prepare=lines, command=("awk", AWK, "FOLDER/lines")),
    Job("bash", ("bash",), ("bash", "--version"), command=("bash", "-c", BASH)),
    Job("python3", (sys.executable,), (sys.executable, "--version"), command=(sys.executable, "-c", PYTHON)),
    Job("python3, numbers", (PYTHON3,), (PYTHON3, "--version"), command=(PYTHON3, "-c", NUMBERS)),
    Job("perl", ("perl",), ("perl", "--version"), command=("perl", "-e", PERL)),
    Job("sqlite3", ("sqlite3",), ("sqlite3", "--version"), command=("sqlite3", ":memory:", SQL + REALS)),
    Job("gcc", ("gcc",), ("gcc", "--version"), prepare=few_functions, makes=lambda folder: [f"{folder}/unit.o"],
        command=("gcc", "-O2", "-g", "-c", "-o", "FOLDER/unit.o", "FOLDER/unit.c")),
    packer("gzip"),
    packer("bzip2"),
    packer("xz", "-T1", "-0"),
    packer("zstd", "--single-thread", "--no-asyncio", "-12", "-q"),
    Job("tar, gzip", ("tar", "gzip"), ("tar", "--version"), prepare=lines,
        command=("tar", "-C", "FOLDER", "--mtime=@0", "-cz", "lines")),
    openssl("sha512", "dgst", "-sha512", "FOLDER/lines", prepare=many_lines),
    openssl("blake2", "dgst", "-blake2b512", "FOLDER/lines", prepare=many_lines),
    openssl("poly1305", "mac", "-macopt", "hexkey:" + "42" * 32, "-in", "FOLDER/lines", "POLY1305", prepare=many_lines),
    encrypted("-chacha20", 32, "chacha20"),
    encrypted("-camellia-256-cbc", 32, "camellia"),
    encrypted("-aes-256-ctr", 32, "aes"),
    openssl("scrypt", "kdf", "-keylen", "64", "-kdfopt", "pass:word", "-kdfopt", "salt:of", "-kdfopt", "n:16384",
            "-kdfopt", "r:8", "-kdfopt", "p:8", "SCRYPT"),
    openssl("prime", "prime", "-checks", "2", str(2 ** 3217 - 1)),
    Job("git diff", ("git",), ("git", "--version"), prepare=two_texts,
        command=("git", "diff", "--no-index", "--histogram", "--stat", "--exit-code", "FOLDER/lines", "FOLDER/others")),
    Job("grep", ("grep",), ("grep", "--version"), prepare=lines, command=("grep", "-E", r"(..)\1.*([a-f])\2", "FOLDER/lines")),
    Job("bc", ("bc",), ("bc", "--version"), prepare=script("pi", "scale=700\n4*a(1)\ne(1)\nquit\n"),
        command=("bc", "-l", "FOLDER/pi")),
    Job("factor", ("factor",), ("factor", "--version"),
        command=("factor", *(str(10 ** 30 + 2 * i + 1) for i in range(150)))),
    Job("xmllint", ("xmllint",), ("xmllint", "--version"), prepare=script("tree.xml", "<t>" + "".join(
        f"<n i='{i}'>{i * i} &amp; <b>{i % 97}</b></n>" for i in range(60000)) + "</t>"),
        command=("xmllint", "--format", "--xpath", "count(//n[b > 48])", "FOLDER/tree.xml")),
]
