#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace orrery {

// Messages are written and read by the same list of fields: `template <class A> void fields(A& a,
// M& m)` calls a(m.one, m.two, ...). Numbers are little endian, as every machine this runs on is.
static_assert(std::endian::native == std::endian::little);

class FieldWriter {
 public:
  template <class... T>
  void operator()(const T&... values) {
    (put(values), ...);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      const std::size_t at = bytes_.size();
      bytes_.resize(at + sizeof(T));
      std::memcpy(bytes_.data() + at, &value, sizeof(T));
    } else {
      fields(*this, const_cast<T&>(value));  // NOLINT: fields() serves both ways
    }
  }
  void put(const std::string& text) {
    put(static_cast<std::uint32_t>(text.size()));
    const auto* const begin = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), begin, begin + text.size());
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint32_t>(values.size()));
    for (const T& value : values) put(value);
  }
  template <class A, class B>
  void put(const std::pair<A, B>& pair) {
    put(pair.first);
    put(pair.second);
  }

  std::vector<std::byte> bytes_;
};

// Reads what an unknown sender may have written: ok() is false once anything was missing, and
// nothing is ever allocated beyond what the bytes at hand could hold.
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class... T>
  void operator()(T&... values) {
    (get(values), ...);
  }
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && bytes_.empty(); }

 private:
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t byte = 0;
      get(byte);
      if (byte > 1) ok_ = false;
      value = byte == 1;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      if (!has(sizeof(T))) return;
      std::memcpy(&value, bytes_.data(), sizeof(T));
      bytes_ = bytes_.subspan(sizeof(T));
    } else {
      fields(*this, value);
    }
  }
  void get(std::string& text) {
    std::uint32_t size = 0;
    get(size);
    if (!has(size)) return;
    text.assign(reinterpret_cast<const char*>(bytes_.data()), size);
    bytes_ = bytes_.subspan(size);
  }
  template <class T>
  void get(std::vector<T>& values) {
    std::uint32_t size = 0;
    get(size);
    if (!has(size)) return;  // every element takes a byte at least
    for (std::uint32_t i = 0; i < size && ok_; ++i) get(values.emplace_back());
  }
  template <class A, class B>
  void get(std::pair<A, B>& pair) {
    get(pair.first);
    get(pair.second);
  }
  bool has(std::size_t count) {
    if (ok_ && bytes_.size() < count) ok_ = false;
    return ok_;
  }

  std::span<const std::byte> bytes_;
  bool ok_ = true;
};

}  // namespace orrery
