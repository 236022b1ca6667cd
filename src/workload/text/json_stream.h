#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/text/line_reader.h"

namespace orrery {

// A JSON text of any size, one token at a time, in the memory of one token. What would need more,
// a text longer than kTextMax or brackets deeper than kDepthMax, is an error. Commas and colons are
// checked and passed over. Errors begin with file and line.
class JsonStream {
 public:
  enum class Token { BeginObject, EndObject, BeginList, EndList, Key, String, Number, Word, End };
  static constexpr std::size_t kTextMax = 4096;
  static constexpr std::size_t kDepthMax = 64;

  // Takes over what `source` has not handed out yet.
  explicit JsonStream(LineReader& source) : source_(source) {}

  Result<Token> next();
  // Of a key, a string (without escapes), a number or a word (true, false, null). Until next().
  std::string_view text() const { return text_; }
  // Passes over the value that begins with the token `first`, which next() has just given.
  Status skip(Token first);

  std::int64_t line() const { return line_; }
  Error wrong(std::string_view what) const;

 private:
  enum class Expected { Value, FirstValue, FirstKey, Key, CommaOrEnd, Nothing };

  Result<int> look();  // the next byte that is no blank, without taking it; -1: none
  Status refill();
  Status take_string();
  Status take_escape();
  Result<unsigned> take_hex();
  Status take_plain(bool number);
  Result<int> take_byte();  // -1: none
  Status append(unsigned code_point);
  Status append(char c);
  Result<Token> open(Token token);
  Result<Token> close(int byte);
  Result<Token> take_value(int byte);

  LineReader& source_;
  std::string_view rest_;
  std::int64_t line_ = 1;
  bool started_ = false;
  std::string text_;
  std::array<bool, kDepthMax> in_object_{};
  std::size_t depth_ = 0;
  Expected expected_ = Expected::Value;
};

}  // namespace orrery
