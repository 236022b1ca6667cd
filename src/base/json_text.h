#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

namespace orrery {

// Appends JSON by hand, for files with a line an event and for numbers that must read back exactly.
// Everything goes straight into the buffer; nothing is allocated for a value.

// In quotes, escaped. Bytes that are not UTF-8 become U+FFFD, since JSON can hold nothing else.
void append_string(fmt::memory_buffer& out, std::string_view text);

// The shortest digits that read back as the same value. What JSON cannot say as a number is written
// as the string "inf", "-inf" or "nan".
void append_number(fmt::memory_buffer& out, double value);

void append_number(fmt::memory_buffer& out, std::int64_t value);
void append_number(fmt::memory_buffer& out, std::uint64_t value);

inline void append(fmt::memory_buffer& out, std::string_view text) {
  out.append(text.data(), text.data() + text.size());
}

}  // namespace orrery
