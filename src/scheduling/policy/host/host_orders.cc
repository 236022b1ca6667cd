#include <algorithm>

#include "scheduling/policy/host/host_needs.h"
#include "scheduling/policy/order/orders.h"

namespace orrery {
namespace {

std::int64_t ticket_of(JobId job) { return static_cast<std::int64_t>(job); }

// Orders whose ranks move with time name every job whose rank may have got worse.
void name_running(const View& view, std::vector<JobId>& changed) {
  changed.insert(changed.end(), view.running.begin(), view.running.end());
}

// Least attained service without levels: time held x GPUs.
class Attained final : public Order {
 public:
  Rank rank(const View& view, JobId id) const override {
    return {seconds(view.job(id).attained_at(view.now)) * view.spec(id).gpus, ticket_of(id)};
  }
  void refresh(const View& view, std::vector<JobId>& changed) override {
    name_running(view, changed);
  }
};

// By how many times as long as alone the job will have taken, if it runs from now on. After Themis
// (NSDI '20), which serves the most delayed first; an option has it the other way round.
class FinishTimeFairness final : public Order {
 public:
  explicit FinishTimeFairness(const FtfOptions& options) : options_(options) {}

  void arrived(const View& view, JobId id) override {
    needs_.add(view, id);
    live_.push_back(id);
  }
  Rank rank(const View& view, JobId id) const override {
    const JobSpec& spec = view.spec(id);
    const CountedSpeed alone =
        options_.counted == CountedSpeed::Measured ? CountedSpeed::Measured : CountedSpeed::Fair;
    const double rho = (seconds(view.now - spec.submitted) +
                        counted_s(view, id, view.work_left(id), needs_, options_.counted)) /
                       counted_s(view, id, spec.iterations, needs_, alone);
    return {options_.least_delayed_first ? rho : -rho, ticket_of(id)};
  }
  void refresh(const View& view, std::vector<JobId>& changed) override {
    std::erase_if(live_, [&](JobId id) { return view.has_ended(id); });
    changed.insert(changed.end(), live_.begin(), live_.end());
  }

 private:
  const FtfOptions options_;
  HostNeeds needs_;
  std::vector<JobId> live_;
};

struct Totals {
  double gpus = 0;
  double cpu_milli = 0;
  double memory_bytes = 0;
};

Totals totals_of(const Cluster& cluster) {
  Totals totals;
  for (const Node& node : cluster.nodes) {
    if (!node.open) continue;
    totals.gpus += node.gpus;
    totals.cpu_milli += static_cast<double>(node.cpu_milli);
    totals.memory_bytes += static_cast<double>(node.memory_bytes);
  }
  return totals;
}

double part(double wanted, double total) { return total > 0 ? wanted / total : 0; }

// Dominant resource fairness over single jobs: whose largest share of the cluster is smallest.
class DominantShare final : public Order {
 public:
  void arrived(const View& view, JobId id) override {
    needs_.add(view, id);
    if (totals_.gpus == 0) totals_ = totals_of(*view.cluster);
  }
  Rank rank(const View& view, JobId id) const override {
    const HostShare& ideal = needs_[id].ideal;
    const double share =
        std::max({part(view.spec(id).gpus, totals_.gpus),
                  part(static_cast<double>(ideal.cpu_milli), totals_.cpu_milli),
                  part(static_cast<double>(ideal.memory_bytes), totals_.memory_bytes)});
    return {share, ticket_of(id)};
  }

 private:
  HostNeeds needs_;
  Totals totals_;
};

// After Tetris (SIGCOMM '14) and its use in Synergy (OSDI '22): the sum of the job's shares of the
// cluster times how long it will hold them.
class Tetris final : public Order {
 public:
  explicit Tetris(CountedSpeed counted) : counted_(counted) {}

  void arrived(const View& view, JobId id) override {
    needs_.add(view, id);
    if (totals_.gpus == 0) totals_ = totals_of(*view.cluster);
  }
  Rank rank(const View& view, JobId id) const override {
    const HostShare& ideal = needs_[id].ideal;
    const double left_s = counted_s(view, id, view.work_left(id), needs_, counted_);
    const double held =
        part(view.spec(id).gpus, totals_.gpus) * left_s +
        part(static_cast<double>(ideal.cpu_milli), totals_.cpu_milli) * left_s +
        part(static_cast<double>(ideal.memory_bytes), totals_.memory_bytes) * left_s;
    return {held, ticket_of(id)};
  }
  void refresh(const View& view, std::vector<JobId>& changed) override {
    name_running(view, changed);
  }

 private:
  const CountedSpeed counted_;
  HostNeeds needs_;
  Totals totals_;
};

}  // namespace

std::unique_ptr<Order> make_attained() { return std::make_unique<Attained>(); }
std::unique_ptr<Order> make_ftf(const FtfOptions& options) {
  return std::make_unique<FinishTimeFairness>(options);
}
std::unique_ptr<Order> make_drf() { return std::make_unique<DominantShare>(); }
std::unique_ptr<Order> make_tetris(CountedSpeed counted) {
  return std::make_unique<Tetris>(counted);
}

}  // namespace orrery
