#include "workload/text/json_stream.h"

#include <gtest/gtest.h>

#include <sstream>

namespace orrery {
namespace {

using Token = JsonStream::Token;

// Each token with its text; the last line is the error, if there was one.
std::string tokens(const std::string& text) {
  constexpr std::string_view kNames = "{}[]ksnw.";
  std::istringstream in(text);
  LineReader lines("t", in);
  JsonStream json(lines);
  std::string out;
  while (true) {
    const auto token = json.next();
    if (!token.ok()) return out + token.error().message;
    out += kNames[static_cast<std::size_t>(token.value())];
    if (token.value() == Token::End) return out;
    if (token.value() >= Token::Key) out += std::string(json.text()) + ' ';
  }
}

TEST(JsonStream, GivesTokensInOrder) {
  EXPECT_EQ(tokens("[]"), "[].");
  EXPECT_EQ(tokens(" { } "), "{}.");
  EXPECT_EQ(tokens(R"([{"a": 1, "b":[true,null , "x"]},-2.5e3])"),
            "[{ka n1 kb [wtrue wnull sx ]}n-2.5e3 ].");
  EXPECT_EQ(tokens("\xEF\xBB\xBF[0]"), "[n0 ].");
  EXPECT_EQ(tokens("\"alone\""), "salone .");
}

TEST(JsonStream, StringsLoseTheirEscapes) {
  EXPECT_EQ(tokens(R"("a\"\\\/\n\t\u0041\u00e9\u20ac\ud83d\ude00")"),
            "sa\"\\/\n\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 .");
}

TEST(JsonStream, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "t:1: the file ends inside the JSON text"},
      {"[1\n\n2]", "[n1 t:3: a comma or a closing bracket is missing"},
      {"[1,]", "[n1 t:1: '' is no value of JSON"},
      {"[01]", "[t:1: '01' is no value of JSON"},
      {"[1.]", "[t:1: '1.' is no value of JSON"},
      {"[nil]", "[t:1: 'nil' is no value of JSON"},
      {"{1:2}", "{t:1: a key in double quotes is missing"},
      {"{\"a\" 1}", "{t:1: a colon is missing after a key"},
      {"{\"a\":1,}", "{ka n1 t:1: a key in double quotes is missing"},
      {"[}", "[t:1: a } without its opening bracket"},
      {"{\"a\":1]", "{ka n1 t:1: a ] without its opening bracket"},
      {"[] 1", "[]t:1: something follows the end of the JSON text"},
      {"[\"a", "[t:1: the file ends inside a string"},
      {"[\"a\nb\"]", "[t:1: a string holds a line end or another control character"},
      {"[\"\\x\"]", "[t:1: a \\ in a string must be followed by one of \"\\/bfnrtu"},
      {"[\"\\u12g4\"]", "[t:1: \\u must be followed by 4 digits"},
      {"[\"\\ud800x\"]", "[t:1: half of a surrogate pair in a string"},
      {"[\"\\udc00\"]", "[t:1: half of a surrogate pair in a string"},
      {std::string("[\0]", 3), "[t:1: holds a NUL byte and looks binary"},
  };
  for (const auto& [text, expected] : cases) EXPECT_EQ(tokens(text), expected);
}

TEST(JsonStream, NothingGrowsWithoutBounds) {
  const std::string deep(100'000, '[');
  EXPECT_NE(tokens(deep).find("t:1: brackets are nested deeper than 64"), std::string::npos);
  const std::string longest(JsonStream::kTextMax, 'x');
  EXPECT_EQ(tokens("[\"" + longest + "\"]"), "[s" + longest + " ].");
  EXPECT_NE(tokens("[\"x" + longest + "\"]").find("longer than 4096 bytes"), std::string::npos);
  EXPECT_NE(tokens("[" + std::string(5000, '1') + "]").find("longer than"), std::string::npos);
  EXPECT_EQ(tokens("[" + std::string(1'000'000, ' ') + "1]"), "[n1 ].");
}

TEST(JsonStream, TokensMayBeCutByTheWindowAnywhere) {
  // The reader's window is filled in chunks of at least 64 KiB: every place of a chunk's end is
  // tried by moving a short text across it.
  const std::string text = R"({"key":["va\u0041lue",-12.5,true]})";
  for (std::size_t before = (1 << 17) - text.size() - 2; before < (1 << 17) + 2; ++before) {
    EXPECT_EQ(tokens(std::string(before, ' ') + text), "{kkey [svaAlue n-12.5 wtrue ]}.");
  }
}

TEST(JsonStream, ValuesCanBePassedOver) {
  std::istringstream in(R"([{"a":[1,{"b":2}],"c":3},4])");
  LineReader lines("t", in);
  JsonStream json(lines);
  EXPECT_EQ(json.next().value(), Token::BeginList);
  const Token object = json.next().value();
  ASSERT_TRUE(json.skip(object).ok());
  EXPECT_EQ(json.next().value(), Token::Number);
  EXPECT_EQ(json.text(), "4");
}

}  // namespace
}  // namespace orrery
