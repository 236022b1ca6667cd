#include "live/store/record.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <string_view>

namespace orrery {
namespace {

class Checksum {
 public:
  void add(std::string_view bytes) {
    value_ = crc32_z(value_, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  }
  // Byte by byte: a file may go to a machine with another order of bytes.
  void add(std::int64_t number) {
    std::array<char, 8> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<char>(static_cast<std::uint64_t>(number) >> (8 * i));
    }
    add(std::string_view(bytes.data(), bytes.size()));
  }
  void add(const Record& record) {
    add(record.sequence);
    add(record.time.time_since_epoch().count());
    add(record.job);
    add(static_cast<std::int64_t>(record.kind.size()));
    add(record.kind);
    add(record.body);
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(value_); }

 private:
  uLong value_ = crc32_z(0, nullptr, 0);
};

}  // namespace

Status check(const Record& record) {
  if (record.kind.empty() || record.kind.size() > kKindBytesMax) {
    return invalid(fmt::format("a record's kind has 1 to {} bytes, not {}", kKindBytesMax,
                               record.kind.size()));
  }
  if (record.kind.find('\0') != std::string::npos) {
    return invalid("a record's kind is a word; this one has a zero byte");
  }
  if (record.body.size() > kBodyBytesMax) {
    return invalid(fmt::format("a record's body has at most {} bytes, not {}", kBodyBytesMax,
                               record.body.size()));
  }
  if (record.job < kNoJobNumber) {
    return invalid(fmt::format("{} is no job", record.job));
  }
  return {};
}

std::uint32_t checksum(const Record& record) {
  Checksum sum;
  sum.add(record);
  return sum.value();
}

std::uint32_t checksum(const Record& record, std::uint32_t before) {
  Checksum sum;
  sum.add(static_cast<std::int64_t>(before));
  sum.add(record);
  return sum.value();
}

std::uint32_t checksum(std::int64_t sequence, const std::string& bytes) {
  Checksum sum;
  sum.add(sequence);
  sum.add(bytes);
  return sum.value();
}

}  // namespace orrery
