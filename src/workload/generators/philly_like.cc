#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/random.h"
#include "workload/formats/philly_table.h"
#include "workload/formats/row.h"
#include "workload/generators/generator.h"
#include "workload/profiles/muri_models.h"
#include "workload/workload_builder.h"

namespace orrery {
namespace {

constexpr auto kOptions = std::to_array<GeneratorOption>({
    {"jobs", "1000", "how many jobs"},
    {"seed", "1", "another seed, another trace"},
    {"gpus", "64", "GPUs of the cluster; larger jobs ask for this number"},
    {"load", "0.8", "GPU time asked for over GPU time there is, while jobs arrive"},
    {"sizes", "philly", "GPU counts and their weights, such as 1:70/4:10/8:20"},
    {"models", "all", "models to choose from, such as bert/gpt2"},
    {"arrivals", "philly", "philly: by hour and weekday; flat: at one rate; at-once: all at 0"},
    {"opportunistic", "0.5", "share of jobs with priority 1"},
    {"max-hours", "720", "longer jobs are cut to this length"},
});

constexpr std::int64_t kJobsMax = 100'000'000;
// The jobs of one block, see WorkSource.
constexpr std::int64_t kBlock = 65'536;
constexpr double kHour_s = 3600;

enum class Arrivals { Philly, Flat, AtOnce };

struct Size {
  int gpus = 1;
  double share = 0;
};

struct Settings {
  std::int64_t jobs = 0;
  std::uint64_t seed = 0;
  int gpus = 0;
  double load = 0;
  std::vector<Size> sizes;
  std::vector<const MuriModel*> models;
  Arrivals arrivals = Arrivals::Philly;
  double opportunistic = 0;
  double duration_max_s = 0;
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Result<std::vector<Size>> read_sizes(std::string_view text) {
  std::vector<Size> sizes;
  if (text == "philly") {
    for (const PhillySize& size : kPhillySizes) {
      sizes.push_back({size.gpus, static_cast<double>(size.jobs)});
    }
  } else {
    for (const std::string_view part : split(text, '/')) {
      const auto pair = split(part, ':');
      if (pair.size() != 2) return invalid("must be philly, or GPUS:WEIGHT/GPUS:WEIGHT/...");
      TRY_ASSIGN(const std::int64_t gpus, parse_integer(pair[0], 1, kGpusMax));
      TRY_ASSIGN(const double weight, parse_number(pair[1], 1e-9, 1e9));
      sizes.push_back({static_cast<int>(gpus), weight});
    }
  }
  double sum = 0;
  for (const Size& size : sizes) sum += size.share;
  for (Size& size : sizes) size.share /= sum;
  return sizes;
}

Result<std::vector<const MuriModel*>> read_models(std::string_view text) {
  std::vector<const MuriModel*> models;
  std::vector<std::string_view> known;
  for (const MuriModel& model : muri_models()) {
    known.push_back(model.name);
    if (text == "all") models.push_back(&model);
  }
  if (text == "all") return models;
  for (const std::string_view name : split(text, '/')) {
    const MuriModel* model = find_muri_model(name);
    if (model == nullptr) {
      return invalid(
          fmt::format("unknown model '{}'; the known ones are {}", name, fmt::join(known, ", ")));
    }
    models.push_back(model);
  }
  return models;
}

Result<Arrivals> read_arrivals(std::string_view text) {
  if (text == "philly") return Arrivals::Philly;
  if (text == "flat") return Arrivals::Flat;
  if (text == "at-once") return Arrivals::AtOnce;
  return invalid("must be philly, flat or at-once");
}

template <class Value>
Result<Value> option(std::string_view key, Result<Value> value) {
  if (!value.ok()) return std::move(value).error().at(fmt::format("option '{}'", key));
  return value;
}

Result<Settings> read_settings(const GeneratorValues& values) {
  const auto text = [&](std::string_view key) -> const std::string& {
    return values.find(key)->second;
  };
  const auto integer = [&](std::string_view key, std::int64_t low, std::int64_t high) {
    return option(key, parse_integer(text(key), low, high));
  };
  const auto number = [&](std::string_view key, double low, double high) {
    return option(key, parse_number(text(key), low, high));
  };
  Settings settings;
  TRY_ASSIGN(settings.jobs, integer("jobs", 1, kJobsMax));
  TRY_ASSIGN(const std::int64_t seed, integer("seed", 0, std::numeric_limits<std::int64_t>::max()));
  settings.seed = static_cast<std::uint64_t>(seed);
  TRY_ASSIGN(const std::int64_t gpus, integer("gpus", 1, kGpusMax));
  settings.gpus = static_cast<int>(gpus);
  TRY_ASSIGN(settings.load, number("load", 1e-3, 1e3));
  TRY_ASSIGN(settings.sizes, option("sizes", read_sizes(text("sizes"))));
  for (Size& size : settings.sizes) size.gpus = std::min(size.gpus, settings.gpus);
  TRY_ASSIGN(settings.models, option("models", read_models(text("models"))));
  TRY_ASSIGN(settings.arrivals, option("arrivals", read_arrivals(text("arrivals"))));
  TRY_ASSIGN(settings.opportunistic, number("opportunistic", 0, 1));
  TRY_ASSIGN(const double max_hours, number("max-hours", 0.01, 24 * 365));
  settings.duration_max_s = max_hours * kHour_s;
  return settings;
}

// How long jobs of one size run: straight lines through the measured quantiles of the logarithm,
// cut at the maximum.
class DurationLaw {
 public:
  DurationLaw(int gpus, double max_s)
      : quantile_s_(kPhillyDurations_s[std::min<std::size_t>(
            static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(gpus))) - 1,
            kPhillyDurations_s.size() - 1)]),
        max_s_(max_s) {}

