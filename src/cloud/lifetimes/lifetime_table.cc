#include "cloud/lifetimes/lifetime_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <sstream>
#include <utility>

#include "base/files.h"
#include "base/plain_text.h"
#include "workload/text/csv.h"
#include "workload/text/line_reader.h"

namespace orrery {
namespace {

using std::chrono::seconds;

constexpr std::string_view kGpus[] = {"K80", "P100", "V100"};
constexpr std::string_view kEarlier = "Previous experiments";
constexpr std::string_view kZoneOfCpus = "us-east1-b";
constexpr int kYearOfEarlier = 2018;
constexpr std::int64_t kDay_s = 86400;
constexpr std::int64_t kHoursMax = 10'000'000;

// The rows of less than an hour that are no wrapped day, by the authors' plotted curves.
constexpr std::pair<std::string_view, std::string_view> kRevokedEarly[] = {
    {"8-May", "test0"}, {"8-May", "test1lessnight"}, {"9-May", "test0night"}, {"7-Jun", "gpu0"},
    {"7-Jun", "gpu4"},  {"7-Jun", "gpu6"},           {"7-Jun", "gpu8"},       {"7-Jun", "gpu15"}};

template <std::size_t kParts>
std::optional<std::array<std::int64_t, kParts>> numbers_between(std::string_view text,
                                                                std::string_view marks) {
  std::array<std::int64_t, kParts> numbers{};
  const char* begin = text.data();
  const char* const end = begin + text.size();
  for (std::size_t i = 0; i < kParts; ++i) {
    if (i > 0 && (begin == end || *begin++ != marks[i - 1])) return std::nullopt;
    if (begin == end || *begin < '0' || *begin > '9') return std::nullopt;
    const auto read = std::from_chars(begin, end, numbers[i]);
    if (read.ec != std::errc() || numbers[i] > kHoursMax) return std::nullopt;
    begin = read.ptr;
  }
  if (begin != end) return std::nullopt;
  return numbers;
}

struct Stamp {
  std::int64_t at_s = 0;  // since 1970 on the clock of the file
  int year = 0;
};

// "2/18/19 23:40"
std::optional<Stamp> parse_stamp(std::string_view text) {
  const auto part = numbers_between<5>(text, "// :");
  if (!part) return std::nullopt;
  const auto [month, day, year, hour, minute] = *part;
  if (year > 99 || hour > 23 || minute > 59) return std::nullopt;
  const std::chrono::year_month_day date(
      std::chrono::year(2000 + static_cast<int>(year)),
      std::chrono::month(static_cast<unsigned>(std::min<std::int64_t>(month, 99))),
      std::chrono::day(static_cast<unsigned>(std::min<std::int64_t>(day, 99))));
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return Stamp{days * kDay_s + hour * 3600 + minute * 60, static_cast<int>(date.year())};
}

// "09:49:51", or hours since 1899 in the place of the hour.
std::optional<std::int64_t> parse_clock_s(std::string_view text) {
  const auto part = numbers_between<3>(text, "::");
  if (!part || (*part)[1] > 59 || (*part)[2] > 59) return std::nullopt;
  return (*part)[0] * 3600 + (*part)[1] * 60 + (*part)[2];
}

void set_age(LifetimeRecord& record, Duration age) {
  record.age = std::min(age, kPreemptibleLife);
  record.revoked = age < kPreemptibleLife;
}

class Reader {
 public:
  Reader(std::string_view name, std::istream& in) : lines_(name, in) {}

  Result<std::vector<LifetimeRecord>> read() {
    CsvLine cut;
    while (true) {
      TRY_ASSIGN(const bool more, lines_.next());
      if (!more) break;
      const auto fields = cut.split(lines_.line());
      if (!fields.ok()) return lines_.wrong(fields.error().message);
      if (fields.value().size() != 3) {
        return lines_.wrong(
            fmt::format("has {} fields; write a name, a start and an end", fields.value().size()));
      }
      TRY(take(fields.value()[0], fields.value()[1], fields.value()[2]));
    }
    if (records_.empty()) return lines_.wrong_file("holds no server");
    return std::move(records_);
  }

