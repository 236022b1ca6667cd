#include "training/twin/twin_cluster.h"

#include <algorithm>
#include <memory>

#include "training/mode_selection/director_by_name.h"
#include "training/twin/twin_run.h"

namespace orrery {
namespace {

class Cluster {
 public:
  explicit Cluster(const TwinClusterSetup& setup) : setup_(setup), book_(setup.book) {
    for (std::size_t i = 0; i < setup.servers.size(); ++i) {
      book_.add_server(ServerId{static_cast<int>(i)}, setup.servers[i]);
    }
  }

  Result<TwinClusterResult> run();

  bool may(int job, const GrantRequest& request);
  void given_back(int job, Time now);

 private:
  void update_book(int job, Time now);
  void enforce(const std::vector<LimitChange>& changes, Time now);

  const TwinClusterSetup& setup_;
  SharedServerBook book_;
  std::vector<std::unique_ptr<TwinRun>> runs_{};
  TwinClusterResult result_{};
};

class Grant final : public ModeGrant {
 public:
  Grant(Cluster& cluster, int job) : cluster_(cluster), job_(job) {}
  GrantAnswer may(const GrantRequest& request) override {
    return cluster_.may(job_, request) ? GrantAnswer::Yes : GrantAnswer::No;
  }
  void given_back(Time now) override { cluster_.given_back(job_, now); }

 private:
  Cluster& cluster_;
  int job_;
};

// What the book has to know of a job, as things are now. Workers are tasks 0 .. N-1, the shards N.
void Cluster::update_book(int job, Time now) {
  const TwinJob& facts = setup_.jobs[static_cast<std::size_t>(job)];
  const TwinRun& run = *runs_[static_cast<std::size_t>(job)];
  const Mode& mode = run.conductor().mode();
  const int workers = static_cast<int>(facts.workers.size());
  BookedJob booked{.job = JobId{job}};
  booked.waits_for_all = mode.rule == SyncRuleKind::Static && (mode.x <= 0 || mode.x >= workers);
  const auto limit = static_cast<double>(facts.setup.conductor.samples_limit);
  const double pace = seconds(now) > 0 ? run.samples() / seconds(now) : 0;
  booked.left_s = pace > 0 ? std::max(0.0, limit - run.samples()) / pace : 0;
  for (int i = 0; i < workers; ++i) {
    const TwinTask& task = facts.workers[static_cast<std::size_t>(i)];
    booked.tasks.push_back(
        {.number = i, .server = task.server, .limit = task.limit, .task_s = run.task_s(i)});
  }
  booked.tasks.push_back({.number = workers,
                          .server = facts.shards.server,
                          .makes_updates = true,
                          .limit = facts.shards.limit});
  book_.put(booked);
}

void Cluster::enforce(const std::vector<LimitChange>& changes, Time now) {
  const auto part = [](double now_has, double began_with) {
    return began_with > 0 ? now_has / began_with : 1;
  };
  for (const LimitChange& change : changes) {
    const auto job = static_cast<std::size_t>(change.job);
    const TwinJob& facts = setup_.jobs[job];
    const bool shards = change.task == static_cast<int>(facts.workers.size());
    const Load& began =
        shards ? facts.shards.limit : facts.workers[static_cast<std::size_t>(change.task)].limit;
    const double cpu = part(change.limit.cpu, began.cpu);
    const double link =
        std::min(part(change.limit.in, began.in), part(change.limit.out, began.out));
    shards ? runs_[job]->set_shards(cpu, link, now)
           : runs_[job]->set_worker(change.task, cpu, link, now);
    ++result_.limits_moved;
  }
}

bool Cluster::may(int job, const GrantRequest& request) {
  ++result_.asked;
  if (!setup_.considers) {
    ++result_.granted;
    return true;
  }
  for (int i = 0; i < static_cast<int>(runs_.size()); ++i) {
    if (book_.find(JobId{i}) != nullptr) update_book(i, request.now);
  }
  const Consideration decided = book_.consider(
      {.job = JobId{job}, .rate_ratio = request.rate_ratio, .time_saved = request.time_saved});
  if (!decided.granted) return false;
  ++result_.granted;
  enforce(decided.changes, request.now);
  return true;
}

void Cluster::given_back(int job, Time now) { enforce(book_.withdraw(JobId{job}), now); }

Result<TwinClusterResult> Cluster::run() {
  for (std::size_t i = 0; i < setup_.jobs.size(); ++i) {
    const TwinJob& job = setup_.jobs[i];
    INVARIANT(job.workers.size() == job.setup.workers.size(), "every worker is on a server");
    DirectorOptions options{.workers = static_cast<int>(job.workers.size()),
                            .architecture = job.setup.conductor.architecture,
                            .samples_limit = job.setup.conductor.samples_limit,
                            .blocks = job.setup.conductor.blocks};
    options.grant = std::make_shared<Grant>(*this, static_cast<int>(i));
    TRY_ASSIGN(auto director, director_by_name(job.mode, 0, std::move(options)));
    runs_.push_back(std::make_unique<TwinRun>(job.setup, std::move(director)));
  }
  result_.jobs.resize(runs_.size());
  for (int i = 0; i < static_cast<int>(runs_.size()); ++i) update_book(i, Time{});
  for (const auto& run : runs_) run->begin();
  std::vector<std::size_t> going(runs_.size());
  for (std::size_t i = 0; i < going.size(); ++i) going[i] = i;
  while (!going.empty()) {
    const auto first =
        std::ranges::min_element(going, {}, [&](std::size_t job) { return runs_[job]->next(); });
    const std::size_t job = *first;
    if (runs_[job]->step()) continue;
    going.erase(first);
    result_.jobs[job] = runs_[job]->conclude();
    enforce(book_.remove(JobId{static_cast<int>(job)}),
            time_from_seconds(result_.jobs[job].wall_s));
  }
  return std::move(result_);
}

}  // namespace

Result<TwinClusterResult> run_twin_cluster(const TwinClusterSetup& setup) {
  return Cluster(setup).run();
}

}  // namespace orrery
