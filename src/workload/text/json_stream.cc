#include "workload/text/json_stream.h"

#include <fmt/format.h>

namespace orrery {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// True if the text is a number as JSON writes them.
bool is_number(std::string_view text) {
  std::size_t at = 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    return at > begin;
  };
  if (text.starts_with('-')) ++at;
  const bool zero = at < text.size() && text[at] == '0';
  const std::size_t whole = at;
  if (!digits() || (zero && at > whole + 1)) return false;
  if (at < text.size() && text[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == text.size();
}

}  // namespace

Error JsonStream::wrong(std::string_view what) const {
  return invalid(fmt::format("{}:{}: {}", source_.name(), line_, what));
}

Status JsonStream::refill() {
  TRY_ASSIGN(rest_, source_.next_bytes());
  if (!started_ && rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  started_ = true;
  return {};
}

Result<int> JsonStream::look() {
  while (true) {
    while (!rest_.empty()) {
      const char c = rest_.front();
      if (c != ' ' && c != '\n' && c != '\t' && c != '\r') return static_cast<unsigned char>(c);
      if (c == '\n') ++line_;
      rest_.remove_prefix(1);
    }
    TRY(refill());
    if (rest_.empty()) return -1;
  }
}

Result<int> JsonStream::take_byte() {
  if (rest_.empty()) TRY(refill());
  if (rest_.empty()) return -1;
  const auto byte = static_cast<unsigned char>(rest_.front());
  rest_.remove_prefix(1);
  return byte;
}

Status JsonStream::append(char c) {
  if (text_.size() == kTextMax) {
    return wrong(
        fmt::format("a text is longer than {} bytes, more than any of a job log", kTextMax));
  }
  text_ += c;
  return {};
}

Status JsonStream::append(unsigned code_point) {
  const auto part = [&](unsigned value) { return append(static_cast<char>(value)); };
  if (code_point < 0x80) return part(code_point);
  if (code_point < 0x800) {
    TRY(part(0xC0 | (code_point >> 6)));
  } else {
    if (code_point < 0x10000) {
      TRY(part(0xE0 | (code_point >> 12)));
    } else {
      TRY(part(0xF0 | (code_point >> 18)));
      TRY(part(0x80 | ((code_point >> 12) & 0x3F)));
    }
    TRY(part(0x80 | ((code_point >> 6) & 0x3F)));
  }
  return part(0x80 | (code_point & 0x3F));
}

Result<unsigned> JsonStream::take_hex() {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    TRY_ASSIGN(const int byte, take_byte());
    const int lower = byte | 0x20;
    const bool letter = lower >= 'a' && lower <= 'f';
    if (!letter && !(byte >= '0' && byte <= '9')) return wrong("\\u must be followed by 4 digits");
    value = 16 * value + static_cast<unsigned>(letter ? lower - 'a' + 10 : byte - '0');
  }
  return value;
}

Status JsonStream::take_escape() {
  TRY_ASSIGN(const int byte, take_byte());
  switch (byte) {
    case '"':
    case '\\':
    case '/':
      return append(static_cast<char>(byte));
    case 'b':
      return append('\b');
    case 'f':
      return append('\f');
    case 'n':
      return append('\n');
    case 'r':
      return append('\r');
    case 't':
      return append('\t');
    case 'u':
      break;
    default:
      return wrong("a \\ in a string must be followed by one of \"\\/bfnrtu");
  }
  TRY_ASSIGN(unsigned code_point, take_hex());
  if (code_point >= 0xD800 && code_point < 0xDC00) {
    TRY_ASSIGN(const int slash, take_byte());
    TRY_ASSIGN(const int letter, take_byte());
    if (slash != '\\' || letter != 'u') return wrong("half of a surrogate pair in a string");
    TRY_ASSIGN(const unsigned low, take_hex());
    if (low < 0xDC00 || low > 0xDFFF) return wrong("half of a surrogate pair in a string");
    code_point = 0x10000 + ((code_point - 0xD800) << 10) + (low - 0xDC00);
  } else if (code_point >= 0xDC00 && code_point <= 0xDFFF) {
    return wrong("half of a surrogate pair in a string");
  }
  return append(code_point);
}

Status JsonStream::take_string() {
  rest_.remove_prefix(1);
  text_.clear();
  while (true) {
    std::size_t plain = 0;
    while (plain < rest_.size() && rest_[plain] != '"' && rest_[plain] != '\\' &&
           static_cast<unsigned char>(rest_[plain]) >= 0x20 && text_.size() + plain < kTextMax) {
      ++plain;
    }
    text_.append(rest_.substr(0, plain));
    rest_.remove_prefix(plain);
    TRY_ASSIGN(const int byte, take_byte());
    if (byte < 0) return wrong("the file ends inside a string");
    if (byte == '"') return {};
    if (byte < 0x20) return wrong("a string holds a line end or another control character");
    if (byte == '\\') {
      TRY(take_escape());
    } else {
      TRY(append(static_cast<char>(byte)));
    }
  }
}

Status JsonStream::take_plain(bool number) {
  text_.clear();
  while (true) {
    if (rest_.empty()) TRY(refill());
    if (rest_.empty()) break;
    const char c = rest_.front();
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!word && !is_digit(c) && c != '-' && c != '+' && c != '.') break;
    TRY(append(c));
    rest_.remove_prefix(1);
  }
  if (number ? is_number(text_) : text_ == "null" || text_ == "true" || text_ == "false") return {};
  return wrong(fmt::format("'{}' is no value of JSON", text_.substr(0, 40)));
}

