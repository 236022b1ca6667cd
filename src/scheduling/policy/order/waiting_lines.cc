#include "scheduling/policy/order/waiting_lines.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {

void WaitingLines::resize(std::size_t shapes, std::size_t jobs) {
  if (lines_.size() < shapes) lines_.resize(shapes);
  if (jobs_.size() < jobs) jobs_.resize(std::max(jobs, jobs_.size() + jobs_.size() / 2));
}

bool WaitingLines::add(ShapeId shape, JobId job, const Rank& rank) {
  Standing& standing = jobs_[index(job)];
  Line& line = lines_[index(shape)];
  ++standing.version;
  standing.searched = false;
  if (!standing.waits) {
    standing.waits = true;
    standing.shape = shape;
    ++line.length;
    ++waiting_;
  }
  line.heap.push_back({rank, job, standing.version});
  std::ranges::push_heap(line.heap, behind);
  drop_stale(line);
  return line.heap.front().job == job;
}

void WaitingLines::remove(JobId job) {
  if (index(job) >= jobs_.size()) return;
  Standing& standing = jobs_[index(job)];
  if (!standing.waits) return;
  standing.waits = false;
  ++standing.version;
  --lines_[index(standing.shape)].length;
  --waiting_;
}

void WaitingLines::remove_first(ShapeId shape) {
  Line& line = lines_[index(shape)];
  INVARIANT(!line.heap.empty(), "an empty line has no first");
  remove(line.heap.front().job);
  std::ranges::pop_heap(line.heap, behind);
  line.heap.pop_back();
}

void WaitingLines::drop_stale(Line& line) {
  while (!line.heap.empty() &&
         jobs_[index(line.heap.front().job)].version != line.heap.front().version) {
    std::ranges::pop_heap(line.heap, behind);
    line.heap.pop_back();
  }
}

void WaitingLines::best(ShapeId shape, std::size_t count,
                        std::vector<std::pair<Rank, JobId>>& jobs) const {
  const Line& line = lines_[index(shape)];
  const auto begin = static_cast<std::ptrdiff_t>(jobs.size());
  for (const Entry& entry : line.heap) {
    if (jobs_[index(entry.job)].version == entry.version) jobs.emplace_back(entry.rank, entry.job);
  }
  const auto found = static_cast<std::size_t>(std::ssize(jobs) - begin);
  const auto middle = jobs.begin() + begin + static_cast<std::ptrdiff_t>(std::min(found, count));
  std::partial_sort(jobs.begin() + begin, middle, jobs.end());
  jobs.erase(middle, jobs.end());
}

void WaitingLines::ask(ShapeId shape) {
  Line& line = lines_[index(shape)];
  if (line.asked) return;
  line.asked = true;
  open_.push_back(shape);
}

void WaitingLines::ask_all() {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].length > 0) ask(static_cast<ShapeId>(i));
  }
}

std::optional<WaitingLines::First> WaitingLines::next() {
  const Entry* best = nullptr;
  ShapeId best_shape{};
  for (std::size_t i = 0; i < open_.size();) {
    Line& line = lines_[index(open_[i])];
    drop_stale(line);
    if (line.heap.empty()) {
      line.asked = false;
      open_[i] = open_.back();
      open_.pop_back();
      continue;
    }
    if (best == nullptr || line.heap.front().rank < best->rank) {
      best = &line.heap.front();
      best_shape = open_[i];
    }
    ++i;
  }
  if (best == nullptr) return std::nullopt;
  Standing& standing = jobs_[index(best->job)];
  const First first{best_shape, best->job, best->rank, !standing.was_first, standing.searched};
  standing.was_first = true;
  return first;
}

void WaitingLines::close(ShapeId shape) {
  lines_[index(shape)].asked = false;
  std::erase(open_, shape);
}

void WaitingLines::close_all() {
  for (const ShapeId shape : open_) lines_[index(shape)].asked = false;
  open_.clear();
}

}  // namespace orrery
