// SPDX-License-Identifier: Apache-2.0
// The one way in which nvmemu writes a file: as a new one beside it that is synchronised and takes the old
// one's place, so that a full disk, a crash or a power failure leaves the old content or the new one. A name
// may also stand for something that is written to and cannot be replaced: a pipe, a terminal, /dev/null, or
// one of the process's own descriptors (/dev/stdout, /dev/stderr, /dev/fd/N).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "base/result.h"

namespace nvmemu {

struct OutputOptions {
  unsigned mode = 0666;      // of a new file, less the umask; one that is replaced keeps its mode and owner
  bool follow_links = true;  // false: a link is replaced, not what it names
  bool is_durable = false;   // an error where its folder cannot be synchronised
  std::function<void(std::string_view)> after_step = {};  // for tests that stop a process between two steps
};

class OutputFile {
 public:
  // Finds out what `path` stands for, and opens it where it is not a file. Nothing is made or changed. A
  // block device, a folder, a file that may not be written, or a pipe without a reader are errors. Errors
  // here and below leave the reason in errno too.
  static Result<OutputFile> open(const std::string& path, OutputOptions options = {});

  // Whether a file could be made there now; leaves no trace.
  Result<void> try_to_make() const;

  // The content, all of it or none where it is a file. Who does not read a pipe is waited for 10 s at most.
  Result<void> write(std::string_view text) const;

 private:
  OutputFile(std::string path, OutputOptions options)
      : path_(std::move(path)), target_(path_), options_(std::move(options)) {}
  Result<void> look();
  Result<void> open_stream();
  Result<std::string> make_beside(Descriptor& file) const;
  Result<void> fill(const Descriptor& file, std::string_view text) const;
  Result<void> replace(const std::string& temporary) const;

  std::string path_;    // as it was given, for messages
  std::string target_;  // links followed
  OutputOptions options_;
  Descriptor stream_;  // where it is no file
};

// open() and write().
Result<void> write_whole_file(const std::string& path, std::string_view text, OutputOptions options = {});

}  // namespace nvmemu
