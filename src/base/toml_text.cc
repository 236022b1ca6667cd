#include "base/toml_text.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "base/utf8.h"

namespace orrery {
namespace {

constexpr std::string_view kNotInQuotes =
    "a letter beyond ASCII; it may stand between double quotes and in a comment";

// The line without its comment, each letter beyond ASCII as an escape: toml++ loses its way on some
// of them. No string has several lines, so a line alone shows what is inside quotes.
Result<std::string> in_ascii(std::string_view line) {
  std::string ascii;
  char quote = 0;
  while (!line.empty()) {
    const char c = line.front();
    if (quote == 0 && c == '#') break;
    if (static_cast<unsigned char>(c) >= 0x80) {
      const Utf8Character letter = first_character(line);
      if (letter.bytes == 0) return invalid("a byte that is not UTF-8");
      if (quote != '"') return invalid(std::string(kNotInQuotes));
      ascii += fmt::format("\\U{:08X}", static_cast<std::uint32_t>(letter.code));
      line.remove_prefix(letter.bytes);
      continue;
    }
    if (quote == 0 && (line.starts_with("\"\"\"") || line.starts_with("'''"))) {
      return invalid("a string of several lines");
    }
    if (quote == '"' && c == '\\' && line.size() > 1) {  // what follows does not end the string
      ascii += c;
      line.remove_prefix(1);
      if (static_cast<unsigned char>(line.front()) >= 0x80) {
        return invalid("a letter beyond ASCII after \\");
      }
    } else if (c == quote) {
      quote = 0;
    } else if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
    }
    ascii += line.front();
    line.remove_prefix(1);
  }
  return ascii;
}

}  // namespace

Result<toml::table> parse_toml(std::string_view name, std::string_view document) {
  std::string text;
  std::size_t number = 1;
  for (std::string_view rest = document; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const auto line = in_ascii(rest.substr(0, end));
    if (!line.ok()) {
      return invalid(fmt::format("{}:{}: {}", name, number, line.error().message));
    }
    text += line.value();
    if (end == std::string_view::npos) break;
    text += '\n';
    rest.remove_prefix(end + 1);
  }
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return invalid(fmt::format("{}:{}: is not valid TOML: {}", name, error.source().begin.line,
                               error.description()));
  } catch (const std::logic_error& error) {
    return invalid(fmt::format("{}: is not valid TOML: {}", name, error.what()));
  }
}

}  // namespace orrery
