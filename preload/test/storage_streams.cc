// SPDX-License-Identifier: Apache-2.0
// What stdio has not written when the program is over with it.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "storage_calls.h"

namespace nvmemu::stored {
namespace {

FILE* last;

void put(FILE* stream, std::size_t bytes) {
  for (const char letter : contents(bytes)) check(std::putc(letter, stream) != EOF, "putc");
}

FILE* create(const char* name) {
  FILE* const stream = std::fopen(path(name).c_str(), "w");
  check(stream != nullptr, name);
  return stream;
}

// As late as the program can, and through a buffer that is not written before.
void put_some_more() {
  put(last, 500);
  check(lseek(fileno(last), 0, SEEK_CUR) == 0, "nothing is written by then");
}

}  // namespace

// 3,000 bytes each that fflush() of all, and freopen() write; 2,500 that the end of the process does, of
// which 500 come when it has begun to end.
void streams() {
  FILE* const flushed = create("a");
  put(flushed, 3000);
  check(std::fflush(nullptr) == 0, "fflush");
  expect_file(path("a"), contents(3000));
  FILE* const changed = create("b");
  put(changed, 3000);
  check(std::freopen(path("c").c_str(), "w", changed) == changed, "freopen");
  expect_file(path("b"), contents(3000));
  last = create("d");
  put(last, 2000);
  std::atexit(put_some_more);
}

// 3,000 bytes.
void closed_streams() {
  put(create("a"), 3000);
  check(fcloseall() == 0, "fcloseall");
  expect_file(path("a"), contents(3000));
}

// A few pages from both ends of 1,000,000 bytes, and nothing between.
void moved_streams() {
  constexpr std::size_t kAll = 1'000'000, kAway = 900'000;
  const std::string all = contents(kAll);
  const int fd = make("a");
  write_at(fd, all, 0);
  check(lseek(fd, kAway, SEEK_SET) == kAway, "lseek");
  FILE* const stream = fdopen(fd, "r");
  check(std::fgetc(stream) == all[kAway], "what is read where the descriptor stood");
  std::rewind(stream);
  fpos_t begin;
  check(std::fgetpos(stream, &begin) == 0, "fgetpos");
  check(std::fseek(stream, kAway, SEEK_SET) == 0, "fseek");
  check(std::fgetc(stream) == all[kAway], "what is read where fseek went");
  check(std::fsetpos(stream, &begin) == 0, "fsetpos");
  std::array<char, 10> first;
  check(std::fread(first.data(), 1, first.size(), stream) == first.size(), "fread");
  check(std::string_view(first.data(), first.size()) == all.substr(0, first.size()), "what it has read");
  std::fclose(stream);
}

}  // namespace nvmemu::stored
