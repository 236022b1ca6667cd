#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "workload/formats/row.h"
#include "workload/generators/elasticflow_models.h"
#include "workload/generators/generator.h"
#include "workload/generators/python_random.h"
#include "workload/profiles/speed_profiles.h"
#include "workload/workload_builder.h"

namespace orrery {
namespace {

constexpr auto kOptions = std::to_array<GeneratorOption>({
    {"jobs", "1000", "how many jobs"},
    {"seed", "1", "another seed, another trace"},
    {"lam", "1500", "mean seconds from one submission to the next; 0: all at once"},
    {"min-ddl", "0.5", "the tightest deadline, in durations on the GPUs asked for"},
    {"max-ddl", "1.5", "the loosest"},
    {"best-effort", "0", "share of jobs without a deadline"},
    {"ddl-seed", "", "seed of deadlines and best effort; empty: seed + 4"},
    {"max-gpus", "16", "larger jobs ask for this number"},
    {"profiles", "", "file or folder of speed profiles; needed"},
    {"gpu-type", "", "the GPU type that the profiles are read for"},
});

constexpr std::int64_t kJobsMax = 100'000'000;
// Five streams have this seed and the four that follow it.
constexpr std::int64_t kSeedMax = std::numeric_limits<std::int64_t>::max() - 4;

struct Settings {
  std::int64_t jobs = 0;
  std::uint64_t seed = 0;
  std::uint64_t deadline_seed = 0;
  double gap_s = 0;
  double deadline_min = 0;
  double deadline_max = 0;
  double best_effort = 0;
  int gpus_max = 0;
  std::string profiles;
  std::string gpu_type;
};

Result<Settings> read_settings(const GeneratorValues& values) {
  const auto text = [&](std::string_view key) -> const std::string& {
    return values.find(key)->second;
  };
  const auto at = [](std::string_view key, auto value) {
    if (!value.ok())
      return decltype(value)(std::move(value).error().at(fmt::format("option '{}'", key)));
    return value;
  };
  const auto integer = [&](std::string_view key, std::int64_t low, std::int64_t high) {
    return at(key, parse_integer(text(key), low, high));
  };
  const auto number = [&](std::string_view key, double low, double high) {
    return at(key, parse_number(text(key), low, high));
  };
  Settings settings;
  TRY_ASSIGN(settings.jobs, integer("jobs", 1, kJobsMax));
  TRY_ASSIGN(const std::int64_t seed, integer("seed", 0, kSeedMax));
  settings.seed = static_cast<std::uint64_t>(seed);
  settings.deadline_seed = settings.seed + 4;
  if (!text("ddl-seed").empty()) {
    TRY_ASSIGN(const std::int64_t other, integer("ddl-seed", 0, kSeedMax));
    settings.deadline_seed = static_cast<std::uint64_t>(other);
  }
  TRY_ASSIGN(settings.gap_s, number("lam", 0, kYear_s));
  TRY_ASSIGN(settings.deadline_min, number("min-ddl", 0, 1e6));
  TRY_ASSIGN(settings.deadline_max, number("max-ddl", 0, 1e6));
  if (settings.deadline_min > settings.deadline_max) {
    return invalid("option 'min-ddl' is above 'max-ddl'");
  }
  TRY_ASSIGN(settings.best_effort, number("best-effort", 0, 1));
  TRY_ASSIGN(const std::int64_t gpus, integer("max-gpus", 1, kGpusMax));
  settings.gpus_max = static_cast<int>(gpus);
  settings.profiles = text("profiles");
  settings.gpu_type = text("gpu-type");
  if (settings.profiles.empty()) {
    return invalid(
        "option 'profiles': name the file or folder with the speeds of resnet50, vgg16, "
        "inception3, gpt2, bert and deepspeech2; ElasticFlow's throughputs_A100 has them");
  }
  return settings;
}

// One seeded stream for each property, and the draws in the published order, so that the same seed
// gives the published generator's jobs. Deadlines and best effort, which that one draws from a
// stream without a seed, have a fifth.
class Draws {
 public:
  explicit Draws(const Settings& settings)
      : settings_(settings),
        kinds_(settings.seed),
        gaps_(settings.seed + 1),
        durations_(settings.seed + 2),
        sizes_(settings.seed + 3),
        deadlines_(settings.deadline_seed) {}

  int gpus() {
    const double place = sizes_.uniform(0, 1);
    int gpus = 1;
    if (place >= 0.83) gpus = 2;
    if (place > 0.86) gpus = 4;
    if (place > 0.89) gpus = 8;
    if (place > 0.99) gpus = 16;
    return std::min(gpus, settings_.gpus_max);
  }

