# SPDX-License-Identifier: Apache-2.0
# Emulated machines with what this one may lack: a kernel's real driver for hardware counters, two NUMA nodes, a node
# without processors, cgroup version 2. To be sourced by bash after lib.sh. QEMU emulates them in software: they need
# neither root nor KVM, and their memory is equally fast.
# shellcheck shell=bash disable=SC2154

guest_packages=(qemu-system-arm qemu-system-x86 cpio gzip xz-utils binutils kmod dpkg-dev libmemkind-progs)

# machine: its QEMU, the Debian architecture of its kernel, the build folder of its programs, and its hardware.
guest_machines() {
  cat <<'END'
pmu-n1   qemu-system-aarch64  arm64  aarch64  -M virt -cpu neoverse-n1 -m 1024 -smp 2
pmu-max  qemu-system-aarch64  arm64  aarch64  -M virt -cpu max -m 1024 -smp 2
numa     qemu-system-x86_64   amd64  test     -M q35 -accel tcg -cpu max -m 1G -smp 2 -object memory-backend-ram,id=m0,size=512M -object memory-backend-ram,id=m1,size=512M -numa node,memdev=m0,cpus=0 -numa node,memdev=m1,cpus=1 -numa dist,src=0,dst=1,val=21
pager    qemu-system-x86_64   amd64  test     -M q35 -accel tcg -cpu max -m 1536M -smp 2
paging   qemu-system-x86_64   amd64  test     -M q35 -accel tcg -cpu max -m 1536M -smp 2 -object memory-backend-ram,id=m0,size=1G -object memory-backend-ram,id=m1,size=512M -numa node,memdev=m0,cpus=0-1 -numa node,memdev=m1 -numa dist,src=0,dst=1,val=17
END
}

