#include "training/emulation/straggler_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <tuple>

#include "base/files.h"
#include "base/nearest_word.h"
#include "base/random.h"
#include "model/duration_text.h"

namespace orrery {
namespace {

constexpr std::size_t kMostSteps = 1'000'000;
constexpr std::string_view kExamples =
    "write 'at 30s server 3 cpu 0.25', 'every 120s for 60s server 3 cpu 0.25' or "
    "'walk bandwidth server 0-7 from 0.4 to 1 every 5s'";
constexpr std::array<std::string_view, 10> kWords = {"at",  "every",     "walk", "for", "server",
                                                     "cpu", "bandwidth", "from", "to",  "after"};

enum class Pattern { At, Every, Walk };

// One line, as it was said.
struct Line {
  Pattern pattern = Pattern::At;
  std::optional<Duration> at{}, every{}, lasting{}, after{};
  std::vector<int> servers{};
  std::optional<ServerResource> resource{};
  std::optional<double> share{}, low{}, high{};
};

std::vector<std::string_view> words_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> words;
  constexpr std::string_view kSpace = " \t\r";
  for (std::size_t at = line.find_first_not_of(kSpace); at != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpace, at), line.size());
    words.push_back(line.substr(at, end - at));
    at = line.find_first_not_of(kSpace, end);
  }
  return words;
}

template <class Number>
bool reads_as(std::string_view text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data(), end, number);
  return problem == std::errc() && rest == end;
}

Result<double> parse_share(std::string_view text) {
  double share = 0;
  if (!reads_as(text, share) || !(share >= 0.001 && share <= 1)) {
    return invalid(fmt::format(
        "'{}' is no share; write one from 0.001 to 1, 0.25 for a quarter of what is normal", text));
  }
  return share;
}

// "3", "0-3", "1,4-6", "last", "all".
Result<std::vector<int>> parse_servers(std::string_view text, int servers) {
  std::vector<int> chosen;
  const auto add = [&](int first, int last) {
    for (int server = first; server <= last; ++server) chosen.push_back(server);
  };
  if (text == "all") {
    add(0, servers - 1);
    return chosen;
  }
  for (std::string_view rest = text; !rest.empty() || chosen.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view part = rest.substr(0, comma);
    rest.remove_prefix(std::min(comma + 1, rest.size()));
    const std::size_t dash = part.find('-');
    int first = part == "last" ? servers - 1 : -1;
    int last = first;
    const bool read = part == "last" || (dash == std::string_view::npos
                                             ? reads_as(part, first) && reads_as(part, last)
                                             : reads_as(part.substr(0, dash), first) &&
                                                   reads_as(part.substr(dash + 1), last));
    if (!read || first < 0 || last < first) {
      return invalid(fmt::format("'{}' names no servers; write 3, 0-3, 1,4-6, last or all", text));
    }
    if (last >= servers) {
      return invalid(fmt::format("there is no server {}; this run has {}, from 0 to {}", last,
                                 servers, servers - 1));
    }
    add(first, last);
  }
  std::sort(chosen.begin(), chosen.end());
  chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  return chosen;
}

Error unknown_word(std::string_view word) {
  return invalid(fmt::format("'{}' does not belong here; did you mean '{}'? {}", word,
                             nearest_word(word, kWords), kExamples));
}

// Reads the words of a line two by two; only the resource of a walk stands alone.
class LineReader {
 public:
  LineReader(std::vector<std::string_view> words, int servers)
      : words_(std::move(words)), servers_(servers) {}

  Result<Line> read() {
    const std::string_view verb = words_.front();
    if (verb == "walk") {
      line_.pattern = Pattern::Walk;
      next_ = 1;
    } else if (verb == "every") {
      line_.pattern = Pattern::Every;
    } else if (verb != "at") {
      return unknown_word(verb);
    }
    while (next_ < words_.size()) TRY(read_word());
    TRY(check());
    return line_;
  }

 private:
  Status read_word() {
    const std::string_view word = words_[next_++];
    if (word == "cpu" || word == "bandwidth") {
      if (line_.resource) return twice("the resource");
      line_.resource = word == "cpu" ? ServerResource::Cpu : ServerResource::Bandwidth;
      return line_.pattern == Pattern::Walk ? Status{} : value(word, line_.share, parse_share);
    }
    if (word == "server") {
      if (!line_.servers.empty()) return twice("server");
      TRY_ASSIGN(const std::string_view text, value_word(word));
      TRY_ASSIGN(line_.servers, parse_servers(text, servers_));
      return {};
    }
    const bool walk = line_.pattern == Pattern::Walk;
    const bool at = line_.pattern == Pattern::At;
    if (word == "at" && at) return value(word, line_.at, parse_duration);
    if (word == "every" && !at) return value(word, line_.every, parse_duration);
    if (word == "for" && !walk) return value(word, line_.lasting, parse_duration);
    if (word == "after" && !at) return value(word, line_.after, parse_duration);
    if (word == "from" && walk) return value(word, line_.low, parse_share);
    if (word == "to" && walk) return value(word, line_.high, parse_share);
    return unknown_word(word);
  }

  Result<std::string_view> value_word(std::string_view word) {
    if (next_ == words_.size()) {
      return invalid(fmt::format("'{}' is followed by nothing; {}", word, kExamples));
    }
    return words_[next_++];
  }

  template <class T, class Parse>
  Status value(std::string_view word, std::optional<T>& into, Parse parse) {
    if (into) return twice(word);
    TRY_ASSIGN(const std::string_view text, value_word(word));
    TRY_ASSIGN(into, parse(text));
    return {};
  }

