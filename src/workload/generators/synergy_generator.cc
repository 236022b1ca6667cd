#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "workload/formats/row.h"
#include "workload/generators/generator.h"
#include "workload/generators/python_random.h"
#include "workload/generators/synergy_models.h"
#include "workload/profiles/muri_models.h"
#include "workload/workload_builder.h"

namespace orrery {
namespace {

constexpr auto kOptions = std::to_array<GeneratorOption>({
    {"jobs", "", "how many jobs; empty: 1000, or with --window as many as arrive until it is done"},
    {"seed", "42", "another seed, another trace"},
    {"load", "4", "jobs an hour on average"},
    {"gpus", "multi", "multi: 1, 2, 4 or 8 GPUs a job; single: 1"},
    {"split", "20/70/10", "per cent of image, language and speech models"},
    {"durations", "normal", "normal: half an hour to a week; small: up to 8.4 hours"},
    {"cpus-per-gpu", "3", "3 to 6: durations are those with this number of CPUs for each GPU"},
    {"static", "false", "true: all jobs at the beginning, a millisecond apart"},
});

constexpr std::int64_t kJobsDefault = 1000;
constexpr std::int64_t kJobsMax = 100'000'000;
constexpr std::int64_t kCpusLeast = 3;
constexpr std::int64_t kCpusMost = 6;

struct Settings {
  std::int64_t jobs = kJobsDefault;
  std::uint64_t seed = 0;
  double load = 0;
  bool single = false;
  std::array<double, kSynergyClasses> split{};  // shares of 1
  bool small = false;
  std::size_t more_cpus = 0;  // beyond 3 for each GPU
  bool at_once = false;
};

// Which of two words it is; true: the second.
Result<bool> one_of(std::string_view text, std::string_view first, std::string_view second) {
  if (text == first || text == second) return text == second;
  return invalid(fmt::format("must be {} or {}", first, second));
}

// The published rule wants no sum of 100: 33/33/33 is among those evaluated.
Result<std::array<double, kSynergyClasses>> read_split(std::string_view text) {
  std::array<double, kSynergyClasses> split{};
  for (std::size_t i = 0; i < split.size(); ++i) {
    const std::size_t end = i + 1 < split.size() ? text.find('/') : text.size();
    if (end == std::string_view::npos) break;
    TRY_ASSIGN(const double percent, parse_number(text.substr(0, end), 0, 100));
    split[i] = percent / 100;
    text.remove_prefix(std::min(end + 1, text.size()));
    if (i + 1 == split.size()) return split;
  }
  return invalid("must be three numbers of per cent, such as 20/70/10");
}

Result<Settings> read_settings(const GeneratorValues& values) {
  const auto read = [&](std::string_view key, auto parse) {
    auto value = parse(values.find(key)->second);
    if (value.ok()) return value;
    return decltype(value)(std::move(value).error().at(fmt::format("option '{}'", key)));
  };
  const auto integer = [](std::int64_t low, std::int64_t high) {
    return [=](std::string_view text) { return parse_integer(text, low, high); };
  };
  const auto either = [](std::string_view first, std::string_view second) {
    return [=](std::string_view text) { return one_of(text, first, second); };
  };
  Settings settings;
  if (!values.find("jobs")->second.empty()) {
    TRY_ASSIGN(settings.jobs, read("jobs", integer(1, kJobsMax)));
  }
  TRY_ASSIGN(const std::int64_t seed,
             read("seed", integer(0, std::numeric_limits<std::int64_t>::max())));
  settings.seed = static_cast<std::uint64_t>(seed);
  TRY_ASSIGN(settings.load,
             read("load", [](std::string_view text) { return parse_number(text, 1e-3, 1e6); }));
  TRY_ASSIGN(settings.single, read("gpus", either("multi", "single")));
  TRY_ASSIGN(settings.split, read("split", read_split));
  TRY_ASSIGN(settings.small, read("durations", either("normal", "small")));
  TRY_ASSIGN(const std::int64_t cpus, read("cpus-per-gpu", integer(kCpusLeast, kCpusMost)));
  settings.more_cpus = static_cast<std::size_t>(cpus - kCpusLeast);
  TRY_ASSIGN(settings.at_once, read("static", either("false", "true")));
  return settings;
}

// The numbers of one job, drawn in the published order.
struct Draw {
  double gap_s = 0;
  double duration_s = 0;
  int gpus = 1;
};

Draw draw(PythonRandom& random, const Settings& settings) {
  Draw result;
  const double gap_h = -std::log(1.0 - random.random()) / settings.load;
  result.gap_s = std::ceil(gap_h * 60 * 60);
  const bool is_long = random.random() >= 0.8;
  const double middle = settings.small ? 2.5 : 3;
  const double exponent =
      is_long ? random.uniform(middle, settings.small ? 2.7 : 4) : random.uniform(1.5, middle);
  result.duration_s = 60 * std::pow(10, exponent);
  const double place = random.random();
  if (!settings.single) result.gpus = place >= 0.95 ? 8 : place >= 0.8 ? 4 : place >= 0.7 ? 2 : 1;
  random.below(static_cast<std::uint32_t>(synergy_models().size()));  // published, and not used
  return result;
}

// Deals out models: the class that is farthest below its share, and of its models the next one.
class Dealer {
 public:
  explicit Dealer(const std::array<double, kSynergyClasses>& split) : split_(split) {
    for (const SynergyModel& model : synergy_models()) of(model.task).push_back(&model);
  }

