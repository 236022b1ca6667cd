#pragma once

#include <string>
#include <string_view>

namespace orrery {

// Text of a foreign source as a terminal may show it: '?' replaces each control character, each
// character that is invisible or changes the direction of writing, and each byte that is not UTF-8.
std::string plain_text(std::string_view text);

// The same, but line ends and tabs stay.
std::string plain_lines(std::string_view text);

// False if plain_text() would change the text.
bool is_plain_text(std::string_view text);

}  // namespace orrery
