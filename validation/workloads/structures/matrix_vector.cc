// SPDX-License-Identifier: Apache-2.0
// A matrix times a vector, row by row. An operation is an element: prefetchers see them coming.
#include "workloads/structures/array.h"
#include "workloads/structures/built.h"
#include "workloads/structures/kinds.h"
#include "workloads/structures/scatter.h"

namespace nvmemu::workloads {
namespace {

constexpr std::uint64_t kColumns = 1024;  // so the vector stays in the innermost cache

class MatrixVector {
 public:
  static Result<MatrixVector> create(const StructureMemory& memory) {
    auto matrix = Array<double>::create(memory.size_bytes / sizeof(double), memory.page_size);
    if (!matrix) return tl::unexpected<Error>(matrix.error());
    auto vector = Array<double>::create(kColumns, memory.page_size);
    if (!vector) return tl::unexpected<Error>(vector.error());
    for (std::uint64_t i = 0; i < matrix->size(); ++i)
      (*matrix)[i] = static_cast<double>(mixed(memory.seed + i) % 256);
    for (std::uint64_t column = 0; column < kColumns; ++column)
      (*vector)[column] = static_cast<double>(column % 16);
    return MatrixVector(*std::move(matrix), *std::move(vector));
  }

  template <typename Access>
  [[gnu::noinline]] void run(Access& access, std::uint64_t operations) noexcept {
    for (std::uint64_t row = 0; row < (operations + kColumns - 1) / kColumns; ++row) {
      double product = 0;
      for (std::uint64_t column = 0; column < kColumns; ++column)
        product += *access(matrix_.data() + at_ + column) * vector_[column];
      sum_ = mixed(sum_ ^ static_cast<std::uint64_t>(product));
      at_ = at_ + kColumns < matrix_.size() ? at_ + kColumns : 0;
    }
  }

  std::uint64_t checksum() const { return sum_; }
  bool has_huge_pages() const { return matrix_.has_huge_pages(); }

 private:
  MatrixVector(Array<double> matrix, Array<double> vector)
      : matrix_(std::move(matrix)), vector_(std::move(vector)) {}

  Array<double> matrix_, vector_;
  std::uint64_t at_ = 0, sum_ = 0;
};

}  // namespace

Result<std::unique_ptr<Structure>> create_matrix_vector(const StructureMemory& memory) {
  return build<MatrixVector>(memory);
}

}  // namespace nvmemu::workloads
