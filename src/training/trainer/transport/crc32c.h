#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace orrery {

// The Castagnoli CRC, which processors have an instruction for; `before` is what came of the bytes
// in front. A table is used where the instruction is missing.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The same without the instruction, for comparison.
std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before = 0);

// The ECMA-182 polynomial, for files: a longer check for what lies about longer. A disk's faults
// are no enemy's work, so no cryptographic hash is wanted, and no library for one.
std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before = 0);

}  // namespace orrery
