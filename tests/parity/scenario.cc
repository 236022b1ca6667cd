#include "parity/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <sstream>

#include "base/random.h"
#include "model/duration_text.h"
#include "scheduling/prediction/host_need.h"
#include "simulation/testing/random_workload.h"

namespace orrery {
namespace {

JobRequest request_of(Random& random, const Workload& workload, const JobSpec& spec) {
  JobRequest request;
  request.argv = {"train"};
  request.name = spec.name;
  request.user = fmt::format("user{}", random.between(0, 2));
  request.gpus = spec.gpus;
  request.cpu_milli = spec.cpu_milli;
  request.memory_bytes = spec.memory_bytes;
  request.gpu_type = workload.name_of(spec.gpu_type);
  request.expected = from_seconds(spec.duration_s());
  request.start_cost = spec.start_cost;
  request.process_per_gpu = random.uniform() < 0.2;
  if (spec.deadline && *spec.deadline > spec.submitted) {
    request.deadline = *spec.deadline - spec.submitted;
    request.deadline_is_soft = spec.deadline_kind == DeadlineKind::Soft;
  }
  return request;
}

Scenario scenario_of(Random& random, const Cluster& machines, const Workload& workload) {
  Scenario scenario{.machines = machines};
  const Time first = workload.jobs.front().submitted;
  for (const JobSpec& spec : workload.jobs) {
    scenario.submissions.push_back(
        {.at = Time(spec.submitted - first), .request = request_of(random, workload, spec)});
  }
  return scenario;
}

void add_sensitivities(Random& random, Workload& workload) {
  for (int i = 0; i < 4; ++i) {
    Sensitivity sensitivity;
    sensitivity.cpu_milli = {1000, 2000, 4000, 8000};
    sensitivity.memory_bytes = {2'000'000'000, 8'000'000'000, 30'000'000'000};
    const double by_cpu = random.uniform();
    const double by_memory = random.uniform();
    for (std::size_t cpu = 0; cpu < sensitivity.cpu_milli.size(); ++cpu) {
      for (std::size_t memory = 0; memory < sensitivity.memory_bytes.size(); ++memory) {
        sensitivity.speed.push_back(0.2 + by_cpu * std::sqrt(static_cast<double>(cpu)) +
                                    by_memory * static_cast<double>(memory));
      }
    }
    sensitivity.ideal = knee(sensitivity);
    workload.sensitivities.push_back(std::move(sensitivity));
  }
  for (JobSpec& job : workload.jobs) {
    if (random.uniform() < 0.6) continue;
    job.cpu_milli = 0;
    job.memory_bytes = 0;
    job.sensitivity = static_cast<SensitivityId>(random.between(0, 3));
  }
}

bool is_misfit(const Decided& what) {
  using Code = Reason::Code;
  const Code code = what.reason.code;
  return (what.kind == EventKind::Rejected &&
          (code == Code::TooLarge || code == Code::NoSuchNode)) ||
         (what.kind == EventKind::Queued && code == Code::NotHere);
}

}  // namespace

Scenario plain_scenario(std::uint64_t seed) {
  Random random(seed);
  const Cluster machines = random_cluster(random);
  Workload workload = random_workload(random, machines, 24, random.uniform() < 0.5);
  add_curves_and_deadlines(random, workload);
  Scenario scenario = scenario_of(random, machines, workload);
  for (auto& [at, request] : scenario.submissions) {
    if (random.uniform() >= 0.5) continue;
    request.gpus_min = static_cast<int>(random.between(1, request.gpus));
    request.gpus_max = request.gpus + static_cast<int>(random.between(0, 6));
  }
  return scenario;
}

Scenario profiled_scenario(std::uint64_t seed) {
  Random random(seed);
  const Cluster machines = random_cluster(random);
  auto known =
      std::make_shared<Workload>(random_workload(random, machines, 24, random.uniform() < 0.5));
  add_curves_and_deadlines(random, *known);
  add_sensitivities(random, *known);
  Scenario scenario = scenario_of(random, machines, *known);
  for (std::size_t i = 0; i < scenario.submissions.size(); ++i) {
    scenario.submissions[i].request.model = std::to_string(i);
  }
  scenario.specs.profile = [known](Workload& workload, JobSpec& spec, const JobRequest& request) {
    if (workload.profiles.empty()) {
      workload.profiles = known->profiles;
      workload.curves = known->curves;
      workload.sensitivities = known->sensitivities;
    }
    const JobSpec& model = known->jobs[std::stoul(request.model)];
    spec.iterations = model.iterations;
    spec.iteration_s = model.iteration_s;
    spec.gpu_memory_bytes = model.gpu_memory_bytes;
    spec.profile = model.profile;
    spec.curve = model.curve;
    spec.sensitivity = model.sensitivity;
    spec.priority = model.priority;
  };
  return scenario;
}

ChosenPolicy choice_of(const std::string& policy) {
  std::istringstream words(policy);
  ChosenPolicy choice{.seed = 7};
  words >> choice.name;
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    choice.options[word.substr(0, equals)] = word.substr(equals + 1);
  }
  if (const auto round = choice.options.extract("round")) {
    choice.round = parse_duration(round.mapped()).value();
  }
  return choice;
}

std::string text(const Decision& decision) {
  const Decided& what = decision.what;
  std::string line =
      fmt::format("{:.9f} {} job {}", seconds(decision.time), to_string(what.kind), what.job);
  for (const auto& [node, gpus] : what.devices) line += fmt::format(" {}:{:x}", node, gpus);
  line += fmt::format(" cpus {} memory {} sharing {} group {} turn {} rate {:a} ready {:.9f}",
                      what.cpu_milli, what.memory_bytes, static_cast<int>(what.sharing), what.group,
                      what.position, what.iterations_per_s, seconds(what.ready));
  line += fmt::format(" left {:a} promised {:.9f} finished {:.9f} other {} {}", what.work_left,
                      seconds(what.promised), seconds(what.finished), what.reason_other,
                      text(what.reason));
  return line;
}

Workload workload_of(const Scenario& scenario) {
  Workload workload;
  NameIds names;
  for (const auto& [at, request] : scenario.submissions) {
    add_spec(workload, names, request, -1, at, scenario.specs);
  }
  return workload;
}

void Recording::write(const Event& event) {
  if (event.kind == EventKind::Submitted) return;
  events_.push_back(event);
  if (event.grant == nullptr) return;
  grants_.push_back(std::make_shared<const Grant>(*event.grant));
  events_.back().grant = grants_.back().get();
}

std::vector<Decision> in_common_terms(std::vector<Decision> decisions) {
  for (Decision& decision : decisions) {
    if (is_misfit(decision.what)) {
      decision.what = {.kind = EventKind::Rejected, .job = decision.what.job};
    }
  }
  const auto is_end = [](const Decision& decision) {
    return decision.what.kind == EventKind::Completed;
  };
  for (auto at = decisions.begin(); at != decisions.end();) {
    const auto other = std::find_if(at, decisions.end(), [&](const Decision& decision) {
      return !is_end(decision) || decision.time != at->time;
    });
    std::sort(at, other,
              [](const Decision& a, const Decision& b) { return a.what.job < b.what.job; });
    at = other == at ? at + 1 : other;
  }
  return decisions;
}

}  // namespace orrery