# Unpacks the package PACKAGE:ARCHITECTURE, newest version, into FOLDER, without installing it.
unpack_package() {
  local package=$1 folder=$2 downloads=$repository/build/guest/packages
  mkdir -p "$downloads" "$folder"
  (cd "$downloads" && logged "$log" apt-get download "$package")
  local name=${package%%:*} architecture=${package##*:} archive
  archive=$(find "$downloads" -name "${name}_*_$architecture.deb" | sort -V | tail -n 1)
  logged "$log" dpkg-deb -x "$archive" "$folder"
}

# The kernel and busybox of an architecture, in build/guest/ARCHITECTURE.
unpack_system() {
  local architecture=$1 folder=$repository/build/guest/$1 kernel
  if compgen -G "$folder/boot/vmlinuz-*" >/dev/null && [ -e "$folder/bin/busybox" ]; then return; fi
  kernel=$(apt-cache depends "linux-image-$architecture:$architecture" | awk '/Depends: linux-image/ {print $2; exit}')
  if [ -z "$kernel" ]; then
    fail "no kernel for $architecture to boot: there is no package linux-image-$architecture" \
      "Debian has it; on another distribution the guests cannot be run"
  fi
  progress "Fetching a kernel for $architecture"
  unpack_package "${kernel%%:*}:$architecture" "$folder"
  unpack_package "busybox-static:$architecture" "$folder"
}

# The dynamic loader and the libraries that FILE needs, and those that these need, one a line.
libraries_of() {
  local file=$1 triplet=$2 name path
  readelf -h "$file" >/dev/null 2>&1 || return 0  # a script
  readelf -l "$file" | sed -n 's/.*program interpreter: \(.*\)\]/\1/p'
  readelf -d "$file" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | while read -r name; do
    for path in "$(dirname "$file")/$name" "/lib/$triplet/$name" "/usr/lib/$triplet/$name" "$name"; do
      [ -e "$path" ] || continue
      printf '%s\n' "$path"
      [ "$path" = "$name" ] || libraries_of "$path" "$triplet"
      break
    done
  done
}

# The sources of Debian's package, unpacked into FOLDER; apt checks that they are the distribution's, in lists of its own.
unpack_source() {
  local package=$1 folder=$2 apt=$repository/build/guest/apt mirror release options
  mirror=$(apt-get download --print-uris "$package" | sed -n "s|^'\(.*\)/pool/.*|\1|p" || true)
  if [ -z "$mirror" ]; then fail "no sources of $package: apt does not say where the package is from"; fi
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  rm -rf "$folder" "$apt/downloads"
  mkdir -p "$apt/lists/partial" "$apt/downloads"
  printf 'deb-src [signed-by=%s] %s %s main\n' /usr/share/keyrings/debian-archive-keyring.gpg "$mirror" "$release" \
    >"$apt/sources.list"
  options=(-o "Dir::Etc::SourceList=$apt/sources.list" -o Dir::Etc::SourceParts=- -o "Dir::State::Lists=$apt/lists")
  logged "$log" apt-get "${options[@]}" update
  (cd "$apt/downloads" && logged "$log" apt-get "${options[@]}" source --download-only "$package")
  logged "$log" dpkg-source --no-check --extract "$apt/downloads/$package"_*.dsc "$folder"
}

# build_libnuma_tests FOLDER: what tools/guest/libnuma-tests runs.
build_libnuma_tests() {
  local folder=$1 source=$repository/build/guest/numactl test
  if [ -e "$folder/memhog" ]; then return; fi
  progress "Building libnuma's own tests"
  unpack_source numactl "$source"
  mkdir -p "$folder/test"
  for test in distance mbind_mig_pages migrate_pages move_pages mynode node-parse nodemap pagesize prefered tbitmap tshared; do
    logged "$log" gcc -w -O2 "-I$source" "$source/test/$test.c" "$source/util.c" -o "$folder/test/$test" -lnuma
  done
  cp "$source"/test/{bind_range,checkaffinity,checktopology,printcpu,regress} "$folder/test"
  logged "$log" gcc -w -O2 "-I$source" "$source/memhog.c" "$source/util.c" -o "$folder/memhog" -lnuma
}

# What the machine needs beside what the commands of its checks name: see tools/guest/files.
files_of() {
  sed '/^#/d' "$repository/tools/guest/files" | awk -v machine="$1" 'index(machine, $1) == 1 {print $2}'
  if [ "$1" = paging ]; then find "$repository/build/guest/libnuma" -type f; fi
}

# modules_of MACHINE ARCHITECTURE: the files of its kernel's modules that the machine needs, each after those that it
# depends on.
modules_of() {
  local folder=$repository/build/guest/$2 release name
  release=$(basename "$folder"/lib/modules/*)
  files_of "$1" | sed -n 's/^module://p' | while read -r name; do
    PATH=$PATH:/sbin:/usr/sbin
    [ -e "$folder/lib/modules/$release/modules.dep.bin" ] || logged "$log" depmod -b "$folder" "$release"
    modprobe -d "$folder" -S "$release" --show-depends "$name"
  done | awk '$1 == "insmod" && !seen[$2]++ {print $2}'
}

# add_modules MACHINE ARCHITECTURE ROOT: to ROOT/guest/modules, numbered in the order in which they are to be loaded.
add_modules() {
  local root=$3 module copy count=10
  mkdir -p "$root/guest/modules"
  modules_of "$1" "$2" | while read -r module; do
    count=$((count + 1))
    copy=$root/guest/modules/$count-$(basename "$module" .xz)
    case $module in
      *.xz) xz -dc "$module" >"$copy" ;;
      *) cp "$module" "$copy" ;;
    esac
  done
}

# make_initrd MACHINE ARCHITECTURE BUILD-FOLDER FILE: busybox, the checks and what they name, at the paths that it has here.
make_initrd() {
  local machine=$1 architecture=$2 build=$3 initrd=$4 root triplet file library
  triplet=x86_64-linux-gnu
  if [ "$architecture" = arm64 ]; then triplet=aarch64-linux-gnu; fi
  root=$(mktemp -d)
  mkdir -p "$root"/{bin,proc,sys,dev,tmp,guest,usr/bin}
  cp "$repository/build/guest/$architecture/bin/busybox" "$root/bin/"
  cp "$repository/tools/guest/init" "$root/init"
  cp "$repository"/tools/guest/{compare-nodes,libnuma-tests} "$root/guest/"
  sed -e '/^#/d' -e '/^$/d' "$repository/tools/guest/checks" >"$root/guest/checks"
  printf 'export MACHINE=%s BUILD=%s LIBNUMA=%s TIMEOUT_FACTOR=%s\n' "$machine" "$build" "$repository/build/guest/libnuma" \
    "$(timeout_factor)" >"$root/guest/environment"
  {
    awk -v machine="$machine" '$1 == machine' "$root/guest/checks" | grep -o '\$BUILD/[^ ;|]*' || true
    files_of "$machine" | sed '/^module:/d'
    printf '/lib/%s/libgcc_s.so.1\n' "$triplet"  # of which glibc learns only when it needs it
  } | sed "s|^\$BUILD|$build|" | sort -u | while read -r file; do
    if [ ! -e "$file" ]; then fail "a check of the machine $machine names $file, which is not there"; fi
    printf '%s\n' "$file"
    libraries_of "$file" "$triplet"
  done | sort -u | while read -r file; do
    mkdir -p "$root$(dirname "$file")"
    cp -L "$file" "$root$file"
  done
  add_modules "$machine" "$architecture" "$root"
  (cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$initrd"
  rm -rf "$root"
}

# By how much everything may take longer than tools/guest/checks says.
timeout_factor() {
  local factor=${NVMEMU_TIMEOUT_FACTOR:-1}
  [[ $factor =~ ^[1-9][0-9]{0,3}$ ]] || fail "NVMEMU_TIMEOUT_FACTOR is to be a whole number, not '$factor'"
  printf '%s' "$factor"
}

# boot MACHINE QEMU ARCHITECTURE INITRD CONSOLE OPTION...: until the machine has switched itself off, or its checks' time is
# up (and two minutes for its start).
boot() {
  local machine=$1 qemu=$2 architecture=$3 initrd=$4 console=$5 terminal=ttyS0 seconds
  shift 5
  if [ "$architecture" = arm64 ]; then terminal=ttyAMA0; fi
  seconds=$(awk -v machine="$machine" -v factor="$(timeout_factor)" \
    '$1 == machine {sum += $2} END {print (sum + 120) * factor}' "$repository/tools/guest/checks")
  timeout "$seconds" "$qemu" "$@" -nographic -no-reboot -kernel "$repository/build/guest/$architecture"/boot/vmlinuz-* \
    -initrd "$initrd" -append "console=$terminal quiet panic=-1" >"$console" 2>&1 </dev/null ||
    fail "the machine $machine did not end within $seconds s, or QEMU failed" "its console: $console"
}

# judge MACHINE CONSOLE: every check of the table must have said that it passed.
judge() {
  local machine=$1 console=$2 name passed=0 failed=()
  while read -r name; do
    if tr -d '\r' <"$console" | grep -q "guest: passed $name\$"; then
      passed=$((passed + 1))
    else
      failed+=("$name")
    fi
  done < <(awk -v machine="$machine" '$1 == machine {print $4}' "$repository/tools/guest/checks")
  if [ ${#failed[@]} -gt 0 ]; then
    tr -d '\r' <"$console" | grep -A4 -E '^guest: failed|Failure$|Kernel panic' >&2 || tail -n 20 "$console" >&2
    fail "failed on the machine $machine: ${failed[*]}" "its console: $console"
  fi
  progress "Machine $machine: $passed checks passed"
}

run_guest() {
  local machine=$1 qemu=$2 architecture=$3 build=$repository/build/$4 folder=$repository/build/guest
  shift 4
  unpack_system "$architecture"
  if [ "$machine" = paging ]; then build_libnuma_tests "$folder/libnuma"; fi
  progress "Running the machine $machine ($qemu)"
  make_initrd "$machine" "$architecture" "$build" "$folder/$machine.initrd"
  boot "$machine" "$qemu" "$architecture" "$folder/$machine.initrd" "$folder/$machine.console" "$@"
  judge "$machine" "$folder/$machine.console"
}

# run_guests [MACHINE...]: those named, or all.
run_guests() {
  local machine qemu architecture build options
  timeout_factor >/dev/null
  while read -r machine qemu architecture build options; do
    if [ $# -gt 0 ] && ! [[ " $* " == *" $machine "* ]]; then continue; fi
    # shellcheck disable=SC2086 # options are words
    run_guest "$machine" "$qemu" "$architecture" "$build" $options
  done < <(guest_machines)
}
