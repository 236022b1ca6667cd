#include "scheduling/policy/host/hosting.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace orrery {
namespace {

std::uint64_t highest_free(const Ledger& ledger, int node, int count) {
  return ledger.free_mask(node) & ~ledger.lowest_free(node, ledger.free_count(node) - count);
}

}  // namespace

void Hosting::begin(Ledger& ledger) {
  ledger_ = &ledger;
  seated_ = 0;
  place_ = 0;
  done_.clear();
  orders_.clear();
  on_nodes_.resize(static_cast<std::size_t>(ledger.node_count()));
  for (std::vector<std::uint32_t>& here : on_nodes_) here.clear();
}

Hosting::Seat& Hosting::sit(JobId job, const HostNeed& need, const Shape& shape,
                            const Devices& devices) {
  if (seated_ == seats_.size()) seats_.emplace_back();
  Seat& seat = seats_[seated_];
  seat.job = job;
  seat.need = &need;
  seat.shape = shape;
  seat.devices = devices;
  ledger_->take(devices, shape);
  for (const NodeShare& share : devices) {
    on_nodes_[index(share.node)].push_back(static_cast<std::uint32_t>(seated_));
  }
  done_.push_back({.what = Step::What::Sat, .place = place_, .where = 0, .held = {}});
  ++seated_;
  return seat;
}

void Hosting::set_held(Seat& seat, const HostShare& held) {
  ledger_->release(seat.devices, seat.shape);
  seat.shape = with_host(seat.shape, held);
  ledger_->take(seat.devices, seat.shape);
}

void Hosting::change(std::uint32_t index, const HostShare& held) {
  Seat& seat = seats_[index];
  done_.push_back({.what = Step::What::Changed,
                   .place = place_,
                   .where = static_cast<int>(index),
                   .held = seat.held()});
  set_held(seat, held);
}

void Hosting::back_to(std::size_t number) {
  for (; !done_.empty() && done_.back().place >= number; done_.pop_back()) {
    const Step& step = done_.back();
    const auto where = static_cast<std::size_t>(step.where);
    if (step.what == Step::What::Sat) {
      const Seat& last = seats_[--seated_];
      ledger_->release(last.devices, last.shape);
      for (const NodeShare& share : last.devices) on_nodes_[index(share.node)].pop_back();
    } else if (step.what == Step::What::Changed) {
      set_held(seats_[where], step.held);
    } else {
      std::vector<std::uint32_t>& here = on_nodes_[where];
      const auto kept = orders_.end() - static_cast<std::ptrdiff_t>(here.size());
      std::copy(kept, orders_.end(), here.begin());
      orders_.erase(kept, orders_.end());
    }
  }
}

HostShare Hosting::part_on(const Seat& seat, int gpus_there) {
  return {share_of(seat.shape.cpu_milli, gpus_there, seat.shape.gpus),
          share_of(seat.shape.memory_bytes, gpus_there, seat.shape.gpus)};
}

int Hosting::gpus_on(const Seat& seat, int node) {
  for (const NodeShare& share : seat.devices) {
    if (share.node == static_cast<NodeId>(node)) return std::popcount(share.gpus);
  }
  return 0;
}

bool find_scattered(const Ledger& ledger, const Shape& shape, Devices& devices) {
  devices.clear();
  int left = shape.gpus;
  const int end = ledger.node_count();
  for (int node = ledger.first_fit(0, end, 1, shape); node < end;
       node = ledger.first_fit(node + 1, end, 1, shape)) {
    const int count = std::min(left, ledger.gpus_fitting(node, shape));
    if (count == 0) continue;
    devices.push_back({static_cast<NodeId>(node), ledger.lowest_free(node, count)});
    left -= count;
    if (left == 0) return true;
  }
  return false;
}

bool find_gathered(const Ledger& ledger, const Shape& shape, Devices& devices) {
  devices.clear();
  const int end = ledger.node_count();
  if (shape.gpus > 1) {
    const int node = ledger.tightest_fit(0, end, shape.gpus, shape);
    if (node < end) {
      devices.push_back({static_cast<NodeId>(node), ledger.lowest_free(node, shape.gpus)});
      return true;
    }
  }
  int left = shape.gpus;
  for (int free = 1; free <= ledger.gpus_per_node_max(); ++free) {
    for (int node = ledger.next_with_free(free, 0, end); node < end;
         node = ledger.next_with_free(free, node + 1, end)) {
      const int count = std::min(left, ledger.gpus_fitting(node, shape));
      if (count == 0) continue;
      devices.push_back({static_cast<NodeId>(node), highest_free(ledger, node, count)});
      left -= count;
      if (left > 0) continue;
      std::ranges::sort(devices, {}, &NodeShare::node);
      return true;
    }
  }
  return false;
}

}  // namespace orrery
