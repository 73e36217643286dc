// SPDX-License-Identifier: Apache-2.0
// The four kernels of STREAM, and a sum (McCalpin, "Memory Bandwidth and Machine Balance in Current High
// Performance Computers", 1995): what bandwidth is measured with.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

namespace nvmemu::workloads {

// One thread's part of the three arrays; equally long.
struct StreamArrays {
  std::span<double> a, b, c;
};

struct StreamKernel {
  std::string_view name;
  std::size_t arrays;  // read or written; bytes are counted as STREAM does: each array's once
  // What moves over the memory bus, in arrays: one that ordinary stores write is read first.
  std::size_t fetched, written_back;
  void (*run)(StreamArrays arrays) noexcept;
};

// copy c = a, scale b = q c, add c = a + b, triad a = b + q c, and the sum of a's bits, which memory bounds
// as no addition waits for another: in this order.
extern const std::array<StreamKernel, 5> kStreamKernels;

// What every element of a, b, c starts with.
constexpr std::array<double, 3> kStreamStart = {1, 2, 0};

void fill(StreamArrays arrays) noexcept;

// Whether the arrays hold what `rounds` runs of the kernels leave, to within 1e-9.
bool holds_result_of(StreamArrays arrays, std::size_t rounds);

}  // namespace nvmemu::workloads
