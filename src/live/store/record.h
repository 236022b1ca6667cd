#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

inline constexpr std::int64_t kNoJobNumber = -1;

// One entry of the log: what happened, when, and to which job. The store reads nothing but these
// fields. The body is JSON by convention; its meaning is the writer's.
struct Record {
  std::int64_t sequence = 0;  // dense, from 1
  Time time{};
  std::string kind{};               // a short word, such as "submitted"
  std::int64_t job = kNoJobNumber;  // by its number, which may exceed 32 bits
  std::string body{};

  bool operator==(const Record&) const = default;
};

inline constexpr std::size_t kKindBytesMax = 64;
inline constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

// An error if the store would not take it. Its sequence is not looked at.
Status check(const Record& record);

// Over every field, so that none can change or move to another record unnoticed.
std::uint32_t checksum(const Record& record);
// And over the checksum of the record before, so that no record can be missing or from another log.
std::uint32_t checksum(const Record& record, std::uint32_t before);
// Of a snapshot: over what it covers and what it holds.
std::uint32_t checksum(std::int64_t sequence, const std::string& bytes);

}  // namespace orrery
