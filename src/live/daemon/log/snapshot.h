#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "live/daemon/log/book.h"
#include "live/daemon/rights/disclosure.h"
#include "scheduling/scheduler/state.h"

namespace orrery {

class LogLine;

// A book and what the scheduling rounds keep of its jobs, as text: one JSON object a line
// (docs/formats/ snapshot.md). Jobs that ended longer than `keep` before `now` are left out.
class Snapshots {
 public:
  // With a viewer: as far as it may see the state, without submission keys, tokens and members.
  static std::string write(const Book& book, const State& state, Time now, Duration keep,
                           const Viewer* viewer = nullptr);

  // Into an empty book. `restore` is called with each job in order, as it was.
  using Restore = std::function<void(Job job)>;
  static Status read(std::string_view text, Book& book, const Restore& restore);

 private:
  static Status read_header(const LogLine& line, Book& book);
  static Status read_node(const LogLine& line, Book& book);
  static Status read_rights(const LogLine& line, Book& book);
  static Status read_job(const LogLine& line, Book& book, const Restore& restore);
};

}  // namespace orrery
