// SPDX-License-Identifier: Apache-2.0
// What stdio has not written when the program is over with it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

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

}  // namespace nvmemu::stored
