// SPDX-License-Identifier: Apache-2.0
// A queue between two threads, as textbooks have it: one mutex, a condition variable for each end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <queue>

namespace nvmemu::workloads {

template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  // Waits while the queue is full.
  void push(T item) {
    std::unique_lock lock(mutex_);
    not_full_.wait(lock, [this] { return items_.size() < capacity_; });
    items_.push(item);
    not_empty_.notify_one();
  }

  // Waits while the queue is empty.
  T pop() {
    std::unique_lock lock(mutex_);
    not_empty_.wait(lock, [this] { return !items_.empty(); });
    const T item = items_.front();
    items_.pop();
    not_full_.notify_one();
    return item;
  }

 private:
  const std::size_t capacity_;
  std::mutex mutex_;
  std::condition_variable not_empty_, not_full_;
  std::queue<T> items_;
};

}  // namespace nvmemu::workloads
