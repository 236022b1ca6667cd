#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/ids.h"
#include "scheduling/policy/order/order.h"

namespace orrery {

// The jobs that wait, one line for each shape, and which lines are still to be asked in this plan.
// Every call costs at most the logarithm of a line's length or of the number of lines.
class WaitingLines {
 public:
  struct First {
    ShapeId shape{};
    JobId job = kNoJob;
    Rank rank;
    bool is_new = false;    // has not been asked before
    bool searched = false;  // searched for everywhere while it was the first
  };

  void resize(std::size_t shapes, std::size_t jobs);

  // Puts a job in line, or moves it if it is there already. True if it is now the first.
  bool add(ShapeId shape, JobId job, const Rank& rank);
  void remove_first(ShapeId shape);
  void remove(JobId job);  // from wherever it is
  // One that comes back is new again.
  void forget(JobId job) { jobs_[index(job)].was_first = false; }
  bool was_asked(JobId job) const { return jobs_[index(job)].was_first; }
  std::int64_t length(ShapeId shape) const { return lines_[index(shape)].length; }
  bool empty() const { return waiting_ == 0; }
  std::int64_t size() const { return waiting_; }
  bool waits(JobId job) const { return index(job) < jobs_.size() && jobs_[index(job)].waits; }
  // The `count` best of a line, in order.
  void best(ShapeId shape, std::size_t count, std::vector<std::pair<Rank, JobId>>& jobs) const;

  void ask(ShapeId shape);
  void ask_all();
  // It was searched for everywhere, in vain. Forgotten when the job is put in line again.
  void note_search(JobId job) { jobs_[index(job)].searched = true; }
  // The best-ranked first of all lines to be asked; nothing if there is none left.
  std::optional<First> next();
  void close(ShapeId shape);  // not to be asked again in this plan
  void close_all();

 private:
  struct Entry {
    Rank rank;
    JobId job = kNoJob;
    std::uint32_t version = 0;
  };
  struct Line {
    std::vector<Entry> heap;
    std::int64_t length = 0;
    bool asked = false;
  };
  struct Standing {
    std::uint32_t version = 0;  // an entry of another version is stale
    ShapeId shape{};
    bool waits = false;
    bool was_first = false;
    bool searched = false;
  };

  void drop_stale(Line& line);
  static bool behind(const Entry& a, const Entry& b) { return b.rank < a.rank; }

  std::vector<Line> lines_;
  std::vector<Standing> jobs_;
  std::vector<ShapeId> open_;  // lines to be asked
  std::int64_t waiting_ = 0;
};

}  // namespace orrery
