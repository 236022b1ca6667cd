#include "base/plain_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace orrery {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with UTF-8
};

struct Interval {
  char32_t first = 0;
  char32_t last = 0;
};

// Controls; soft hyphen; Arabic letter mark; zero width, direction marks, line ends, embeddings,
// overrides, isolates; byte order mark, interlinear annotations; tags.
constexpr std::array<Interval, 11> kHidden = {{{0, 0x1f},
                                               {0x7f, 0x9f},
                                               {0xad, 0xad},
                                               {0x61c, 0x61c},
                                               {0x180e, 0x180e},
                                               {0x200b, 0x200f},
                                               {0x2028, 0x202e},
                                               {0x2060, 0x206f},
                                               {0xfeff, 0xfeff},
                                               {0xfff9, 0xfffb},
                                               {0xe0000, 0xe007f}}};

Character first_of(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xf0 && lead < 0xf5   ? 4
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xc2 && lead < 0xe0 ? 2
                                                          : 0;
  if (bytes == 0 || text.size() < bytes) return {};
  char32_t code = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xc0U) != 0x80) return {};
    code = (code << 6) | (next & 0x3fU);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

bool is_hidden(char32_t code) {
  return std::ranges::any_of(
      kHidden, [code](const Interval& each) { return code >= each.first && code <= each.last; });
}

std::string plain(std::string_view text, bool keeps_lines) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Character next = first_of(text);
    const bool stays = keeps_lines && (next.code == '\n' || next.code == '\t');
    if (next.bytes == 0 || (is_hidden(next.code) && !stays)) {
      shown += '?';
    } else {
      shown += text.substr(0, next.bytes);
    }
    text.remove_prefix(std::max<std::size_t>(1, next.bytes));
  }
  return shown;
}

}  // namespace

std::string plain_text(std::string_view text) { return plain(text, false); }

std::string plain_lines(std::string_view text) { return plain(text, true); }

bool is_plain_text(std::string_view text) { return plain(text, false) == text; }

}  // namespace orrery
