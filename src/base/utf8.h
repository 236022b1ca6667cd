#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orrery {

struct Utf8Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: the text does not begin with UTF-8
};

// The character that the text begins with. Overlong forms, surrogates and values past U+10FFFF are
// not UTF-8. `text` is not empty.
Utf8Character first_character(std::string_view text);

bool is_utf8(std::string_view text);

// The text with U+FFFD in place of each byte that is not UTF-8.
std::string as_utf8(std::string_view text);

}  // namespace orrery
