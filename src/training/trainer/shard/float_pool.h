#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace orrery {

// Buffers that are used again, so that the kernel need not provide pages for each task's gradient.
// One thread.
class FloatPool {
 public:
  std::vector<float> take(std::size_t size) {
    std::vector<float> buffer;
    if (!free_.empty()) {
      buffer = std::move(free_.back());
      free_.pop_back();
    }
    buffer.resize(size);
    return buffer;
  }
  void give(std::vector<float>&& buffer) {
    constexpr std::size_t kKept = 16;
    if (buffer.capacity() > 0 && free_.size() < kKept) free_.push_back(std::move(buffer));
  }

 private:
  std::vector<std::vector<float>> free_{};
};

}  // namespace orrery
