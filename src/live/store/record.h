#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "model/ids.h"
#include "model/time.h"

namespace orrery {

// One entry of the log: what happened, when, and to which job. The store reads nothing but these
// fields; what the body means is between those who write and those who read it (JSON by
// convention).
struct Record {
  std::int64_t sequence = 0;  // dense, from 1
  Time time{};
  std::string kind{};  // a short word, such as "submitted"
  JobId job = kNoJob;
  std::string body{};

  bool operator==(const Record&) const = default;
};

inline constexpr std::size_t kKindBytesMax = 64;
inline constexpr std::size_t kBodyBytesMax = std::size_t{64} << 20;

// Whether the store would take it, its sequence aside.
Status check(const Record& record);

// Over every field, so that none can change or move to another record unnoticed.
std::uint32_t checksum(const Record& record);
// And over the checksum of the record before, so that no record can be missing or from another log.
std::uint32_t checksum(const Record& record, std::uint32_t before);
// Of a snapshot: over what it covers and what it holds.
std::uint32_t checksum(std::int64_t sequence, const std::string& bytes);

}  // namespace orrery