  const SynergyModel& next() {
    std::size_t best = 0;
    for (std::size_t i = 1; i < kSynergyClasses; ++i) {
      if (lack(i) > lack(best)) best = i;
    }
    const auto& models = models_[best];
    const SynergyModel& model = *models[dealt_[best] % models.size()];
    ++dealt_[best];
    ++total_;
    return model;
  }

 private:
  std::vector<const SynergyModel*>& of(SynergyClass task) {
    return models_[static_cast<std::size_t>(task)];
  }

  double lack(std::size_t task) const {
    if (total_ == 0) return 0;
    return split_[task] - static_cast<double>(dealt_[task]) / static_cast<double>(total_);
  }

  std::array<double, kSynergyClasses> split_;
  std::array<std::vector<const SynergyModel*>, kSynergyClasses> models_;
  std::array<std::size_t, kSynergyClasses> dealt_{};
  std::size_t total_ = 0;
};

Time submission(std::int64_t job, double arrival_s, const Settings& settings) {
  if (settings.at_once) return Time(std::chrono::milliseconds(job));
  return Time(std::chrono::seconds(static_cast<std::int64_t>(arrival_s)));
}

Result<Workload> make(const GeneratorValues& values) {
  TRY_ASSIGN(const Settings settings, read_settings(values));
  PythonRandom random(settings.seed);
  Dealer dealer(settings.split);
  WorkloadBuilder builder("synergy");
  std::vector<SensitivityId> sensitivities;
  for (const SynergyModel& model : synergy_models()) {
    sensitivities.push_back(builder.sensitivity_id(model.sensitivity()));
  }
  double arrival_s = 0;
  for (std::int64_t i = 0; i < settings.jobs; ++i) {
    const Draw drawn = draw(random, settings);
    const SynergyModel& model = dealer.next();
    arrival_s += drawn.gap_s;
    if (arrival_s > kTimeMax_s) {
      return invalid("the jobs arrive for more than 100 years; ask for fewer, or a higher load");
    }
    JobSpec job;
    job.name = fmt::format_int(i).str();
    job.submitted = submission(i, arrival_s, settings);
    job.gpus = drawn.gpus;
    job.iterations = std::trunc(drawn.duration_s / model.iteration_s[settings.more_cpus]);
    job.iteration_s = model.iteration_s.front();
    job.start_cost = std::chrono::seconds(kUnknownModelStart_s);
    job.model = builder.name_id(model.name);
    job.batch_size = model.batch_size;
    job.sensitivity = sensitivities[static_cast<std::size_t>(&model - synergy_models().data())];
    TRY(builder.add(std::move(job)));
  }
  return std::move(builder).finish(0);
}

bool goes_on(const GeneratorValues& values) {
  return values.find("jobs")->second.empty() && values.find("static")->second != "true";
}

}  // namespace

const GeneratorEntry kSynergyGenerator = {
    .generator = {.name = "synergy",
                  .summary = "the jobs of Synergy's generator, seed by seed, which differ in what "
                             "CPUs and memory do for them",
                  .options = kOptions},
    .make = make,
    .goes_on = goes_on};

}  // namespace orrery
