#include "training/step_trace/step_recorder.h"

#include <algorithm>

namespace orrery {

void StepRecorder::gradient(const RecordedGradient& gradient) {
  gradients_[gradient.task] = gradient;
}

void StepRecorder::update(std::int64_t version, std::span<const std::int64_t> tasks) {
  std::vector<RecordedGradient> used;
  for (const std::int64_t task : tasks) {
    const auto found = gradients_.find(task);
    if (found == gradients_.end()) continue;
    used.push_back(found->second);
    gradients_.erase(found);
  }
  const bool whole = used.size() == tasks.size() && is_whole(version, used);
  // Tasks are numbered in their order, so what is much older than these was dropped.
  const auto newest = std::ranges::max_element(tasks);
  constexpr std::int64_t kKept = 64;
  if (newest != tasks.end()) {
    gradients_.erase(gradients_.begin(), gradients_.lower_bound(*newest - kKept * workers_));
  }
  if (!whole) {
    ++left_out_;
  } else if (kind_ == Kind::ParameterServer) {
    write(version, used, {});
  } else {
    sums_[version] = {.gradients = std::move(used), .done_s = {}};
  }
}

void StepRecorder::summed(std::int64_t version, int worker, double at_s) {
  const auto found = sums_.find(version);
  if (found == sums_.end()) return;
  Sum& sum = found->second;
  sum.done_s[worker] = at_s;
  const bool all = std::ranges::all_of(sum.gradients, [&](const RecordedGradient& each) {
    return sum.done_s.contains(each.worker);
  });
  if (!all) return;
  write(version, sum.gradients, sum.done_s);
  // An update that was given up has no end.
  left_out_ += std::distance(sums_.begin(), found);
  sums_.erase(sums_.begin(), std::next(found));
}

bool StepRecorder::is_whole(std::int64_t version, const std::vector<RecordedGradient>& gradients) {
  std::set<int> members;
  for (const RecordedGradient& gradient : gradients) {
    if (gradient.version + 1 != version) return false;
    members.insert(gradient.worker);
  }
  if (std::ssize(members) != workers_ || members.size() != gradients.size()) return false;
  if (members_.empty()) members_ = members;
  return members == members_;
}

void StepRecorder::write(std::int64_t version, const std::vector<RecordedGradient>& gradients,
                         const std::map<int, double>& summed_s) {
  fmt::memory_buffer out;
  for (const RecordedGradient& gradient : gradients) {
    const auto place =
        static_cast<int>(std::distance(members_.begin(), members_.find(gradient.worker)));
    const auto add = [&](OperationKind kind, double from_s, double to_s) {
      append_step_operation(out, {.step = version,
                                  .worker = place,
                                  .rank = place,
                                  .kind = kind,
                                  .start_s = from_s,
                                  .duration_s = std::max(0.0, to_s - from_s)});
    };
    if (kind_ == Kind::AllReduce) {
      const double done_s = summed_s.at(gradient.worker);
      add(OperationKind::Compute, gradient.ordered_s, gradient.arrived_s);
      add(OperationKind::GradientAllReduce, gradient.arrived_s, done_s);
      continue;
    }
    const double received_s = gradient.ordered_s + gradient.receive_s;
    const double computed_s = std::min(received_s + gradient.compute_s, gradient.arrived_s);
    add(OperationKind::ParameterReceive, gradient.ordered_s, received_s);
    add(OperationKind::Compute, received_s, computed_s);
    add(OperationKind::GradientSend, computed_s, gradient.arrived_s);
  }
  text_.append(out.data(), out.size());
  ++recorded_;
}

}  // namespace orrery
