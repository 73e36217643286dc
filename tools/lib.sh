# SPDX-License-Identifier: Apache-2.0
# What quickstart and test share; to be sourced by bash, with `repository` set to the root of the repository.
# shellcheck shell=bash disable=SC2034,SC2154

build_packages=(cmake ninja-build g++ pkg-config python3 libzydis-dev libexpected-dev libtomlplusplus-dev libcli11-dev
  libfmt-dev nlohmann-json3-dev libnuma-dev libpci-dev libpfm4-dev libpugixml-dev libgtest-dev libgmock-dev
  libbenchmark-dev)
quickstart_packages=(sqlite3)
test_packages=(pciutils gnuplot-nox sqlite3 redis-server redis-tools perl gcc gzip strace libpmem-dev libpmem2-dev libpmemobj-dev numactl hwloc-nox
  libmemkind-dev libomp-dev fio)
gallery_packages=(redis-server redis-tools memcached nginx apache2-utils postgresql mariadb-server-core mariadb-client
  sqlite3 default-jdk-headless golang-go gcc make ffmpeg stress-ng openmpi-bin libopenmpi-dev util-linux
  rustc ripgrep ocaml-nox ocaml-findlib gnat ghc erlang-base sbcl gcl strace gdb chromium
  bc bzip2 git libxml2-utils openssl xz-utils zstd)
lint_packages=(git clang-format-14 clang-tidy-14)
fuzz_packages=(clang libclang-rt-dev)
arm64_packages=(g++-aarch64-linux-gnu libfmt-dev:arm64 libnuma-dev:arm64 libpci-dev:arm64 libpfm4-dev:arm64
  libpugixml-dev:arm64 libgtest-dev:arm64 libgmock-dev:arm64)

progress() { printf '==> %s\n' "$*" >&2; }

fail() {
  printf '%s: error: %s\n' "${0##*/}" "$1" >&2
  if [ -n "${2:-}" ]; then printf '%s: hint: %s\n' "${0##*/}" "$2" >&2; fi
  exit 1
}

# logged LOG COMMAND...: its output goes to LOG, whose end is shown where it fails.
logged() {
  local log=$1 status=0
  shift
  mkdir -p "$(dirname "$log")"
  printf '$ %s\n' "$*" >>"$log"
  "$@" >>"$log" 2>&1 </dev/null || status=$?
  if [ "$status" -ne 0 ]; then
    tail -n 40 "$log" >&2
    fail "failed, with status $status: $*" "all of its output: $log"
  fi
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# Of this machine's architecture, unless the name ends in another's: libfmt-dev:arm64. Both can be there.
is_installed() {
  local architecture
  case $1 in
    *:*) architecture=${1#*:} ;;
    *) architecture=$(dpkg --print-architecture) ;;
  esac
  dpkg-query -W -f='${db:Status-Status} ${Architecture}\n' "${1%%:*}" 2>/dev/null |
    grep -xE "installed ($architecture|all)" >/dev/null
}

# The distribution, and those that it derives from, by the names that os-release(5) gives them.
distribution() { (. /etc/os-release 2>/dev/null && printf '%s %s' "${ID:-unknown}" "${ID_LIKE:-}"); }

# without_services COMMAND...: what it installs is not started. A policy that is there already is left as it is.
without_services() {
  local policy=/usr/sbin/policy-rc.d
  if [ -e "$policy" ]; then
    "$@"
    return
  fi
  (
    trap 'as_root rm -f "$policy"' EXIT
    as_root install -m 755 /dev/stdin "$policy" <<<$'#!/bin/sh\nexit 101'
    "$@"
  )
}

# require_packages LOG PACKAGE...: installs those that are missing. NVMEMU_PACKAGES=installed: takes them for installed.
require_packages() {
  local log=$1 package missing=()
  shift
  if [ "${NVMEMU_PACKAGES:-}" = installed ]; then return; fi
  if ! [[ " $(distribution) " =~ \ (debian|ubuntu)\  ]]; then
    fail "this is neither Debian nor Ubuntu: install what they call $*" \
      "then run this again with NVMEMU_PACKAGES=installed in the environment"
  fi
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then return; fi
  if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
    fail "not root, and no sudo, to install ${missing[*]}" "as root: apt-get install ${missing[*]}"
  fi
  progress "Installing ${missing[*]}"
  logged "$log" as_root apt-get -o DPkg::Lock::Timeout=300 update
  logged "$log" as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y \
    --no-install-recommends "${missing[@]}"
}

require_x86_64() {
  if [ "$(uname -m)" != x86_64 ]; then fail "nvmemu emulates on x86-64 only, and this is $(uname -m)"; fi
}

# build FOLDER LOG [CMAKE OPTION...]: configures and builds the repository in build/FOLDER, or of it
# $build_target only.
build() {
  local folder=$repository/build/$1 log=$2
  shift 2
  progress "Building in build/${folder##*/}"
  logged "$log" cmake -S "$repository" -B "$folder" -G Ninja "$@"
  logged "$log" cmake --build "$folder" --target "${build_target:-all}"
}
