#include "scheduling/policy/order/preemption_candidates.h"

#include <algorithm>
#include <bit>

namespace orrery {
void PreemptionCandidates::begin(const Packer& packer) {
  gain_.resize(static_cast<std::size_t>(packer.current().node_count()), 0);
}

void PreemptionCandidates::add(const View& view, const Order& order, JobId job) {
  remove(job);
  entries_.open(job) = {order.standing(view, job), view.spec(job).gpus, ++number_};
  pending_.push_back({job, number_});
  ++count_;
  constexpr std::size_t kFew = 64;
  if (pending_.size() > 2 * count_ + kFew) {
    std::erase_if(pending_, [this](const Pending& one) { return !is_pending(one); });
  }
}

void PreemptionCandidates::remove(JobId job) {
  if (!has(job)) return;
  const Entry& entry = entries_[job];
  if (entry.pending == 0) {
    const auto sequence = std::ranges::find(sequences_, entry.gpus, &Sequence::gpus);
    sequence->jobs.erase(Key(entry.standing, job));
  }
  entries_.close(job);
  --count_;
}

void PreemptionCandidates::enter_sequences() {
  for (const Pending& one : pending_) {
    if (!is_pending(one)) continue;
    Entry& entry = entries_[one.job];
    entry.pending = 0;
    auto sequence = std::ranges::find(sequences_, entry.gpus, &Sequence::gpus);
    if (sequence == sequences_.end()) {
      sequences_.push_back({.gpus = entry.gpus, .jobs = {}});
      sequence = sequences_.end() - 1;
    }
    sequence->jobs.emplace(entry.standing, one.job);
  }
  pending_.clear();
}

// Calls visit(job) for the candidates that rank behind, the last in line first, until it returns
// true.
template <class Visit>
void PreemptionCandidates::for_each_from_the_last(const View& view, const Order& order,
                                                  const Rank& rank, Visit visit) {
  enter_sequences();
  struct Head {
    Rank rank;
    std::set<Key>::const_reverse_iterator next, end;
    bool operator<(const Head& other) const { return rank < other.rank; }
  };
  std::vector<Head> heads;
  for (const Sequence& sequence : sequences_) {
    if (sequence.jobs.empty()) continue;
    const auto next = sequence.jobs.rbegin();
    heads.push_back({order.rank(view, std::get<JobId>(*next)), next, sequence.jobs.rend()});
  }
  while (!heads.empty()) {
    const auto last = std::ranges::max_element(heads, {}, &Head::rank);
    if (!(rank < last->rank) || visit(std::get<JobId>(*last->next))) return;
    if (++last->next == last->end) {
      *last = heads.back();
      heads.pop_back();
    } else {
      last->rank = order.rank(view, std::get<JobId>(*last->next));
    }
  }
}

bool PreemptionCandidates::find(const View& view, const Order& order, Packer& packer,
                                const Request& request, Devices& devices) {
  if (!packer.needs_one_node(request.shape)) {
    return clear_many(view, order, packer, request, devices);
  }
  const Ledger& ledger = packer.current();
  const int gpus = packer.shape(request.shape).gpus;
  bool found = false;
  gained_.clear();
  for_each_from_the_last(view, order, request.rank, [&](JobId job) {
    for (const NodeShare& share : view.job(job).held.devices) {
      int& gain = gain_[index(share.node)];
      if (gain == 0) gained_.push_back(share.node);
      const int before = gain + ledger.free_count(static_cast<int>(share.node));
      gain += std::popcount(share.gpus);
      if (before >= gpus || before + std::popcount(share.gpus) < gpus) continue;
      found = clear_node(view, order, packer, request, share.node, devices);
      if (found) return true;
    }
    return false;
  });
  for (const NodeId node : gained_) gain_[index(node)] = 0;
  return found;
}

int PreemptionCandidates::clearable(const View& view, const Order& order, const Ledger& ledger,
                                    const Rank& rank, NodeId node) const {
  int gpus = ledger.free_count(static_cast<int>(node));
  for (const JobId job : view.on_nodes[index(node)]) {
    if (!has(job) || !(rank < order.rank(view, job))) continue;
    const Devices& devices = view.job(job).held.devices;
    const auto share = std::ranges::find(devices, node, &NodeShare::node);
    gpus += std::popcount(share->gpus);
  }
  return gpus;
}

bool PreemptionCandidates::find_on(const View& view, const Order& order, Packer& packer,
                                   const Request& request, std::span<const NodeId> nodes,
                                   Devices& devices) {
  const Ledger& ledger = packer.current();
  if (packer.needs_one_node(request.shape)) {
    const int gpus = packer.shape(request.shape).gpus;
    return std::ranges::any_of(nodes, [&](NodeId node) {
      return clearable(view, order, ledger, request.rank, node) >= gpus &&
             clear_node(view, order, packer, request, node, devices);
    });
  }
  const bool worth_it =
      !packer.needs_whole_nodes(request.shape) || std::ranges::any_of(nodes, [&](NodeId node) {
        return clearable(view, order, ledger, request.rank, node) ==
               ledger.gpus_of(static_cast<int>(node));
      });
  return worth_it && !nodes.empty() && clear_many(view, order, packer, request, devices);
}

bool PreemptionCandidates::clear_node(const View& view, const Order& order, Packer& packer,
                                      const Request& request, NodeId node, Devices& devices) {
  Ledger& ledger = packer.current();
  const Ledger::Mark mark = ledger.mark();
  behind_.clear();
  for (const JobId job : view.on_nodes[index(node)]) {
    if (!has(job)) continue;
    const Rank rank = order.rank(view, job);
    if (request.rank < rank) behind_.emplace_back(rank, job);
  }
  std::ranges::sort(behind_, std::ranges::greater{});
  stopped_.clear();
  for (const auto& [rank, job] : behind_) {
    const Job& victim = view.job(job);
    ledger.release(victim.held.devices, packer.shape(victim.shape));
    stopped_.push_back(job);
    if (packer.place(ledger, request.shape, devices)) return keep_the_unneeded(view, packer);
  }
  ledger.undo(mark);
  stopped_.clear();
  return false;
}

bool PreemptionCandidates::clear_many(const View& view, const Order& order, Packer& packer,
                                      const Request& request, Devices& devices) {
  Ledger& ledger = packer.current();
  const Ledger::Mark mark = ledger.mark();
  const int gpus = packer.shape(request.shape).gpus;
  const bool whole = packer.needs_whole_nodes(request.shape);
  stopped_.clear();
  bool found = false;
  for_each_from_the_last(view, order, request.rank, [&](JobId job) {
    const Job& victim = view.job(job);
    ledger.release(victim.held.devices, packer.shape(victim.shape));
    stopped_.push_back(job);
    if (ledger.gpus_free() < gpus) return false;
    const bool helps = !whole || std::ranges::any_of(victim.held.devices, [&](const auto& share) {
      return ledger.idle(static_cast<int>(share.node)) ||
             ledger.free_count(static_cast<int>(share.node)) >= gpus % ledger.gpus_per_node_max();
    });
    found = helps && packer.place(ledger, request.shape, devices);
    return found;
  });
  if (found) return keep_the_unneeded(view, packer);
  ledger.undo(mark);
  stopped_.clear();
  return false;
}

// A job whose devices are not needed in the end keeps running.
bool PreemptionCandidates::keep_the_unneeded(const View& view, Packer& packer) {
  Ledger& ledger = packer.current();
  std::erase_if(stopped_, [&](JobId id) {
    const Job& job = view.job(id);
    const Shape& shape = packer.shape(job.shape);
    if (!ledger.can_take(job.held.devices, shape)) return false;
    ledger.take(job.held.devices, shape);
    return true;
  });
  return true;
}

}  // namespace orrery
