// SPDX-License-Identifier: Apache-2.0
#include "storage/pending_requests.h"

#include <algorithm>
#include <span>

namespace nvmemu {
namespace {

using State = PendingRequest::State;

}  // namespace

PendingRequest* PendingRequests::add(std::uint64_t object) noexcept {
  PendingRequest* request = nullptr;
  if (first_free_ != 0) {
    request = &requests_[first_free_ - 1];
    first_free_ = request->next_free;
  } else if (end_ < kMost) {
    request = &requests_[end_++];
  } else {
    return nullptr;
  }
  *request = {.done_ns = PendingRequest::kNotKnown, .state = State::kMade};
  request->event.obj = object;
  ++count_;
  return request;
}

void PendingRequests::remove(PendingRequest& request) noexcept {
  if (request.state == State::kFree) return;
  request.state = State::kFree;
  request.next_free = first_free_;
  first_free_ = static_cast<std::uint32_t>(&request - requests_.data()) + 1;
  --count_;
}

std::uint32_t PendingRequests::forget_overdue(std::uint64_t now_ns) noexcept {
  std::uint32_t forgotten = 0;
  for (PendingRequest& request : std::span(requests_).first(end_)) {
    if (request.state != State::kMade || request.done_ns > now_ns) continue;
    remove(request);
    ++forgotten;
  }
  return forgotten;
}

PendingRequest* PendingRequests::find_made(std::uint64_t object) noexcept {
  const auto used = std::span(requests_).first(end_);
  const auto found = std::ranges::find_if(used, [&](const PendingRequest& request) {
    return request.event.obj == object && request.state == State::kMade;
  });
  return found == used.end() ? nullptr : &*found;
}

void PendingRequests::hold(PendingRequest& request, const io_event& event) noexcept {
  request.event = event;
  request.state = State::kHeld;
}

void PendingRequests::set_done(PendingRequest& request, std::uint64_t done_ns) noexcept {
  const bool has_failed = request.state == State::kHeld && request.event.res < 0;
  request.done_ns = has_failed ? 0 : done_ns;
}

PendingRequest* PendingRequests::find_done(std::uint64_t now_ns) noexcept {
  PendingRequest* first = nullptr;
  for (PendingRequest& request : std::span(requests_).first(end_)) {
    if (request.state != State::kHeld || request.done_ns > now_ns) continue;
    if (first == nullptr || request.done_ns < first->done_ns) first = &request;
  }
  return first;
}

// Of one whose event is late nobody knows when it comes; nor, of one that is being made, when it is done.
std::uint64_t PendingRequests::look_again_ns(std::uint64_t now_ns) const noexcept {
  constexpr std::uint64_t kLateNs = 1'000'000, kSoonNs = 100'000;
  std::uint64_t next_ns = PendingRequest::kNotKnown;
  for (const PendingRequest& request : std::span(requests_).first(end_)) {
    if (request.state == State::kFree) continue;
    const bool is_late = request.state == State::kMade && request.done_ns <= now_ns;
    const std::uint64_t at_ns = request.done_ns == PendingRequest::kNotKnown ? now_ns + kSoonNs
                                : is_late                                    ? now_ns + kLateNs
                                                                             : request.done_ns;
    next_ns = std::min(next_ns, at_ns);
  }
  return next_ns;
}

std::uint64_t PendingRequests::last_done_ns() const noexcept {
  std::uint64_t last_ns = 0;
  for (const PendingRequest& request : std::span(requests_).first(end_)) {
    if (request.state != State::kFree && request.done_ns != PendingRequest::kNotKnown)
      last_ns = std::max(last_ns, request.done_ns);
  }
  return last_ns;
}

}  // namespace nvmemu
