#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <type_traits>
#include <utility>

namespace orrery {

// A vector that keeps its first few elements in itself, for lists that are nearly always that
// short and are copied often. Only for elements whose bytes are all there is to them.
template <class T, std::uint32_t kInside>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  static_assert(kInside > 0);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlineVector() {}
  InlineVector(std::initializer_list<T> elements) { assign(elements.begin(), elements.end()); }
  InlineVector(const InlineVector& other) { assign(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept { take_over(other); }
  ~InlineVector() { free(); }

  InlineVector& operator=(const InlineVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept {
    if (this == &other) return *this;
    free();
    take_over(other);
    return *this;
  }

  T* data() { return is_inside() ? inside_ : outside_; }
  const T* data() const { return is_inside() ? inside_ : outside_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](std::size_t i) { return data()[i]; }
  const T& operator[](std::size_t i) const { return data()[i]; }
  T& front() { return *data(); }
  const T& front() const { return *data(); }
  T& back() { return data()[size_ - 1]; }
  const T& back() const { return data()[size_ - 1]; }

  void push_back(T element) {
    if (size_ == capacity_) grow(size_ + 1);
    std::construct_at(data() + size_++, element);
  }
  void assign(const T* first, const T* last) {
    const auto count = static_cast<std::uint32_t>(last - first);
    size_ = 0;
    if (count > capacity_) grow(count);
    if (count == 1) {  // nearly always, and a copy of many is a call
      std::construct_at(data(), *first);
    } else {
      std::uninitialized_copy(first, last, data());
    }
    size_ = count;
  }
  // Keeps the first `count`, which are there.
  void shorten(std::size_t count) { size_ = static_cast<std::uint32_t>(count); }
  void clear() { size_ = 0; }

  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

 private:
  bool is_inside() const { return capacity_ == kInside; }

  void grow(std::uint32_t needed) {
    const std::uint32_t capacity = std::max(needed, 2 * capacity_);
    T* const larger = std::allocator<T>().allocate(capacity);
    std::uninitialized_copy(begin(), end(), larger);
    free();
    outside_ = larger;
    capacity_ = capacity;
  }
  void free() {
    if (!is_inside()) std::allocator<T>().deallocate(outside_, capacity_);
  }
  void take_over(InlineVector& other) {
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, kInside);
    if (is_inside()) {
      std::uninitialized_copy(other.inside_, other.inside_ + size_, inside_);
    } else {
      outside_ = other.outside_;
    }
  }

  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = kInside;  // more: the elements are outside
  union {
    T inside_[kInside];
    T* outside_;
  };
};

}  // namespace orrery
