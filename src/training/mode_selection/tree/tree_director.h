#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "training/sync/director.h"

namespace orrery {

// What links carried lately, in bytes a second: that of the parameter server which had most to do,
// and what those of workers may carry. 0 for a rate that a link may carry: it has no limit.
struct LinkLook {
  Time at{};
  double in = 0, out = 0;          // over the parameter server's link
  double may_in = 0, may_out = 0;  // what that may carry
  double gradient_bytes = 0;       // of a whole gradient
  double parameter_bytes = 0;      // of what a worker gets for a task
  double part = 1;                 // of either, what goes over that link
  struct Worker {
    WorkerId worker{};
    double in = 0, out = 0;  // what its link may carry
  };
  std::vector<Worker> workers{};
};

// All constants are ours.
struct TreeDirectorOptions {
  // The link is overloaded if this much of it is used in that many looks in a row. In a mode that
  // waits for all, parameters, computing and gradients alternate, so that no direction is ever used
  // for long. There the sum of both counts: the part of the time in which all wait for the link.
  double limit = 0.9, limit_alternating = 0.6;
  int looks = 2;
  double watched = 0.6;  // below this part of the limit nothing is noted: that costs too
  // A tree ends when less than this part of the limit would flow without it in that many looks.
  double relaxed = 0.78;
  int relaxed_looks = 5;
  double planned = 0.9;  // of every link, what a tree may be planned to use
  double gain_predicted = 0.05;
  // It stays if samples a second are more by this part over as long a stretch of time as before it:
  // not shorter than either of these.
  double gain_least = 0.03;
  int try_out_updates = 6;
  Duration try_out = std::chrono::seconds(3);
  Duration pause = std::chrono::seconds(30);  // until another try after one that did not help;
                                              // twice as long after each
  double straggles = 1.5;                     // tasks take that many times as long as most
  // In modes that wait for all, children get parameters from their parents too: a tree relieves
  // both directions.
  bool hands_on_parameters = false;
};

// Why a tree came or went.
struct TreeNote {
  Time at{};
  std::string reason{};
};

// Adds a tree to the modes of another director while the parameter server's link is overloaded, and
// otherwise passes on what both sides say. It never changes a mode that has parents already, nor
// one that cannot merge (a ring, LGC).
//
// A tree is judged by the samples a second that come of it (tree_choice.h says which tree). It ends
// when it is not needed any more, and when another rule is in force, whose rhythm is not the one it
// was tried in. It is replanned when a worker joins or leaves, or a parent becomes a straggler.
//
// The inner director sees a merged task without its waiting for the parent (worker_times.h).
class TreeDirector : public Director {
 public:
  // About once a second. What is decided shows in the next direct().
  virtual void on_links(const LinkLook& look) = 0;
  virtual std::span<const TreeNote> notes() const = 0;
};

std::unique_ptr<TreeDirector> make_tree_director(std::unique_ptr<Director> inner,
                                                 const TreeDirectorOptions& options = {});

}  // namespace orrery
