// SPDX-License-Identifier: Apache-2.0
#include "swap/slow_swap.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <thread>
#include <utility>

#include "swap/named_device.h"
#include "swap/null_block.h"
#include "swap/swap_area.h"
#include "swap/swap_choice.h"
#include "swap/zram.h"

namespace nvmemu::pmbench {
namespace {

Result<std::unique_ptr<SwapBackend>> make_null_block(const SwapRequest& request, NullBlockKernel& kernel,
                                                     Caretaker& caretaker) {
  if (const std::string why_not = why_not_null_block(request); !why_not.empty())
    return failure(why_not, "--swap-device zram or auto");
  auto made = NullBlock::make(kernel,
                              {.bytes = request.bytes,
                               .latency_ns = request.latency_ns,
                               .processors = std::thread::hardware_concurrency()},
                              caretaker);
  if (!made) return tl::unexpected(made.error());
  if (const auto swap = write_swap_header((*made)->device(), (*made)->bytes()); !swap)
    return tl::unexpected(swap.error());
  return *std::move(made);
}

Result<std::unique_ptr<SwapBackend>> make_backend(const SwapRequest& request, NullBlockKernel& kernel,
                                                  Caretaker& caretaker) {
  if (request.device == kNullBlockDevice) return make_null_block(request, kernel, caretaker);
  if (request.device == kZramDevice) return Zram::make(request.bytes, caretaker);
  return NamedDevice::take(request.device);
}

}  // namespace

Result<SlowSwap> SlowSwap::start(const SwapRequest& request, NullBlockKernel& kernel, Caretaker& caretaker) {
  if (geteuid() != 0) return failure("swap is the machine's: it takes root", hint_without_root(request));
  if (request.device != kAutoDevice)
    return start_one(request, kernel, caretaker).map_error([&](Error error) {
      return hinting_without_root(std::move(error), request);
    });
  SwapRequest one = request;
  auto chosen = choose_swap<SlowSwap>(request, [&](std::string_view kind) {
    one.device = kind;
    return start_one(one, kernel, caretaker);
  });
  if (!chosen) return tl::unexpected(chosen.error());
  chosen->swap.taken_.why_not_null_block = std::move(chosen->why_not_null_block);
  return std::move(chosen->swap);
}

Result<SlowSwap> SlowSwap::start_one(const SwapRequest& request, NullBlockKernel& kernel,
                                     Caretaker& caretaker) {
  auto backend = make_backend(request, kernel, caretaker);
  if (!backend) return tl::unexpected(backend.error());
  SlowSwap swap;
  swap.backend_ = *std::move(backend);
  swap.taken_ = {.kind = swap.backend_->kind(),
                 .device = swap.backend_->device(),
                 .held_by = swap.backend_->holds_requests() ? "timer" : "",
                 .why_not_null_block = {}};
  if (!swap.backend_->holds_requests())
    if (const auto held = swap.hold(request); !held) return tl::unexpected(held.error());
  if (const auto written = swap.backend_->make_swap_area(); !written) return tl::unexpected(written.error());
  caretaker.will_swap_to(swap.taken_.device);
  if (const auto on = swap_on(swap.taken_.device); !on) return tl::unexpected(on.error());
  swap.is_on_ = true;
  return swap;
}

// As long as the device that is asked for takes, where one is.
Result<void> SlowSwap::hold(const SwapRequest& request) {
  Result<PageDevice> like = page_device_of(request.latency_ns);
  if (!request.profile.empty()) {
    const auto profile = find_page_device(request.profile);
    if (!profile) return tl::unexpected(profile.error());
    like = profile->device;
  } else if (request.latency_ns <= 0) {
    return {};
  }
  struct stat found {};
  stat(taken_.device.c_str(), &found);
  auto delay = BioDelay::start(found.st_rdev, *like);
  if (!delay) return tl::unexpected(delay.error());
  delay_ = *std::move(delay);
  taken_.held_by = "bpf";
  return {};
}

std::optional<DelayCounts> SlowSwap::counts() const {
  return delay_ == nullptr ? std::nullopt : std::optional(delay_->counts());
}

// At its own speed: all that is still there comes back.
SlowSwap::~SlowSwap() {
  if (backend_ == nullptr) return;
  delay_.reset();
  if (!is_on_) return;
  const auto off = swap_off(backend_->device());
  if (off) return;
  fmt::print(stderr, "pmbench: error: {}: it stays\npmbench: hint: as root: swapoff {}\n",
             off.error().message, backend_->device());
  backend_->leave();
}

}  // namespace nvmemu::pmbench