Result<JsonStream::Token> JsonStream::open(Token token) {
  if (depth_ == kDepthMax)
    return wrong(fmt::format("brackets are nested deeper than {}", kDepthMax));
  rest_.remove_prefix(1);
  in_object_[depth_++] = token == Token::BeginObject;
  expected_ = token == Token::BeginObject ? Expected::FirstKey : Expected::FirstValue;
  return token;
}

Result<JsonStream::Token> JsonStream::close(int byte) {
  const bool object = byte == '}';
  if (depth_ == 0 || in_object_[depth_ - 1] != object) {
    return wrong(fmt::format("a {} without its opening bracket", object ? '}' : ']'));
  }
  rest_.remove_prefix(1);
  --depth_;
  expected_ = depth_ == 0 ? Expected::Nothing : Expected::CommaOrEnd;
  return object ? Token::EndObject : Token::EndList;
}

Result<JsonStream::Token> JsonStream::take_value(int byte) {
  if (byte == '{') return open(Token::BeginObject);
  if (byte == '[') return open(Token::BeginList);
  expected_ = depth_ == 0 ? Expected::Nothing : Expected::CommaOrEnd;
  if (byte == '"') {
    TRY(take_string());
    return Token::String;
  }
  const bool number = byte == '-' || (byte >= '0' && byte <= '9');
  TRY(take_plain(number));
  return number ? Token::Number : Token::Word;
}

Result<JsonStream::Token> JsonStream::next() {
  TRY_ASSIGN(int byte, look());
  if (expected_ == Expected::Nothing) {
    if (byte < 0) return Token::End;
    return wrong("something follows the end of the JSON text");
  }
  if (byte < 0) return wrong("the file ends inside the JSON text");
  if (byte == 0) return wrong("holds a NUL byte and looks binary");
  const bool may_end = expected_ == Expected::CommaOrEnd || expected_ == Expected::FirstKey ||
                       expected_ == Expected::FirstValue;
  if (may_end && (byte == '}' || byte == ']')) return close(byte);
  if (expected_ == Expected::CommaOrEnd) {
    if (byte != ',') return wrong("a comma or a closing bracket is missing");
    rest_.remove_prefix(1);
    expected_ = in_object_[depth_ - 1] ? Expected::Key : Expected::Value;
    TRY_ASSIGN(byte, look());
    if (byte < 0) return wrong("the file ends inside the JSON text");
  }
  if (expected_ != Expected::Key && expected_ != Expected::FirstKey) return take_value(byte);
  if (byte != '"') return wrong("a key in double quotes is missing");
  TRY(take_string());
  TRY_ASSIGN(const int colon, look());
  if (colon != ':') return wrong("a colon is missing after a key");
  rest_.remove_prefix(1);
  expected_ = Expected::Value;
  return Token::Key;
}

Status JsonStream::skip(Token first) {
  if (first != Token::BeginObject && first != Token::BeginList) return {};
  const std::size_t outside = depth_ - 1;
  while (depth_ > outside) TRY(next());
  return {};
}

}  // namespace orrery
