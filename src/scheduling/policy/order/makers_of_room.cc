#include "scheduling/policy/order/makers_of_room.h"

#include <algorithm>
#include <bit>

namespace orrery {
namespace {

bool still_free(const Ledger& ledger, const Devices& devices, const Shape& shape) {
  return std::ranges::all_of(devices, [&](const NodeShare& share) {
    const int node = static_cast<int>(share.node);
    return (ledger.free_mask(node) & share.gpus) == share.gpus &&
           ledger.fits(node, std::popcount(share.gpus), shape);
  });
}

}  // namespace

void MakersOfRoom::begin(const View& view, const Packer& packer) {
  if (entries_.size() < view.jobs.size()) entries_.resize(view.jobs.size());
  gain_.resize(static_cast<std::size_t>(packer.current().node_count()), 0);
}

void MakersOfRoom::add(const View& view, const Order& order, JobId job) {
  remove(job);
  const int gpus = view.spec(job).gpus;
  entries_[index(job)] = {order.standing(view, job), gpus, true};
  auto sequence = std::ranges::find(sequences_, gpus, &Sequence::gpus);
  if (sequence == sequences_.end()) {
    sequences_.push_back({.gpus = gpus, .jobs = {}});
    sequence = sequences_.end() - 1;
  }
  sequence->jobs.emplace(entries_[index(job)].standing, job);
}

void MakersOfRoom::remove(JobId job) {
  if (!has(job)) return;
  Entry& entry = entries_[index(job)];
  const auto sequence = std::ranges::find(sequences_, entry.gpus, &Sequence::gpus);
  sequence->jobs.erase(Key(entry.standing, job));
  entry.listed = false;
}

// Calls visit(job) for the running jobs that rank behind, the last in line first, until it answers
// true.
template <class Visit>
void MakersOfRoom::from_the_last(const View& view, const Order& order, const Rank& rank,
                                 Visit visit) {
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

bool MakersOfRoom::find(const View& view, const Order& order, Packer& packer, const Wanted& wanted,
                        Devices& devices) {
  if (!packer.needs_one_node(wanted.shape)) {
    return clear_many(view, order, packer, wanted, devices);
  }
  const Ledger& ledger = packer.current();
  const int gpus = packer.shape(wanted.shape).gpus;
  bool found = false;
  gained_.clear();
  from_the_last(view, order, wanted.rank, [&](JobId job) {
    for (const NodeShare& share : view.job(job).held.devices) {
      int& gain = gain_[index(share.node)];
      if (gain == 0) gained_.push_back(share.node);
      const int before = gain + ledger.free_count(static_cast<int>(share.node));
      gain += std::popcount(share.gpus);
      if (before >= gpus || before + std::popcount(share.gpus) < gpus) continue;
      found = clear_node(view, order, packer, wanted, share.node, devices);
      if (found) return true;
    }
    return false;
  });
  for (const NodeId node : gained_) gain_[index(node)] = 0;
  return found;
}

int MakersOfRoom::clearable(const View& view, const Order& order, const Ledger& ledger,
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

bool MakersOfRoom::find_on(const View& view, const Order& order, Packer& packer,
                           const Wanted& wanted, std::span<const NodeId> nodes, Devices& devices) {
  const Ledger& ledger = packer.current();
  if (packer.needs_one_node(wanted.shape)) {
    const int gpus = packer.shape(wanted.shape).gpus;
    return std::ranges::any_of(nodes, [&](NodeId node) {
      return clearable(view, order, ledger, wanted.rank, node) >= gpus &&
             clear_node(view, order, packer, wanted, node, devices);
    });
  }
  const bool worth_it =
      !packer.needs_whole_nodes(wanted.shape) || std::ranges::any_of(nodes, [&](NodeId node) {
        return clearable(view, order, ledger, wanted.rank, node) ==
               ledger.gpus_of(static_cast<int>(node));
      });
  return worth_it && !nodes.empty() && clear_many(view, order, packer, wanted, devices);
}

bool MakersOfRoom::clear_node(const View& view, const Order& order, Packer& packer,
                              const Wanted& wanted, NodeId node, Devices& devices) {
  Ledger& ledger = packer.current();
  const Ledger::Mark mark = ledger.mark();
  behind_.clear();
  for (const JobId job : view.on_nodes[index(node)]) {
    if (!has(job)) continue;
    const Rank rank = order.rank(view, job);
    if (wanted.rank < rank) behind_.emplace_back(rank, job);
  }
  std::ranges::sort(behind_, std::ranges::greater{});
  stopped_.clear();
  for (const auto& [rank, job] : behind_) {
    const Job& victim = view.job(job);
    ledger.release(victim.held.devices, packer.shape(victim.shape));
    stopped_.push_back(job);
    if (packer.place(ledger, wanted.shape, devices)) return keep_the_needless(view, packer);
  }
  ledger.undo(mark);
  stopped_.clear();
  return false;
}

bool MakersOfRoom::clear_many(const View& view, const Order& order, Packer& packer,
                              const Wanted& wanted, Devices& devices) {
  Ledger& ledger = packer.current();
  const Ledger::Mark mark = ledger.mark();
  const int gpus = packer.shape(wanted.shape).gpus;
  const bool whole = packer.needs_whole_nodes(wanted.shape);
  stopped_.clear();
  bool found = false;
  from_the_last(view, order, wanted.rank, [&](JobId job) {
    const Job& victim = view.job(job);
    ledger.release(victim.held.devices, packer.shape(victim.shape));
    stopped_.push_back(job);
    if (ledger.gpus_free() < gpus) return false;
    const bool helps = !whole || std::ranges::any_of(victim.held.devices, [&](const auto& share) {
      return ledger.idle(static_cast<int>(share.node)) ||
             ledger.free_count(static_cast<int>(share.node)) >= gpus % ledger.gpus_per_node_max();
    });
    found = helps && packer.place(ledger, wanted.shape, devices);
    return found;
  });
  if (found) return keep_the_needless(view, packer);
  ledger.undo(mark);
  stopped_.clear();
  return false;
}

// Those whose devices are not needed in the end go on as if nothing had happened.
bool MakersOfRoom::keep_the_needless(const View& view, Packer& packer) {
  Ledger& ledger = packer.current();
  std::erase_if(stopped_, [&](JobId id) {
    const Job& job = view.job(id);
    const Shape& shape = packer.shape(job.shape);
    if (!still_free(ledger, job.held.devices, shape)) return false;
    ledger.take(job.held.devices, shape);
    return true;
  });
  return true;
}

}  // namespace orrery
