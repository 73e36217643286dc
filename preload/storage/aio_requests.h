// SPDX-License-Identifier: Apache-2.0
// Requests of POSIX aio, from before they are made until the program knows of their end: what is charged for
// them, and who is to tell.
#pragma once

#include <aio.h>

#include <cstdint>

#include "storage/process_storage.h"

namespace nvmemu::preload {

using Request = ProcessStorage::Request;

inline bool tells(const sigevent& event) noexcept { return event.sigev_notify != SIGEV_NONE; }
inline bool is_told_by_thread(const sigevent& event) noexcept {
  return event.sigev_notify == SIGEV_THREAD && event.sigev_notify_function != nullptr;
}
inline bool is_told_by_signal(const sigevent& event) noexcept { return event.sigev_notify == SIGEV_SIGNAL; }

// Whose file it would be charged on if it were made; null: on none, or it will fail.
StoredDescriptor* find_charged(const aiocb* request, Request kind) noexcept;

// Of one that is about to be made, by itself or in a list of which nobody tells: what is charged for it, or
// null. From then on, it is marked as one of which is about to be known when it is done.
StoredDescriptor* prepare(aiocb* request, Request kind) noexcept;
// It was made: when it is done, by when it may be the program's again. Or it was not, and nobody tells of it.
std::uint64_t charge(aiocb* request, StoredDescriptor& descriptor, Request kind,
                     std::uint64_t begin_ns) noexcept;
void note_not_made(aiocb* request) noexcept;

// aio_error(3) of the C library, whoever else is at the request.
int librarys_error(const aiocb* request) noexcept;

// As the program sees it, whose the C library's is `error`: by the storage, or by whoever is to tell of it,
// whose control block it is until then.
bool is_still_served(const aiocb* request, int error, std::uint64_t now_ns) noexcept;

}  // namespace nvmemu::preload
