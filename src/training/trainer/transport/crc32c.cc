#include "training/trainer/transport/crc32c.h"

#include <array>
#include <cstring>
#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace orrery {
namespace {

// Eight tables, so that eight bytes are taken at a time.
template <class Word>
using Tables = std::array<std::array<Word, 256>, 8>;

template <class Word>
constexpr Tables<Word> make_tables(Word polynomial) {
  Tables<Word> tables{};
  for (std::size_t i = 0; i < 256; ++i) {
    auto value = static_cast<Word>(i);
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
    tables[0][i] = value;
  }
  for (std::size_t i = 0; i < 256; ++i) {
    for (std::size_t t = 1; t < 8; ++t) {
      tables[t][i] = (tables[t - 1][i] >> 8) ^ tables[0][tables[t - 1][i] & 0xFF];
    }
  }
  return tables;
}

constexpr auto kCrc32c = make_tables<std::uint32_t>(0x82F63B78U);
constexpr auto kCrc64 = make_tables<std::uint64_t>(0xC96C5795D7870F42ULL);

template <class Word>
Word by_table(const Tables<Word>& tables, std::span<const std::byte> bytes, Word state) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, 8);
    eight ^= state;
    state = 0;
    for (std::size_t i = 0; i < 8; ++i) state ^= tables[7 - i][(eight >> (8 * i)) & 0xFF];
  }
  for (; left > 0; --left, ++at) {
    state = (state >> 8) ^ tables[0][(state ^ static_cast<Word>(*at)) & 0xFF];
  }
  return state;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::span<const std::byte> bytes,
                                                               std::uint32_t state) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t wide = state;
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t eight = 0;
    std::memcpy(&eight, at, 8);
    wide = _mm_crc32_u64(wide, eight);
  }
  state = static_cast<std::uint32_t>(wide);
  for (; left > 0; --left, ++at) state = _mm_crc32_u8(state, static_cast<unsigned char>(*at));
  return state;
}
#endif

}  // namespace

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before) {
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~by_instruction(bytes, ~before);
#endif
  return crc32c_by_table(bytes, before);
}

std::uint32_t crc32c_by_table(std::span<const std::byte> bytes, std::uint32_t before) {
  return ~by_table(kCrc32c, bytes, ~before);
}

std::uint64_t crc64(std::span<const std::byte> bytes, std::uint64_t before) {
  return ~by_table(kCrc64, bytes, ~before);
}

}  // namespace orrery