  static Error twice(std::string_view what) {
    return invalid(fmt::format("{} is said twice; use a line for each", what));
  }

  Status check() const {
    const auto missing = [](std::string_view what) {
      return invalid(fmt::format("{} is missing; {}", what, kExamples));
    };
    if (line_.servers.empty()) return missing("'server'");
    if (!line_.resource) return missing("'cpu' or 'bandwidth'");
    if (line_.pattern == Pattern::At) return {};
    if (!line_.every) return missing("'every'");
    if (*line_.every <= Duration::zero())
      return invalid("'every 0s' never goes on; write every 5s");
    if (line_.pattern == Pattern::Walk) {
      if (!line_.low || !line_.high) return missing("'from' or 'to'");
      if (*line_.low > *line_.high) return invalid("'from' is more than 'to'; write from 0.4 to 1");
      return {};
    }
    if (!line_.lasting) return missing("'for'");
    if (*line_.lasting >= *line_.every) {
      return invalid("'for' is not shorter than 'every', so it never ends; write at 0s instead");
    }
    return {};
  }

  std::vector<std::string_view> words_;
  int servers_;
  std::size_t next_ = 0;
  Line line_{};
};

// Writes a line out to steps. All within the horizon, so that nothing is endless.
class Writer {
 public:
  // Bounded, so that no sum of two times leaves the time line.
  Writer(std::uint64_t seed, Duration horizon)
      : seed_(seed), horizon_(std::min<Duration>(horizon, std::chrono::years(100))) {}

  Status write(const Line& line, int number) {
    for (const int server : line.servers) {
      const auto step = [&](Duration at, double share) {
        if (at <= horizon_) steps_.push_back({Time(at), server, *line.resource, share});
        return at <= horizon_ && steps_.size() <= kMostSteps;
      };
      switch (line.pattern) {
        case Pattern::At:
          step(*line.at, *line.share);
          if (line.lasting) step(*line.at + *line.lasting, 1);
          break;
        case Pattern::Every:
          for (Duration at = line.after.value_or(Duration{}); step(at, *line.share);
               at += *line.every) {
            step(at + *line.lasting, 1);
          }
          break;
        case Pattern::Walk:
          walk(line, mixed(number, server), step);
          break;
      }
      if (steps_.size() > kMostSteps) {
        return invalid(fmt::format("more than {} steps; take a longer 'every'", kMostSteps));
      }
    }
    return {};
  }

  std::vector<StragglerStep> steps() && {
    // Lines were written one after another: at one time, the last word counts.
    std::stable_sort(steps_.begin(), steps_.end(),
                     [](const auto& a, const auto& b) { return key(a) < key(b); });
    std::vector<StragglerStep> kept;
    for (const StragglerStep& step : steps_) {
      if (!kept.empty() && key(kept.back()) == key(step)) kept.pop_back();
      kept.push_back(step);
    }
    return kept;
  }

 private:
  static std::tuple<Time, int, ServerResource> key(const StragglerStep& step) {
    return {step.at, step.server, step.resource};
  }

  // Every server of every line walks by itself.
  std::uint64_t mixed(int number, int server) const {
    return Random(seed_ ^
                  (static_cast<std::uint64_t>(number) << 32 | static_cast<std::uint64_t>(server)))
        .bits();
  }

  // Steps of up to a quarter of the range either way, thrown back at its ends.
  template <class Step>
  static void walk(const Line& line, std::uint64_t seed, const Step& step) {
    Random random(seed);
    const double low = *line.low, high = *line.high, reach = (high - low) / 4;
    double share = low + (high - low) * random.uniform();
    for (Duration at = line.after.value_or(Duration{}); step(at, share); at += *line.every) {
      share += reach * (2 * random.uniform() - 1);
      if (share < low) share = 2 * low - share;
      if (share > high) share = 2 * high - share;
      share = std::clamp(share, low, high);
    }
  }

  std::uint64_t seed_;
  Duration horizon_;
  std::vector<StragglerStep> steps_{};
};

}  // namespace

Result<StragglerScript> parse_straggler_script(const std::string& text, const std::string& place,
                                               int servers, std::uint64_t seed, Duration horizon) {
  INVARIANT(servers > 0, "a script without servers");
  Writer writer(seed, horizon);
  int number = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::vector<std::string_view> words = words_of(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    if (words.empty()) continue;
    Result<Line> line = LineReader(std::move(words), servers).read();
    Status written = line.ok() ? writer.write(line.value(), number) : std::move(line).error();
    if (!written.ok()) return std::move(written).error().at(fmt::format("{}:{}", place, number));
  }
  const std::size_t slash = place.rfind('/');
  const std::string name = slash == std::string::npos ? place : place.substr(slash + 1);
  return StragglerScript{.name = name.substr(0, name.rfind('.')),
                         .steps = std::move(writer).steps()};
}

Result<StragglerScript> read_straggler_script(const std::string& path, int servers,
                                              std::uint64_t seed, Duration horizon) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_straggler_script(text, path, servers, seed, horizon);
}

double share_at(const StragglerScript& script, Time at, int server, ServerResource resource) {
  auto step = std::upper_bound(script.steps.begin(), script.steps.end(), at,
                               [](Time time, const StragglerStep& s) { return time < s.at; });
  while (step != script.steps.begin()) {
    --step;
    if (step->server == server && step->resource == resource) return step->share;
  }
  return 1;
}

}  // namespace orrery