  double quantile_s(double probability) const {
    const auto& steps = kPhillyProbabilities;
    const auto above = std::ranges::upper_bound(steps, probability) - steps.begin();
    const auto i = std::clamp<std::size_t>(static_cast<std::size_t>(above), 1, steps.size() - 1);
    const double share = (probability - steps[i - 1]) / (steps[i] - steps[i - 1]);
    const double low = quantile_s_[i - 1];
    return std::min(max_s_, low * std::exp(share * std::log(quantile_s_[i] / low)));
  }

  double mean_s() const {
    double mean = 0;
    for (std::size_t i = 1; i < kPhillyProbabilities.size(); ++i) {
      const double low = std::min(quantile_s_[i - 1], max_s_);
      const double high = std::min(quantile_s_[i], max_s_);
      const double growth = std::log(quantile_s_[i] / quantile_s_[i - 1]);
      const double uncut = growth > 0 ? std::log(high / low) / growth : 0;
      // The mean of exp over the part that is below the maximum, and the maximum above.
      const double below = growth > 0 ? (high - low) / growth : 0;
      mean +=
          (kPhillyProbabilities[i] - kPhillyProbabilities[i - 1]) * (below + (1 - uncut) * high);
    }
    return mean;
  }

 private:
  const std::array<double, kPhillyProbabilities.size()>& quantile_s_;
  double max_s_;
};

struct Work {
  std::size_t size = 0;  // its place in Settings::sizes
  double duration_s = 0;
};

// Draws size and duration together from one number in [0, 1). In each block of n jobs one such
// number falls into each n-th of the interval, in random order: the tail is so heavy that with
// independent numbers even a hundred thousand jobs would miss the load asked for by some percent.
class WorkSource {
 public:
  WorkSource(const Settings& settings, std::uint64_t seed) : left_(settings.jobs), random_(seed) {
    double end = 0;
    for (const Size& size : settings.sizes) {
      parts_.push_back(
          {end, size.share, size.gpus, DurationLaw(size.gpus, settings.duration_max_s)});
      end += size.share;
    }
  }

  double mean_gpu_s() const {
    double mean = 0;
    for (const Part& part : parts_) mean += part.share * part.gpus * part.law.mean_s();
    return mean;
  }

  Work next() {
    if (at_ == strata_.size()) refill();
    const double place = (strata_[at_++] + random_.uniform()) / static_cast<double>(strata_.size());
    auto part = parts_.begin();
    while (part + 1 != parts_.end() && place >= (part + 1)->begin) ++part;
    return {static_cast<std::size_t>(part - parts_.begin()),
            part->law.quantile_s(std::min(1.0, (place - part->begin) / part->share))};
  }

 private:
  struct Part {
    double begin;
    double share;
    int gpus;
    DurationLaw law;
  };

  void refill() {
    strata_.resize(static_cast<std::size_t>(std::min(kBlock, left_)));
    left_ -= static_cast<std::int64_t>(strata_.size());
    std::iota(strata_.begin(), strata_.end(), 0u);
    for (std::size_t i = strata_.size() - 1; i > 0; --i) {
      const auto other = static_cast<std::size_t>(random_.between(0, static_cast<std::int64_t>(i)));
      std::swap(strata_[i], strata_[other]);
    }
    at_ = 0;
  }

  std::int64_t left_;
  Random random_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> strata_;
  std::size_t at_ = 0;
};

// Time in which submissions come at one rate: it runs fast in busy hours and slowly in quiet ones,
// and a week of it is a week. Time 0 is Monday, midnight.
class WeekClock {
 public:
  explicit WeekClock(Arrivals arrivals) {
    double sum = 0;
    for (std::size_t hour = 0; hour < kHours; ++hour) {
      const bool flat = arrivals != Arrivals::Philly;
      sum += flat ? 1 : kPhillyDays[hour / 24] * kPhillyHours[hour % 24];
      end_[hour + 1] = sum;
    }
    for (double& end : end_) end *= kWeek_s / sum;
  }