  const ElasticFlowKind& kind() {
    return kElasticFlowKinds[kinds_.below(std::uint32_t{kElasticFlowKinds.size()})];
  }

  double duration_s() {
    const bool is_long = durations_.random() >= 0.8;
    const double exponent = is_long ? durations_.uniform(2.5, 4) : durations_.uniform(1, 2.5);
    return 60 * std::pow(10, exponent);
  }

  double gap_s() {
    return settings_.gap_s > 0 ? -std::log(1.0 - gaps_.random()) * settings_.gap_s : 0;
  }

  // How long after submission, in whole seconds.
  double deadline_s(double duration_s) {
    return std::trunc(deadlines_.uniform(settings_.deadline_min, settings_.deadline_max) *
                      duration_s);
  }

  bool best_effort() { return deadlines_.uniform(0, 1) < settings_.best_effort; }

 private:
  const Settings& settings_;
  PythonRandom kinds_;
  PythonRandom gaps_;
  PythonRandom durations_;
  PythonRandom sizes_;
  PythonRandom deadlines_;
};

Time whole_seconds(double time_s) {
  return Time(std::chrono::seconds(static_cast<std::int64_t>(time_s)));
}

Result<double> speed_of(const SpeedProfiles& profiles, const Settings& settings,
                        const ElasticFlowKind& kind, int gpus) {
  const SpeedCurve* curve = profiles.find(kind.model, kind.batch_size, settings.gpu_type);
  if (curve != nullptr) {
    const auto point = std::ranges::find(curve->points, gpus, &SpeedCurve::Point::gpus);
    if (point != curve->points.end()) return point->iterations_per_s;
  }
  return invalid(fmt::format("{}: has no speed of {} with batch {} on {} GPUs", settings.profiles,
                             kind.model, kind.batch_size, gpus));
}

// The published trace has whole seconds and iterations; what is drawn is cut down to them last.
Result<JobSpec> make_job(Draws& draws, double submit_s, const SpeedProfiles& profiles,
                         const Settings& settings, WorkloadBuilder& builder) {
  JobSpec job;
  job.gpus = draws.gpus();
  const ElasticFlowKind& kind = draws.kind();
  const double duration_s = draws.duration_s();
  TRY_ASSIGN(const double speed, speed_of(profiles, settings, kind, job.gpus));
  job.model = builder.name_id(kind.model);
  job.batch_size = kind.batch_size;
  job.submitted = whole_seconds(submit_s);
  job.iterations = std::max(1.0, std::trunc(duration_s * speed));
  job.iteration_s = std::trunc(duration_s) / job.iterations;
  TRY(check_work(job.iterations, job.iteration_s));
  job.start_cost = elasticflow_start_cost(kind.model);
  const double deadline_s = submit_s + draws.deadline_s(duration_s);
  if (!draws.best_effort()) job.deadline = whole_seconds(deadline_s);
  if (deadline_s > kTimeMax_s) {
    return invalid("the jobs go on for more than 100 years; ask for fewer, or a smaller lam");
  }
  return job;
}

Result<SpeedProfiles> read_settled_profiles(Settings& settings) {
  TRY_ASSIGN(SpeedProfiles profiles, read_profiles(settings.profiles));
  TRY_ASSIGN(settings.gpu_type, profiles.choose_type(settings.gpu_type));
  return profiles;
}

Result<Workload> make(const GeneratorValues& values) {
  TRY_ASSIGN(Settings settings, read_settings(values));
  TRY_ASSIGN(const SpeedProfiles profiles, read_settled_profiles(settings));
  Draws draws(settings);
  WorkloadBuilder builder("elasticflow");
  double submit_s = 0;
  for (std::int64_t i = 0; i < settings.jobs; ++i) {
    if (i > 0) submit_s += draws.gap_s();
    TRY_ASSIGN(JobSpec job, make_job(draws, submit_s, profiles, settings, builder));
    job.name = fmt::format_int(i).str();
    TRY(builder.add(std::move(job)));
  }
  Workload workload = std::move(builder).finish(0);
  TRY(make_elastic(profiles, settings.gpu_type, workload.name, workload));
  return workload;
}

}  // namespace

const GeneratorEntry kElasticFlowGenerator = {
    .generator = {.name = "elasticflow",
                  .summary = "the jobs of ElasticFlow's generator, seed by seed, with deadlines; "
                             "needs speed profiles",
                  .options = kOptions},
    .make = make};

}  // namespace orrery
