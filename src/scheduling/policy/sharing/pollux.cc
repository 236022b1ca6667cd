#include "scheduling/policy/sharing/pollux.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace orrery {
namespace {

constexpr double kLeast = 1e-3;  // added to a speedup, which may be nothing

// Runs jobs at the batch size that gets them on fastest.
class AdaptiveTrainer final : public Trainer {
 public:
  AdaptiveTrainer(const Workload& workload, std::map<std::string, Goodput> goodputs)
      : workload_(workload), goodputs_(std::move(goodputs)) {}

  const Goodput* goodput(const JobSpec& job) const {
    if (job.curve == kNoCurve || job.model == kNoName) return nullptr;
    while (by_name_.size() <= index(job.model)) {
      const auto found = goodputs_.find(workload_.names[by_name_.size()]);
      by_name_.push_back(found == goodputs_.end() ? nullptr : &found->second);
    }
    return by_name_[index(job.model)];
  }

  double iterations_per_s(const JobSpec& job, std::span<const NodeShare> devices,
                          double work_left) const override {
    return speed(job, static_cast<int>(devices.size()), gpu_count(devices), work_left);
  }

  double speed(const JobSpec& job, int nodes, int gpus, double work_left) const {
    const Goodput* model = goodput(job);
    if (model == nullptr) return 0;
    const double part_done = 1 - work_left / job.iterations;
    const std::size_t epoch = model->epoch_at(job.batch_size, part_done);
    const Question question{job.model, job.batch_size, nodes, gpus, epoch};
    const auto [known, is_new] = answers_.try_emplace(question, 0);
    if (is_new) {
      known->second = model->best(nodes, gpus, job.batch_size, epoch).iterations_per_s;
    }
    return known->second;
  }

 private:
  using Question = std::tuple<NameId, int, int, int, std::size_t>;

  const Workload& workload_;
  const std::map<std::string, Goodput> goodputs_;
  mutable std::vector<const Goodput*> by_name_;
  mutable std::map<Question, double> answers_;
};

class Pollux final : public ShareRule {
 public:
  Pollux(const Workload& workload, std::map<std::string, Goodput> goodputs)
      : has_trainer_(!goodputs.empty()), trainer_(workload, std::move(goodputs)) {}

  const Trainer* trainer() const override { return has_trainer_ ? &trainer_ : nullptr; }

  // Any number of GPUs on one node, and whole nodes beyond.
  ScalingCurve options(const View& view, Packer& packer, JobId job) override {
    const JobSpec& spec = view.spec(job);
    const Goodput* model = trainer_.goodput(spec);
    if (model == nullptr) return options_of(view, packer, job);
    const int node = packer.current().gpus_per_node_max();
    const int most = std::min(packer.current().gpus_total(), model->replicas_max());
    std::vector<GpuOption> options;
    for (int gpus = 1; gpus <= std::max(most, spec.gpus); ++gpus) {
      const bool offered = gpus <= node || gpus % node == 0;
      if (gpus != spec.gpus && (!offered || gpus > most)) continue;
      const ShapeId shape = packer.intern(shape_on(spec, gpus));
      const double speed = trainer_.speed(spec, nodes_for(packer, gpus), gpus, spec.iterations);
      if (speed > 0 && !packer.infeasible(shape)) options.push_back({gpus, gpus, speed, shape});
    }
    return options.empty() ? options_of(view, packer, job) : ScalingCurve(std::move(options));
  }

  void refresh(const View& view, const Packer& packer, Sharer& one) override {
    const JobSpec& spec = view.spec(one.job);
    for (int option = 1; option < one.curve.size(); ++option) {
      const int gpus = one.curve[option].gpus;
      const double speed = trainer_.speed(spec, nodes_for(packer, gpus), gpus, one.work_left);
      if (speed > 0) one.curve.set_speed(option, speed);
    }
  }

  void divide(std::span<Sharer> sharers, int gpus) override {
    const auto width = static_cast<std::size_t>(gpus) + 1;
    const int fair = (gpus + static_cast<int>(sharers.size()) - 1) /
                     std::max(1, static_cast<int>(sharers.size()));
    least_.assign(width, 0);
    chosen_.assign(width * sharers.size(), 0);
    for (std::size_t i = 0; i < sharers.size(); ++i) {
      add(sharers[i], fair, {chosen_.data() + width * i, width});
    }
    auto left = static_cast<std::size_t>(gpus);
    for (std::size_t i = sharers.size(); i-- > 0;) {
      sharers[i].option = chosen_[width * i + left];
      left -= static_cast<std::size_t>(sharers[i].gpus());
    }
  }

 private:
  static int nodes_for(const Packer& packer, int gpus) {
    const int node = packer.current().gpus_per_node_max();
    return (gpus + node - 1) / node;
  }

  static double fair_speed(const Sharer& one, int fair) {
    return one.curve[std::max(1, one.curve.within(fair))].speed;
  }

  // By how much a change is worth less: the part of its life the job would not have spent starting.
  static double after_restart(const Sharer& one) {
    if (!one.has_run) return 1;
    const double life_s = one.age_s + one.start_s;
    if (life_s <= 0) return 1;
    return std::max(0.0, one.age_s - one.restarts * one.start_s) / life_s;
  }

  static double cost(const Sharer& one, int option, double fair) {
    if (option == 0) return 1 / kLeast;
    const double speedup = one.curve[option].speed / fair;
    return 1 / (speedup * (option == one.held ? 1 : after_restart(one)) + kLeast);
  }

  // The least that all jobs so far cost with each number of GPUs, one more job counted in. Of
  // equals, what a job holds comes first, then fewer GPUs.
  void add(const Sharer& one, int fair, std::span<std::int16_t> chosen) {
    next_.assign(least_.size(), std::numeric_limits<double>::infinity());
    const double fair_one = fair_speed(one, fair);
    const auto offer = [&](int option) {
      const double own = cost(one, option, fair_one);
      const auto gpus = static_cast<std::size_t>(one.curve[option].gpus);
      for (std::size_t g = gpus; g < least_.size(); ++g) {
        const double sum = least_[g - gpus] + own;
        if (sum < next_[g]) {
          next_[g] = sum;
          chosen[g] = static_cast<std::int16_t>(option);
        }
      }
    };
    offer(one.held);
    // How it scales beyond twice what it has run on is not known.
    const int most = std::max(2 * one.most_held, one.curve[1].gpus);
    for (int option = 0; option < one.curve.size(); ++option) {
      if (option != one.held && one.curve[option].gpus <= most) offer(option);
    }
    least_.swap(next_);
  }

  const bool has_trainer_;
  AdaptiveTrainer trainer_;
  std::vector<double> least_;
  std::vector<double> next_;
  std::vector<std::int16_t> chosen_;
};

}  // namespace

std::unique_ptr<ShareRule> make_pollux(const Workload& workload,
                                       std::map<std::string, Goodput> goodputs) {
  return std::make_unique<Pollux>(workload, std::move(goodputs));
}

}  // namespace orrery