  double busy_s(double time_s) const {
    const double weeks = std::floor(time_s / kWeek_s);
    const double rest = time_s - weeks * kWeek_s;
    const auto hour = std::min(static_cast<std::size_t>(rest / kHour_s), kHours - 1);
    const double share = rest / kHour_s - static_cast<double>(hour);
    return weeks * kWeek_s + end_[hour] + share * (end_[hour + 1] - end_[hour]);
  }

  double time_s(double busy_s) const {
    const double weeks = std::floor(busy_s / kWeek_s);
    const double rest = busy_s - weeks * kWeek_s;
    const auto above = std::ranges::upper_bound(end_, rest) - end_.begin();
    const auto hour = std::clamp<std::size_t>(static_cast<std::size_t>(above), 1, kHours) - 1;
    const double share = (rest - end_[hour]) / (end_[hour + 1] - end_[hour]);
    return weeks * kWeek_s + (static_cast<double>(hour) + share) * kHour_s;
  }

 private:
  static constexpr std::size_t kHours = 168;
  static constexpr double kWeek_s = kHours * kHour_s;
  std::array<double, kHours + 1> end_{};
};

class ArrivalSource {
 public:
  ArrivalSource(const Settings& settings, double span_s, std::uint64_t seed)
      : clock_(settings.arrivals),
        at_once_(settings.arrivals == Arrivals::AtOnce),
        mean_gap_s_(clock_.busy_s(span_s) / static_cast<double>(settings.jobs)),
        random_(seed) {}

  // The first job comes at 0. Whole milliseconds keep written traces short, and hide the last bit
  // of the logarithm, which not every machine's library gets alike.
  Time next() {
    if (at_once_) return Time{};
    const double time_s = clock_.time_s(busy_s_);
    busy_s_ += random_.exponential(mean_gap_s_);
    return Time(std::chrono::milliseconds(std::llround(time_s * 1000)));
  }

 private:
  WeekClock clock_;
  bool at_once_;
  double mean_gap_s_;
  double busy_s_ = 0;
  Random random_;
};

// What all jobs of one size and model have in common.
JobSpec make_kind(int gpus, const MuriModel& model, WorkloadBuilder& builder) {
  const MuriProfile& profile = model.profile(gpus);
  JobSpec job;
  job.gpus = gpus;
  job.iteration_s = profile.iteration_ms / 1000.0;
  job.start_cost = std::chrono::seconds(profile.start_s);
  job.model = builder.name_id(model.name);
  job.batch_size = model.batch_size;
  std::array<double, 3> stage_s{};
  std::ranges::transform(profile.stage_ms, stage_s.begin(), [](double ms) { return ms / 1000.0; });
  job.profile = builder.profile_id(stage_s, kMuriSlots);
  return job;
}

Result<Workload> make(const GeneratorValues& values) {
  TRY_ASSIGN(const Settings settings, read_settings(values));
  // Work, arrivals and the rest have streams of their own, so that the same jobs come at another
  // pace when only the load is changed.
  Random seeds(settings.seed);
  WorkSource works(settings, seeds.bits());
  const double span_s =
      static_cast<double>(settings.jobs) * works.mean_gpu_s() / (settings.gpus * settings.load);
  if (settings.arrivals != Arrivals::AtOnce && span_s > kTimeMax_s / 2) {
    return invalid(fmt::format(
        "these jobs would arrive over {:.3g} years; ask for fewer jobs, more gpus or more load",
        span_s / kYear_s));
  }
  ArrivalSource arrivals(settings, span_s, seeds.bits());
  Random random(seeds.bits());
  WorkloadBuilder builder("philly-like");
  const std::size_t models = settings.models.size();
  std::vector<JobSpec> kinds;
  for (const Size& size : settings.sizes) {
    for (const MuriModel* model : settings.models) {
      kinds.push_back(make_kind(size.gpus, *model, builder));
    }
  }
  for (std::int64_t i = 0; i < settings.jobs; ++i) {
    const auto model = static_cast<std::size_t>(random.between(0, std::ssize(settings.models) - 1));
    const Work work = works.next();
    JobSpec job = kinds[work.size * models + model];
    job.iterations = std::max(1.0, std::floor(work.duration_s / job.iteration_s));
    job.name = fmt::format_int(i).str();
    job.submitted = arrivals.next();
    job.priority = random.uniform() < settings.opportunistic ? 1 : 0;
    TRY(builder.append(std::move(job)));
  }
  return std::move(builder).finish(0);
}

}  // namespace

const GeneratorEntry kPhillyLike = {
    .generator = {.name = "philly-like",
                  .summary = "sizes, durations and arrivals as in Microsoft's Philly cluster, with "
                             "the stage times of Muri's eight models",
                  .options = kOptions},
    .make = make};

}  // namespace orrery
