#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "training/colocation/server_book.h"

namespace orrery {

// What a task of a new job asks for.
struct TaskRequest {
  bool makes_updates = false;
  Load limit{};
};

// On which server a task is, and what it may use there.
struct TaskPlace {
  ServerId server{};
  Load limit{};
};

// Where a job's tasks are, and what its coming changes for others.
struct Admission {
  std::vector<TaskPlace> places{};
  std::vector<LimitChange> changes{};
};

// What a job reports every few seconds.
struct JobReport {
  bool waits_for_all = true;
  double left_s = 0;             // 0: not known (any more)
  std::vector<double> task_s{};  // by task, of those it did since the last report; 0: none
  // Since the last report: gradients a second over those of SSGD (0: not known), and what all tasks
  // that make updates used together.
  double rate_ratio = 0;
  Load used{};
};

struct SharedServersOptions {
  // True if limits move between jobs and a looser mode may be refused. Otherwise every mode is
  // granted, and each job keeps to its first limits.
  bool considers = true;
  double least_gain = 0.1;   // of the time left, for a mode without more than its limits
  double least_share = 0.1;  // of a request, without which a job is not taken in
  // A limit of which all is used delays every gradient, so a task that makes updates needs more
  // than it uses: it is to be busy for this share of its limit.
  double busy_most = 0.7;
  BookOptions book{};
};

// The servers that several runs share: where a job's tasks go, what each may use, and how that
// changes while they run. Knows nothing of processes and sockets. Everything a run says is checked:
// what makes no sense is refused, and changes nothing.
class SharedServers {
 public:
  SharedServers(std::span<const Load> capacities, const SharedServersOptions& options);

  // Tasks that make updates go where the fullest server is as empty as can be, the others one after
  // the other where it is emptiest. A job that finds less than it requests gets what is left, in
  // proportion; a server without a rate for its link does not limit it. What was granted to others
  // so far is no reason to have less: it is considered again beside the new job.
  Result<Admission> admit(JobId job, std::span<const TaskRequest> requests);
  // What cuts did to a job, and what updates cost it, is learned from what it reports. Every few
  // reports its own grant is considered again: what others can spare changes.
  Result<std::vector<LimitChange>> report(JobId job, const JobReport& report);
  // Limits are enforced, so a mode that keeps to its own costs others nothing. Limits move for what
  // it gains beyond that, if it is more than others lose (SharedServerBook::consider). Refused is
  // what gains too little either way, and any job that has lent.
  Result<Consideration> ask(const LooserMode& request);
  // Both: limits to be enforced from now on, none of them of a job that left.
  std::vector<LimitChange> give_back(JobId job);
  std::vector<LimitChange> leave(JobId job);

  const SharedServerBook& book() const { return book_; }
  bool considers() const { return options_.considers; }

 private:
  struct Member {
    std::vector<Load> first{};            // limits
    std::vector<double> whole_s{};        // of a task while nothing was taken from it; 0: not seen
    int reports = 0;                      // since limits were last moved
    int asked_before = 0;                 // reports since its request was last considered
    std::optional<LooserMode> request{};  // that was granted, until it is back in SSGD
  };
  using Limits = std::map<std::pair<JobId, int>, Load>;
  Limits limits() const;
  std::vector<LimitChange> changes_since(const Limits& before);
  Load makers_limit(JobId job) const;
  Consideration consider_more(const LooserMode& request);
  Consideration consider(const LooserMode& request);
  Result<BookedJob> place(JobId job, std::span<const TaskRequest> requests) const;
  std::vector<LimitChange> reconsider(JobId job);
  std::vector<std::size_t> find_servers(std::span<const TaskRequest> requests) const;
  double own_rate(const LooserMode& request) const;
  void learn(const Member& member, const JobReport& report, BookedJob& job) const;

  SharedServersOptions options_;
  std::vector<Load> capacities_;
  SharedServerBook book_;
  std::map<JobId, Member> members_{};
};

}  // namespace orrery
