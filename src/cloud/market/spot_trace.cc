#include "cloud/market/spot_trace.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/plain_text.h"

namespace orrery {
namespace {

using Json = nlohmann::json;

constexpr double kLongestTick_s = 7 * 24 * 3600;
constexpr std::size_t kLargestFile = std::size_t{64} << 20;

// What the parser has read. A tree of the document would not know the line of a value.
struct Place {
  std::size_t characters = 0;
  std::size_t line = 1;  // of the last character
  bool line_ended = false;

  void read(char c) {
    ++characters;
    line += line_ended ? 1 : 0;
    line_ended = c == '\n';
  }
};

// Reads for the parser and notes how far it has come.
class NotingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  NotingIterator(const char* at, Place* place) : at_(at), place_(place) {}
  reference operator*() const { return *at_; }
  NotingIterator& operator++() {
    place_->read(*at_);
    ++at_;
    return *this;
  }
  NotingIterator operator++(int) {
    const NotingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const NotingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const NotingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  Place* place_;
};

// Receives the parts of the document as the parser meets them. Fields other than `gap_seconds` and
// `data` are skipped, at any depth.
class Receiver final : public nlohmann::json_sax<Json> {
 public:
  Receiver(SpotTrace& trace, const Place& place) : trace_(trace), place_(place) {}

  std::string fault{};
  std::size_t fault_line = 0;

  bool null() override { return other("null"); }
  bool boolean(bool) override { return other("true or false"); }
  bool number_integer(number_integer_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return number(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override { return number(value); }
  bool string(string_t&) override { return other("a string"); }
  bool binary(binary_t&) override { return other("binary data"); }

  bool start_object(std::size_t) override {
    if (in_data()) return other("an object");
    ++depth_;
    if (depth_ == 1 || (depth_ == 2 && key_ == "metadata")) return true;
    return skip_from_here();
  }
  bool key(string_t& name) override {
    if (skipped_from_ == 0) key_ = name;
    if (key_ == "data" && depth_ == 1 && skipped_from_ == 0 && has_data_) {
      return fail("'data' comes twice; keep one list");
    }
    return true;
  }
  bool end_object() override { return leave(); }
  bool start_array(std::size_t) override {
    if (in_data()) return other("a list");
    if (depth_ == 0) return fail("is a list; write an object with 'metadata' and 'data'");
    ++depth_;
    if (depth_ == 2 && key_ == "data" && skipped_from_ == 0) {
      has_data_ = true;
      return true;
    }
    return skip_from_here();
  }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return fail(
        fmt::format("is not valid JSON at character {}; write {{\"metadata\": "
                    "{{\"gap_seconds\": 300}}, \"data\": [0, 1]}}",
                    place_.characters));
  }

  bool has_data() const { return has_data_; }

 private:
  bool in_data() const { return has_data_ && depth_ == 2 && key_ == "data" && skipped_from_ == 0; }
  bool in_metadata() const { return depth_ == 2 && !in_data() && skipped_from_ == 0; }

  bool fail(std::string what) {
    if (fault.empty()) {
      fault = std::move(what);
      fault_line = place_.line;
    }
    return false;
  }
  bool skip_from_here() {
    if (skipped_from_ == 0) skipped_from_ = depth_;
    return true;
  }
  bool leave() {
    if (skipped_from_ == depth_) skipped_from_ = 0;
    if (depth_ == 2) key_.clear();
    --depth_;
    return true;
  }
  bool other(std::string_view what) {
    if (depth_ == 0) {
      return fail(fmt::format("is {}; write an object with 'metadata' and 'data'", what));
    }
    if (in_data()) {
      return fail(fmt::format("data[{}] is {}; write a whole number, 0 or more",
                              trace_.capacity.size(), what));
    }
    if (in_metadata() && key_ == "gap_seconds") {
      return fail(fmt::format("'gap_seconds' is {}; write seconds, above 0", what));
    }
    if (depth_ == 1 && key_ == "data") return fail(fmt::format("'data' is {}; write a list", what));
    return true;
  }
  bool number(double value) {
    if (in_metadata() && key_ == "gap_seconds") {
      if (!(value >= 1e-3 && value <= kLongestTick_s)) {
        return fail(fmt::format("'gap_seconds' is {}; write seconds between 0.001 and {}", value,
                                kLongestTick_s));
      }
      trace_.tick = from_seconds(value);
      return true;
    }
    if (!in_data()) return other("a number");
    if (!(value >= 0 && value <= std::numeric_limits<std::int32_t>::max()) ||
        value != std::floor(value)) {
      return fail(fmt::format("data[{}] is {}; write a whole number, 0 or more",
                              trace_.capacity.size(), value));
    }
    trace_.capacity.push_back(static_cast<std::int32_t>(value));
    return true;
  }

  SpotTrace& trace_;
  const Place& place_;
  std::string key_{};
  int depth_ = 0;
  int skipped_from_ = 0;  // the depth of what is skipped; 0: nothing is
  bool has_data_ = false;
};

}  // namespace

Result<SpotTrace> parse_spot_trace(std::string_view text, const std::string& path) {
  SpotTrace trace{.name = plain_text(std::filesystem::path(path).stem().string())};
  Place place;
  Receiver receiver(trace, place);
  const NotingIterator first(text.data(), &place);
  const NotingIterator last(text.data() + text.size(), &place);
  if (!Json::sax_parse(first, last, &receiver)) {
    return invalid(fmt::format("{}:{}: {}", path, receiver.fault_line, receiver.fault));
  }
  if (trace.tick <= Duration{}) {
    return invalid(path + ":1: has no 'gap_seconds' in 'metadata'; write the seconds of a tick");
  }
  if (!receiver.has_data()) {
    return invalid(path + ":1: has no 'data'; write a list with one count for each tick");
  }
  if (trace.capacity.empty()) {
    return invalid(path + ":1: 'data' is an empty list; write one count for each tick");
  }
  return trace;
}

Result<SpotTrace> read_spot_trace(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path, kLargestFile));
  return parse_spot_trace(text, path);
}

}  // namespace orrery
