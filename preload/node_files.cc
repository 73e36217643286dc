// SPDX-License-Identifier: Apache-2.0
// Interposed: how a program finds out which NUMA nodes there are, where some are emulated: /sys of nodes, and
// its own status. Without such nodes, nothing.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string_view>

#include "allowed_nodes.h"
#include "apart.h"
#include "base/path.h"
#include "base/raw_syscall.h"
#include "descriptor_path.h"
#include "hook.h"
#include "keep_errno.h"
#include "node_usage.h"
#include "numa_maps.h"
#include "runtime.h"
#include "storage/process_storage.h"
#include "storage/stream_call.h"

namespace nvmemu::preload {
namespace {

using EntryFilter = int (*)(const dirent*);
using EntryOrder = int (*)(const dirent**, const dirent**);

NVMEMU_HOOK(int, open, (const char*, int, unsigned));
NVMEMU_HOOK(int, openat, (int, const char*, int, unsigned));
NVMEMU_HOOK(FILE*, fopen, (const char*, const char*));
NVMEMU_HOOK(FILE*, freopen, (const char*, const char*, FILE*));
NVMEMU_HOOK(DIR*, opendir, (const char*));
NVMEMU_HOOK(int, closedir, (DIR*));
NVMEMU_HOOK(int, scandir, (const char*, dirent***, EntryFilter, EntryOrder));
NVMEMU_HOOK(int, access, (const char*, int));
NVMEMU_HOOK(int, faccessat, (int, const char*, int, int));
NVMEMU_HOOK(int, stat, (const char*, struct stat*));
NVMEMU_HOOK(int, lstat, (const char*, struct stat*));
NVMEMU_HOOK(int, fstatat, (int, const char*, struct stat*, int));
NVMEMU_HOOK(int, statx, (int, const char*, int, unsigned, struct statx*));

// Where the kernel shows nodes.
constexpr std::string_view kTrees[] = {"/sys/devices/system/node", "/sys/bus/node/devices"};

// The path that `path` is in folder `fd`, written to `out`; empty where that cannot be told.
std::string_view whole_path(int fd, std::string_view path, Path& out) noexcept {
  if (path.starts_with('/')) return path;
  const std::string_view folder = path_of_descriptor(fd, out);
  if (folder.empty() || folder.size() + path.size() + 1 >= sizeof out) return {};
  char* const end = out + (folder == "/" ? 0 : folder.size());
  *end = '/';
  std::copy(path.begin(), path.end(), end + 1);
  return {out, static_cast<std::size_t>(end + 1 - out) + path.size()};
}

bool has_nodes() noexcept { return __builtin_expect(Runtime::get().nodes().are_there(), 0); }

// What `path` names in there ("/node1/meminfo"), in `room`; nothing where it is elsewhere. From a folder that
// was opened by such a path, it is in what is shown.
std::optional<std::string_view> path_in_tree(int fd, const char* path, Path& room) noexcept {
  const std::string_view whole = whole_path(fd, path, room);
  for (const std::string_view tree : {kTrees[0], kTrees[1], std::string_view(Runtime::get().nodes().tree())})
    if (is_at_or_below(whole, tree)) return whole.substr(tree.size());
  return std::nullopt;
}

// Where nodes that are not the machine's are among what `path` names: what is to be looked at in its place,
// written to `out`. Else `path`.
const char* shown(int fd, const char* path, Path& out) noexcept {
  const EmulatedNodes& nodes = Runtime::get().nodes();
  if (!nodes.are_there() || path == nullptr || std::strstr(path, "node") == nullptr) return path;
  const KeepErrno keep;
  Path room;
  const std::optional<std::string_view> rest = path_in_tree(fd, path, room);
  if (!rest || std::strlen(nodes.tree()) + rest->size() >= sizeof out) return path;
  char* const end = stpcpy(out, nodes.tree());
  *std::copy(rest->begin(), rest->end(), end) = '\0';
  return out;
}

// What tells of the nodes that it may use, or has pages on, or of how much is on them, tells of the emulated
// ones, too; -1 where `path` is something else.
int open_told_apart(int fd, const char* path, int flags) noexcept {
  Runtime& runtime = Runtime::get();
  const EmulatedNodes& nodes = runtime.nodes();
  Path room;
  if (const auto rest = path_in_tree(fd, path, room)) return open_node_counts(*rest, flags, nodes);
  if (tells_allowed_nodes(path)) return open_allowing(path, flags, nodes.nodes().all());
  if (!runtime.placement().is_open() || !runtime.active()) return -1;
  const std::optional<long> pid = process_of_numa_maps(path);
  if (!pid) return -1;
  const PlacementOf whose(*pid);
  return whose.is_known() ? open_numa_maps(whose, flags, nodes) : -1;
}

// Whether it may be such: by its path or, from a folder that is not known yet, by its name.
bool may_be_told(std::string_view path) noexcept {
  if (tells_allowed_nodes(path) || process_of_numa_maps(path)) return true;
  if (path.starts_with('/'))
    return std::ranges::any_of(kTrees, [path](std::string_view tree) { return is_at_or_below(path, tree); });
  constexpr std::string_view kInTree[] = {"node", "meminfo", "numastat"};
  return std::ranges::any_of(kInTree, [path](std::string_view part) { return path.find(part) != path.npos; });
}

int open_told(int fd, const char* path, int flags) noexcept {
  if (!has_nodes() || path == nullptr || !may_be_told(path)) return -1;
  const KeepErrno keep;
  int told = -1;
  do_apart([&] { told = open_told_apart(fd, path, flags); });
  return told;
}

// Apart, so that programs without such nodes have no room for a path on their stack.
template <typename Call>
[[gnu::noinline]] auto call_shown(int fd, const char* path, Call& call) {
  Path out;
  return call(shown(fd, path, out));
}

// Calls with what is to be looked at.
template <typename Call>
auto at_shown(int fd, const char* path, Call&& call) {
  return has_nodes() ? call_shown(fd, path, call) : call(path);
}

[[gnu::noinline]] int open_shown(int fd, const char* path, int flags, unsigned mode) noexcept {
  if (const int told = open_told(fd, path, flags); told >= 0) return told;
  return at_shown(fd, path, [&](const char* there) { return real_openat(fd, there, flags, mode); });
}

[[gnu::noinline]] FILE* fopen_shown(const char* path, const char* mode) noexcept {
  if (const int told = open_told(AT_FDCWD, path, O_RDONLY); told >= 0) return fdopen(told, "r");
  return at_shown(AT_FDCWD, path, [&](const char* there) { return real_fopen(there, mode); });
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

// Where files of the run's storage are among them.
static int noted(int fd, int flags, const NameAt& name) noexcept {
  if (fd < 0 || !process_storage().is_open()) return fd;
  const KeepErrno keep;
  process_storage().note_opened(fd, flags, name);
  return fd;
}

// One that appends stands at the end.
static FILE* noted(FILE* stream, const char* mode, const char* path) noexcept {
  const int writes = *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT : 0;
  if (stream == nullptr || !process_storage().is_open()) return stream;
  const KeepErrno keep;
  const int fd = fileno(stream);
  process_storage().note_opened(fd, writes, {.path = path});
  if (StoredDescriptor* const descriptor = process_storage().find(fd))
    descriptor->told_position = static_cast<std::uint64_t>(std::max(position_of(fd), 0L));
  return stream;
}

// <fcntl.h> declares them as variadic; a word more does no harm.
NVMEMU_EXPORT int interposed_open(const char* path, int flags, unsigned mode) __asm__("open");
NVMEMU_EXPORT int interposed_open64(const char* path, int flags, unsigned mode) __asm__("open64");
NVMEMU_EXPORT int interposed_openat(int fd, const char* path, int flags, unsigned mode) __asm__("openat");
NVMEMU_EXPORT int interposed_openat64(int fd, const char* path, int flags, unsigned mode) __asm__("openat64");

int interposed_open(const char* path, int flags, unsigned mode) {
  return noted(has_nodes() ? open_shown(AT_FDCWD, path, flags, mode) : real_open(path, flags, mode), flags,
               {.path = path});
}
int interposed_open64(const char* path, int flags, unsigned mode) {
  return interposed_open(path, flags | O_LARGEFILE, mode);
}
int interposed_openat(int fd, const char* path, int flags, unsigned mode) {
  return noted(has_nodes() ? open_shown(fd, path, flags, mode) : real_openat(fd, path, flags, mode), flags,
               {fd, path});
}
int interposed_openat64(int fd, const char* path, int flags, unsigned mode) {
  return interposed_openat(fd, path, flags | O_LARGEFILE, mode);
}

// What -D_FORTIFY_SOURCE makes of calls without a mode.
NVMEMU_EXPORT int __open_2(const char* path, int flags) { return interposed_open(path, flags, 0); }
NVMEMU_EXPORT int __open64_2(const char* path, int flags) { return interposed_open64(path, flags, 0); }
NVMEMU_EXPORT int __openat_2(int fd, const char* path, int flags) {
  return interposed_openat(fd, path, flags, 0);
}
NVMEMU_EXPORT int __openat64_2(int fd, const char* path, int flags) {
  return interposed_openat64(fd, path, flags, 0);
}

NVMEMU_EXPORT FILE* fopen(const char* path, const char* mode) {
  return noted(has_nodes() ? fopen_shown(path, mode) : real_fopen(path, mode), mode, path);
}
NVMEMU_EXPORT FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }
NVMEMU_EXPORT FILE* freopen(const char* path, const char* mode, FILE* stream) {
  end_stream(stream);
  return noted(real_freopen(path, mode, stream), mode, path);
}
NVMEMU_EXPORT FILE* freopen64(const char* path, const char* mode, FILE* stream) {
  return freopen(path, mode, stream);
}

NVMEMU_EXPORT DIR* opendir(const char* path) {
  DIR* const folder = at_shown(AT_FDCWD, path, real_opendir);
  if (folder != nullptr) noted(dirfd(folder), O_DIRECTORY, {.path = path});
  return folder;
}
// Its descriptor may be another file's right after. <dirent.h> declares that there is a folder, which
// programs may do without.
NVMEMU_EXPORT int interposed_closedir(DIR* folder) __asm__("closedir");
int interposed_closedir(DIR* folder) {
  if (folder != nullptr) process_storage().note_closed(dirfd(folder));
  return real_closedir(folder);
}

NVMEMU_EXPORT int scandir(const char* path, dirent*** names, EntryFilter filter, EntryOrder order) {
  return at_shown(AT_FDCWD, path,
                  [&](const char* there) { return real_scandir(there, names, filter, order); });
}

NVMEMU_EXPORT int access(const char* path, int mode) noexcept {
  return at_shown(AT_FDCWD, path, [&](const char* there) { return real_access(there, mode); });
}
NVMEMU_EXPORT int faccessat(int fd, const char* path, int mode, int flags) noexcept {
  return at_shown(fd, path, [&](const char* there) { return real_faccessat(fd, there, mode, flags); });
}
NVMEMU_EXPORT int stat(const char* path, struct stat* out) noexcept {
  return at_shown(AT_FDCWD, path, [&](const char* there) { return real_stat(there, out); });
}
NVMEMU_EXPORT int lstat(const char* path, struct stat* out) noexcept {
  return at_shown(AT_FDCWD, path, [&](const char* there) { return real_lstat(there, out); });
}
NVMEMU_EXPORT int fstatat(int fd, const char* path, struct stat* out, int flags) noexcept {
  return at_shown(fd, path, [&](const char* there) { return real_fstatat(fd, there, out, flags); });
}
NVMEMU_EXPORT int statx(int fd, const char* path, int flags, unsigned mask, struct statx* out) noexcept {
  return at_shown(fd, path, [&](const char* there) { return real_statx(fd, there, flags, mask, out); });
}

// Of 64 bits each is the same, but for its name.
static_assert(sizeof(dirent) == sizeof(dirent64));
NVMEMU_EXPORT int interposed_scandir64(const char* path, dirent*** names, EntryFilter filter,
                                       EntryOrder order) __asm__("scandir64");
int interposed_scandir64(const char* path, dirent*** names, EntryFilter filter, EntryOrder order) {
  return scandir(path, names, filter, order);
}
static_assert(sizeof(struct stat) == sizeof(struct stat64));
NVMEMU_EXPORT int stat64(const char* path, struct stat64* out) noexcept {
  return stat(path, reinterpret_cast<struct stat*>(out));
}
NVMEMU_EXPORT int lstat64(const char* path, struct stat64* out) noexcept {
  return lstat(path, reinterpret_cast<struct stat*>(out));
}
NVMEMU_EXPORT int fstatat64(int fd, const char* path, struct stat64* out, int flags) noexcept {
  return fstatat(fd, path, reinterpret_cast<struct stat*>(out), flags);
}
