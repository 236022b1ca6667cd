#include "base/json_text.h"

#include <charconv>
#include <cmath>

#include "base/utf8.h"

namespace orrery {
namespace {

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && c != '"' && c != '\\';
}

template <class Integer>
void append_integer(fmt::memory_buffer& out, Integer value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, end);
}

}  // namespace

void append_string(fmt::memory_buffer& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    append(out, text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const auto byte = static_cast<unsigned char>(text.front());
    std::size_t taken = 1;
    if (byte == '"' || byte == '\\') {
      out.push_back('\\');
      out.push_back(text.front());
    } else if (byte < 0x20 || byte == 0x7F) {
      fmt::format_to(fmt::appender(out), "\\u{:04x}", static_cast<unsigned>(byte));
    } else if (const std::size_t length = first_character(text).bytes; length > 0) {
      append(out, text.substr(0, length));
      taken = length;
    } else {
      append(out, "\xEF\xBF\xBD");
    }
    text.remove_prefix(taken);
  }
  out.push_back('"');
}

void append_number(fmt::memory_buffer& out, double value) {
  if (!std::isfinite(value)) {
    append(out, std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
    return;
  }
  fmt::format_to(fmt::appender(out), "{}", value);
}

void append_number(fmt::memory_buffer& out, std::int64_t value) { append_integer(out, value); }

void append_number(fmt::memory_buffer& out, std::uint64_t value) { append_integer(out, value); }

}  // namespace orrery