 private:
  Status take(std::string_view name, std::string_view start, std::string_view end) {
    if (name == "VM name") return {};
    if (start.empty() != end.empty()) {
      return lines_.wrong(fmt::format("'{}' has only one of start and end", plain_text(name)));
    }
    if (start.empty() || start == "created") return take_heading(name);
    if (section_.empty()) {
      return lines_.wrong(
          "a server stands before the first heading; write K80, P100, V100 or "
          "'Previous experiments' above it");
    }
    LifetimeRecord record{.gpu = section_, .zone = zone_, .name = std::string(name)};
    record.stressed = name.find("less") == std::string_view::npos;
    record.line = lines_.number();
    TRY(section_ == kEarlier ? take_earlier(record, start, end) : take_dated(record, start, end));
    records_.push_back(std::move(record));
    return {};
  }

  Status take_heading(std::string_view name) {
    if (name == kEarlier || std::ranges::find(kGpus, name) != std::end(kGpus)) {
      section_ = name;
      day_.clear(), zone_.clear();
      return {};
    }
    if (section_ == kEarlier && !name.empty()) {
      const bool is_day = name.front() >= '0' && name.front() <= '9';
      zone_ = is_day ? "" : name;
      if (is_day) day_ = name;
      return {};
    }
    return lines_.wrong(fmt::format(
        "unknown heading '{}'; the known ones are K80, P100, V100 and 'Previous experiments'",
        plain_text(name.substr(0, 40))));
  }

  // a-p100-europe-west1-b-0less: the zone stands between the GPU, if it is there, and the index.
  Status take_dated(LifetimeRecord& record, std::string_view start, std::string_view end) {
    std::string_view zone = record.name;
    const std::size_t index = zone.rfind('-');
    if (!zone.starts_with("a-") || index < 3) {
      return lines_.wrong(fmt::format("'{}' is no name of a server; write a-ZONE-INDEX",
                                      plain_text(zone.substr(0, 40))));
    }
    zone = zone.substr(2, index - 2);
    if (zone.starts_with("p100-") || zone.starts_with("v100-")) zone.remove_prefix(5);
    record.zone = zone;
    const auto from = parse_stamp(start), to = parse_stamp(end);
    if (!from || !to) {
      return lines_.wrong(fmt::format("'{}' is no time; write month/day/year hour:minute",
                                      plain_text((from ? end : start).substr(0, 40))));
    }
    if (to->at_s < from->at_s) {
      return lines_.wrong(fmt::format("'{}' ends before it starts", plain_text(record.name)));
    }
    record.year = from->year;
    record.hour_ended = static_cast<int>(to->at_s % kDay_s / 3600);
    set_age(record, seconds(to->at_s - from->at_s));
    return {};
  }

  Status take_earlier(LifetimeRecord& record, std::string_view start, std::string_view end) {
    const bool has_gpu = record.name.starts_with("gpu");
    if (!has_gpu && !record.name.starts_with("test")) {
      return lines_.wrong(fmt::format("'{}' is no name of a server; write testN or gpuN",
                                      plain_text(record.name.substr(0, 40))));
    }
    record.gpu = has_gpu ? "K80" : "CPU";
    record.year = kYearOfEarlier;
    record.day = day_;
    if (!has_gpu) record.zone = kZoneOfCpus;
    const auto from = parse_clock_s(start), to = parse_clock_s(end);
    if (!from || !to) {
      return lines_.wrong(fmt::format("'{}' is no time of day; write hours:minutes:seconds",
                                      plain_text((from ? end : start).substr(0, 40))));
    }
    const bool exact = *from >= kDay_s;
    if (exact ? *to < *from : *to >= kDay_s) {
      return lines_.wrong("the end is before the start, or only one of them has hours since 1899");
    }
    record.hour_ended = static_cast<int>(*to % kDay_s / 3600);
    std::int64_t age_s = *to - *from;
    if (!exact) {
      age_s = (age_s + kDay_s) % kDay_s;
      const auto known = std::ranges::find(
          kRevokedEarly, std::pair<std::string_view, std::string_view>(day_, record.name));
      if (age_s < 3600 && known == std::end(kRevokedEarly)) age_s = kDay_s;
    }
    set_age(record, seconds(age_s));
    return {};
  }

  LineReader lines_;
  std::string section_{};
  std::string day_{};
  std::string zone_{};
  std::vector<LifetimeRecord> records_{};
};

}  // namespace

Result<std::vector<LifetimeRecord>> parse_lifetimes(std::string_view name, std::string_view text) {
  std::istringstream in{std::string(text)};
  return Reader(name, in).read();
}

Result<std::vector<LifetimeRecord>> read_lifetimes(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_lifetimes(path, text);
}

LifetimeSample sample_of(const LifetimeRecord& record) { return {record.age, record.revoked}; }

}  // namespace orrery
