// SPDX-License-Identifier: Apache-2.0
// What the scenarios of storage_calls share.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>

namespace nvmemu::stored {

inline constexpr std::size_t kPage = 4096;

std::string path(const char* name);  // in the folder that the program was given
// Else it says what, and errno, and exits.
void check(bool holds, const char* what);
std::string contents(std::size_t bytes);
int make(const char* name, int flags = 0);
void write_at(int fd, const std::string& text, off_t at);
void expect_at(int fd, const std::string& text, off_t at);
void expect_file(const std::string& path, const std::string& text);

class Stopwatch {
 public:
  bool has_run_for(std::chrono::microseconds time) const {
    return std::chrono::steady_clock::now() - begin_ >= time;
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// Scenarios: storage_asynchronous.cc, storage_elsewhere.cc, storage_eventfds.cc, storage_full.cc,
// storage_linux_aio.cc, storage_names.cc, storage_rings.cc, storage_ranges.cc, storage_signals.cc,
// storage_streams.cc, storage_told_lists.cc.
void asynchronous();
void by_number();
void by_instruction();
void told_lists();
void signals_amid_calls();
void told_lists_in_time();
void long_told_list();
void linux_aio();
void linux_aio_by_number();
void linux_aio_ring();
void linux_aio_threads();
void linux_aio_eventfds();
void linux_aio_eventfds_in_time();
void links_and_folders();
void files_that_stay();
void names_by_number();
void opened_folder();
void names_asked_for();
void names_that_are_no_addresses();
void names_here_after_all();
void files_that_leave();
void exchanged_links();
void rings();
void moved_folder();
void turned_links();
void vanishing_folder();
void too_large();
void streams();
void closed_streams();
void moved_streams();
void descriptors_of_a_vfork();
void full();
void refused();
void flags();
void flags_of_a_child();
void synced_mapping();
void copies();
void advice();
void allocation();
void write_back();
void whole_files();

}  // namespace nvmemu::stored
