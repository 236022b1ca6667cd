#include "base/plain_text.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"

namespace orrery {
namespace {

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

bool is_hidden(char32_t code) {
  return std::ranges::any_of(
      kHidden, [code](const Interval& each) { return code >= each.first && code <= each.last; });
}

std::string plain(std::string_view text, bool keeps_lines) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
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
