#pragma once

#include <cstdint>
#include <vector>

#include "model/view.h"

namespace orrery {

// A job's place in line: the smaller key goes first, and among equals the smaller ticket.
struct Rank {
  double key = 0;
  std::int64_t ticket = 0;

  bool operator==(const Rank&) const = default;
  // By hand, because the comparison the compiler makes asks of every key whether it is a number.
  friend bool operator<(const Rank& a, const Rank& b) {
    return a.key < b.key || (a.key == b.key && a.ticket < b.ticket);
  }
  friend bool operator>(const Rank& a, const Rank& b) { return b < a; }
  friend bool operator<=(const Rank& a, const Rank& b) { return !(b < a); }
  friend bool operator>=(const Rank& a, const Rank& b) { return !(a < b); }
};

// The order of jobs: the only thing in which fifo, sjf, srtf, srsf, las and gittins differ.
//
// The rank of a waiting job must stay as it is until refresh() names the job. The rank of a running
// job may get better at any time, but worse only when refresh() names it.
class Order {
 public:
  virtual ~Order() = default;

  virtual Rank rank(const View& view, JobId job) const = 0;

  // Orders running jobs of one size as their ranks do, but stays the same while they run, until
  // refresh() names them.
  virtual Rank standing(const View& view, JobId job) const { return rank(view, job); }

  // True if the ranks of running jobs, too, change only when refresh() names them.
  virtual bool is_settled() const { return false; }

  // Called once for each job, before its first rank().
  virtual void arrived(const View& view, JobId job);
  // The plan lets it run, or stops it; in the order of the line, and the reverse of it.
  virtual void started(const View& view, JobId job);
  virtual void stopped(const View& view, JobId job);
  // Called at the start of each plan; names the jobs whose rank got worse or, waiting, changed.
  virtual void refresh(const View& view, std::vector<JobId>& changed);
  // When refresh() will have something to say if nothing happens before.
  virtual Time next_change(const View& view);
};

}  // namespace orrery
