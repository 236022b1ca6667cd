#include "workload/formats/json_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace orrery {
namespace {

using Json = nlohmann::json;

// Receives the parts of the object as the parser meets them. A document tree would keep the last of
// two equal keys in silence, and round long decimals.
class Receiver final : public nlohmann::json_sax<Json> {
 public:
  explicit Receiver(std::array<std::string, kOrreryColumns>& texts) : texts_(texts) {}

  std::string fault;

  bool null() override {
    if (in_list_) return fail("a list may hold numbers only");
    return in_object_ || fail("is not a JSON object");
  }
  bool boolean(bool) override { return fail_value("true or false"); }
  bool number_integer(number_integer_t value) override {
    return number(fmt::format_int(value).str());
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(fmt::format_int(value).str());
  }
  bool number_float(number_float_t, const string_t& text) override { return number(text); }
  bool string(string_t& text) override {
    if (!in_object_ || in_list_ || kind() != OrreryKind::Text) return fail_value("a string");
    if (text.empty()) return fail(fmt::format("'{}' is an empty string", kOrreryNames[column_]));
    texts_[column_] = text;
    return true;
  }
  bool binary(binary_t&) override { return fail("holds binary data"); }

  bool start_object(std::size_t) override {
    if (in_object_) return fail_value("an object");
    in_object_ = true;
    return true;
  }
  bool key(string_t& name) override {
    const auto found = std::ranges::find(kOrreryNames, name);
    if (found == kOrreryNames.end()) {
      return fail(fmt::format("unknown field '{}'; the known ones are {}", printable(name),
                              fmt::join(kOrreryNames, ", ")));
    }
    column_ = static_cast<std::size_t>(found - kOrreryNames.begin());
    if (seen_[column_]) return fail(fmt::format("field '{}' comes twice", name));
    seen_[column_] = true;
    return true;
  }
  bool end_object() override { return true; }

  bool start_array(std::size_t) override {
    if (!in_object_ || in_list_ || kind() != OrreryKind::List) return fail_value("a list");
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    if (texts_[column_].empty()) {
      return fail(fmt::format("'{}' is an empty list", kOrreryNames[column_]));
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return fail(fmt::format("is not valid JSON at character {}", position));
  }

 private:
  static std::string printable(std::string_view text) {
    std::string result(text.substr(0, 40));
    std::ranges::replace_if(
        result, [](char c) { return c < 0x20 || c > 0x7e; }, '?');
    return result;
  }
  OrreryKind kind() const { return orrery_kind(column_); }
  bool fail(std::string what) {
    if (fault.empty()) fault = std::move(what);
    return false;
  }
  bool fail_value(std::string_view got) {
    if (!in_object_) return fail("is not a JSON object");
    if (in_list_) return fail("a list may hold numbers only");
    static constexpr std::array<std::string_view, 3> kWanted = {"a string", "a number",
                                                                "a list of numbers"};
    return fail(fmt::format("'{}' must be {}, not {}", kOrreryNames[column_],
                            kWanted[static_cast<std::size_t>(kind())], got));
  }
  bool number(std::string_view text) {
    if (!in_object_) return fail("is not a JSON object");
    if (in_list_) {
      if (!texts_[column_].empty()) texts_[column_] += ';';
      texts_[column_] += text;
      return true;
    }
    const bool id = column_ == kJobId && text.find_first_not_of("0123456789") == text.npos;
    if (kind() != OrreryKind::Number && !id) return fail_value("a number");
    texts_[column_] = text;
    return true;
  }

  std::array<std::string, kOrreryColumns>& texts_;
  std::array<bool, kOrreryColumns> seen_{};
  std::size_t column_ = 0;
  bool in_object_ = false;
  bool in_list_ = false;
};

}  // namespace

Status JsonRow::parse(std::string_view line, Row& row) {
  for (std::string& text : texts_) text.clear();
  Receiver receiver(texts_);
  if (!Json::sax_parse(line.begin(), line.end(), &receiver)) return row.wrong(receiver.fault);
  for (std::size_t i = 0; i < texts_.size(); ++i) row.set(i, texts_[i]);
  return {};
}

}  // namespace orrery
