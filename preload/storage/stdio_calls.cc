// SPDX-License-Identifier: Apache-2.0
// Interposed: stdio, but for what ends a stream. The C library reads and writes without the calls that can be
// interposed; how far it has come is told by where the descriptor stands after the call. What other functions
// move (printf, getc) is found at the next of these on the same stream.
#include <stdio.h>

#include "hook.h"
#include "storage/stream_call.h"

namespace nvmemu::preload {
namespace {

NVMEMU_HOOK(size_t, fread, (void*, size_t, size_t, FILE*));
NVMEMU_HOOK(size_t, fread_unlocked, (void*, size_t, size_t, FILE*));
NVMEMU_HOOK(size_t, fwrite, (const void*, size_t, size_t, FILE*));
NVMEMU_HOOK(size_t, fwrite_unlocked, (const void*, size_t, size_t, FILE*));
NVMEMU_HOOK(char*, fgets, (char*, int, FILE*));
NVMEMU_HOOK(char*, fgets_unlocked, (char*, int, FILE*));
NVMEMU_HOOK(int, fputs, (const char*, FILE*));
NVMEMU_HOOK(int, fputs_unlocked, (const char*, FILE*));
NVMEMU_HOOK(ssize_t, getline, (char**, size_t*, FILE*));
NVMEMU_HOOK(ssize_t, getdelim, (char**, size_t*, int, FILE*));
NVMEMU_HOOK(int, fseek, (FILE*, long, int));
NVMEMU_HOOK(int, fseeko, (FILE*, off_t, int));
NVMEMU_HOOK(int, fsetpos, (FILE*, const fpos_t*));
NVMEMU_HOOK(void, rewind, (FILE*));
NVMEMU_HOOK(size_t, __fread_chk, (void*, size_t, size_t, size_t, FILE*));
NVMEMU_HOOK(size_t, __fread_unlocked_chk, (void*, size_t, size_t, size_t, FILE*));
NVMEMU_HOOK(char*, __fgets_chk, (char*, size_t, int, FILE*));
NVMEMU_HOOK(char*, __fgets_unlocked_chk, (char*, size_t, int, FILE*));

template <typename Call>
int seek_on(FILE* stream, const Call& call) {
  StreamCall around(stream);
  around.seeks();
  const int result = call();
  around.over();
  return result;
}

}  // namespace
}  // namespace nvmemu::preload

using namespace nvmemu::preload;

NVMEMU_EXPORT size_t fread(void* to, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fread(to, size, count, stream); });
}
NVMEMU_EXPORT size_t fread_unlocked(void* to, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fread_unlocked(to, size, count, stream); });
}
NVMEMU_EXPORT size_t fwrite(const void* from, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fwrite(from, size, count, stream); });
}
NVMEMU_EXPORT size_t fwrite_unlocked(const void* from, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real_fwrite_unlocked(from, size, count, stream); });
}
NVMEMU_EXPORT char* fgets(char* to, int size, FILE* stream) {
  return call_on(stream, [&] { return real_fgets(to, size, stream); });
}
NVMEMU_EXPORT char* fgets_unlocked(char* to, int size, FILE* stream) {
  return call_on(stream, [&] { return real_fgets_unlocked(to, size, stream); });
}
NVMEMU_EXPORT int fputs(const char* text, FILE* stream) {
  return call_on(stream, [&] { return real_fputs(text, stream); });
}
NVMEMU_EXPORT int fputs_unlocked(const char* text, FILE* stream) {
  return call_on(stream, [&] { return real_fputs_unlocked(text, stream); });
}
NVMEMU_EXPORT ssize_t getline(char** line, size_t* room, FILE* stream) {
  return call_on(stream, [&] { return real_getline(line, room, stream); });
}
NVMEMU_EXPORT ssize_t getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  return call_on(stream, [&] { return real_getdelim(line, room, delimiter, stream); });
}
NVMEMU_EXPORT ssize_t __getdelim(char** line, size_t* room, int delimiter, FILE* stream) {
  return getdelim(line, room, delimiter, stream);
}
NVMEMU_EXPORT int fseek(FILE* stream, long offset, int whence) {
  return seek_on(stream, [&] { return real_fseek(stream, offset, whence); });
}
NVMEMU_EXPORT int fseeko(FILE* stream, off_t offset, int whence) {
  return seek_on(stream, [&] { return real_fseeko(stream, offset, whence); });
}
NVMEMU_EXPORT int fseeko64(FILE* stream, off64_t offset, int whence) {
  return fseeko(stream, offset, whence);
}
NVMEMU_EXPORT int fsetpos(FILE* stream, const fpos_t* position) {
  return seek_on(stream, [&] { return real_fsetpos(stream, position); });
}
NVMEMU_EXPORT int fsetpos64(FILE* stream, const fpos64_t* position) {
  return fsetpos(stream, reinterpret_cast<const fpos_t*>(position));
}
NVMEMU_EXPORT void rewind(FILE* stream) {
  seek_on(stream, [&] { return real_rewind(stream), 0; });
}

// What -D_FORTIFY_SOURCE makes of some.
NVMEMU_EXPORT size_t __fread_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real___fread_chk(to, room, size, count, stream); });
}
NVMEMU_EXPORT size_t __fread_unlocked_chk(void* to, size_t room, size_t size, size_t count, FILE* stream) {
  return call_on(stream, [&] { return real___fread_unlocked_chk(to, room, size, count, stream); });
}
NVMEMU_EXPORT char* __fgets_chk(char* to, size_t room, int size, FILE* stream) {
  return call_on(stream, [&] { return real___fgets_chk(to, room, size, stream); });
}
NVMEMU_EXPORT char* __fgets_unlocked_chk(char* to, size_t room, int size, FILE* stream) {
  return call_on(stream, [&] { return real___fgets_unlocked_chk(to, room, size, stream); });
}
