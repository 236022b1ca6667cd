#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "live/agent/job_progress.h"
#include "live/agent/log_answers.h"
#include "live/agent/node_options.h"
#include "live/agent/order_gate.h"
#include "live/agent/processes.h"
#include "live/api/agent_words.h"
#include "live/job_runner/cpu_sets.h"

namespace orrery {

// The agent's head: what shall be on this node, what is, and what to do about it. No clock, no
// sockets, no threads: it acts when it is called, through Processes, and depends on the calls
// alone. `now` is boot_time() and never goes back.
//
// Only orders that OrderGate admits are taken, so a lost, doubled or late one changes nothing.
//
// A launch that the newest orders name and that was never here is started once every launch that
// holds its GPUs (unless both share) has left and none that is leaving has its CPUs. A launch that
// they do not name is stopped. An end is reported until the scheduler confirms it. A launch is
// started at most once.
//
// A StopOrder is handed on to the job once. LaunchReport::finished says if its work was done.
//
// The lease. A launch may run until U = (when the report was sent that the newest orders answer) +
// its node timeout, or + Orders::lease if it has none. A report is received after it was sent, so a
// scheduler that received it at R gives nothing beyond R + node timeout. At U this agent, or where
// it is dead the supervisor by itself, sends SIGTERM, and SIGKILL at U + grace. So at R + node
// timeout + grace + margin the launch does not run here, and its job may start elsewhere. The
// margin is for supervisors, the kernel and clocks. U is on disk before anything starts under it.
class NodeAgent {
 public:
  NodeAgent(NodeOptions options, Processes& processes, Duration now);

  // Takes over what an earlier agent left; first of all.
  Status adopt();

  void on_orders(const Orders& orders, Duration now);
  void on_process_change(Duration now);
  void note_progress(const LaunchName& name, const JobProgress& progress);
  void tick(Duration now);
  // Stops everything and starts nothing more. has_left() is true once all is over and reported.
  void leave(Duration now);
  bool has_left() const { return reported_leaving_; }

  // A report, if one is due. It must be sent now, as the lease counts from `now`.
  std::optional<Report> next_report(Duration now);
  // When tick() or next_report() want to be called at the latest, if nothing happens.
  Duration next_due(Duration now) const;

  const std::string& refused() const { return refused_; }  // why we may not join; empty: we may

 private:
  struct Known {
    Assignment wanted{};  // of one that was adopted: only what is needed to stop it
    LaunchReport report{};
    std::vector<int> cpus{};  // held, until it has ended
    bool named = false;       // by the newest orders
    bool stop_failed = false;
    JobEnd::Kind stop_why = JobEnd::Kind::Stopped;
    bool asked = false;         // where it could stop
    std::int64_t stop_at = -1;  // what it was ordered then
  };
  struct Held {
    std::uint64_t alone = 0;  // GPUs of launches that do not share them
    std::uint64_t shared = 0;
    int cpus_leaving = 0;
  };

  void renew(const Orders& orders, Duration sent, Duration now);
  void note_fault(const std::string& why, Duration now);
  void meet_other_log(const Orders& orders);
  Status forget_all();
  void refuse(std::string why);
  void apply(const std::vector<Assignment>& assignments);
  void forget(const std::vector<LaunchName>& names);
  void start_waiting(Duration now);
  Held held() const;
  bool fits(const Known& known, const Held& held) const;
  void start(Known& known, Duration now);
  void find_again(const LaunchName& name);
  void hold(const Processes::Found& found);
  void stop(Known& known, JobEnd::Kind why);
  void stop_all(JobEnd::Kind why);
  void hand_on(const StopOrder& order);
  void hear();
  void check_lease(Duration now);
  Duration until(const Known& known) const { return runs_until(lease_, known.wanted.node_timeout); }
  void end(Known& known, JobEnd end);
  Duration report_due() const;
  bool over(const LaunchName& name) const;
  void say(const std::string& line) const;

  NodeOptions options_;
  Processes& processes_;
  OrderGate gate_;
  CpuSets cpus_;
  LogAnswers logs_;
  std::map<LaunchName, Known> launches_{};
  std::vector<LaunchName> waiting_{};  // as the newest orders name them
  NodeOffer offer_;
  Lease lease_{};
  Duration lease_length_{};
  Duration faulty_until_{};  // at least
  bool silent_ = true;       // the lease is over: the scheduler has not answered
  Duration reported_at_{};
  bool changed_ = true;  // since the last report
  bool leaving_ = false;
  bool reported_leaving_ = false;
  std::string refused_{}, refuses_{};
};

}  // namespace orrery
