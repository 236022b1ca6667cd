#include "scheduling/placement/packer.h"

#include <algorithm>

#include "base/invariant.h"

namespace orrery {

Packer::Packer(const Cluster& cluster, std::span<const std::string> names,
               std::unique_ptr<PlacementRule> rule)
    : rule_(std::move(rule)),
      current_(cluster, names),
      blank_(cluster, names),
      idle_(cluster, names) {
  blank_.do_without_undo();  // It is cleared before each use.
  const bool all_open = std::ranges::all_of(cluster.nodes, &Node::open);
  if (!all_open) all_idle_ = std::make_unique<Ledger>(cluster, names, Ledger::Nodes::All);
}

std::size_t Packer::ShapeHash::operator()(const Shape& shape) const {
  std::size_t hash = 0;
  const auto mix = [&hash](std::int64_t value) {
    hash = (hash ^ static_cast<std::size_t>(value)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  mix(shape.gpus);
  mix(shape.cpu_milli);
  mix(shape.memory_bytes);
  mix(shape.gpu_memory_bytes);
  mix(static_cast<std::int64_t>(shape.gpu_type));
  mix(static_cast<std::int64_t>(shape.lasting));
  return hash;
}

ShapeId Packer::intern(const Shape& shape) {
  INVARIANT(shape.gpus > 0, "a job holds some GPU");
  const auto [found, added] = ids_.try_emplace(shape, static_cast<ShapeId>(shapes_.size()));
  if (!added) return found->second;

  Known known{.shape = shape, .scope = Scope::OneSwitch, .never = std::nullopt};
  const auto fits = [&](const Ledger& idle) {
    Devices devices;
    for (const Scope scope : {Scope::OneSwitch, Scope::WholeCluster, Scope::Anywhere}) {
      known.scope = scope;
      if (rule_->find(idle, shape, scope, devices)) return true;
    }
    return false;
  };
  known.fits_open = fits(idle_);
  const Ledger& all = all_idle_ != nullptr ? *all_idle_ : idle_;
  if (!known.fits_open && (all_idle_ == nullptr || !fits(all))) {
    const bool too_large = shape.gpus > all.gpus_total();
    known.never = Reason{.code = too_large ? Reason::Code::TooLarge : Reason::Code::NoSuchNode,
                         .wanted = shape.gpus,
                         .available = all.gpus_total()};
  }
  shapes_.push_back(known);
  constrained_ = constrained_ || shape != Shape{.gpus = shape.gpus, .lasting = shape.lasting};
  return found->second;
}

std::optional<Reason> Packer::not_here(ShapeId id) const {
  const Known& known = shapes_[index(id)];
  if (known.fits_open) return std::nullopt;
  return Reason{
      .code = Reason::Code::NotHere, .wanted = known.shape.gpus, .available = idle_.gpus_total()};
}

void Packer::withhold(std::span<const NodeShare> devices, const Shape& shape) {
  current_.withhold(devices, shape);
  blank_.withhold(devices, shape);
  idle_.withhold(devices, shape);
}

bool Packer::place(Ledger& ledger, ShapeId id, Devices& devices) {
  const Known& known = shapes_[index(id)];
  devices.clear();
  if (known.shape.gpus > ledger.gpus_free()) return false;
  if (!rule_->find(ledger, known.shape, known.scope, devices)) return false;
  ledger.take(devices, known.shape);
  return true;
}

Reason Packer::why_not(const Ledger& ledger, ShapeId id) const {
  const Shape& shape = shapes_[index(id)].shape;
  const auto reason = [](Reason::Code code, std::int64_t wanted, std::int64_t available) {
    return Reason{.code = code, .other = kNoJob, .wanted = wanted, .available = available};
  };
  if (shape.gpus > ledger.gpus_free())
    return reason(Reason::Code::GpusBusy, shape.gpus, ledger.gpus_free());
  // If some node has the GPUs, what it lacks is the reason.
  const int gpus = std::min(shape.gpus, ledger.gpus_per_node_max());
  const std::int64_t cpu_milli = share_of(shape.cpu_milli, gpus, shape.gpus);
  const std::int64_t memory_bytes = share_of(shape.memory_bytes, gpus, shape.gpus);
  std::int64_t cpu_most = -1;
  std::int64_t memory_most = -1;
  for (int node = 0; node < ledger.node_count(); ++node) {
    if (ledger.free_count(node) < gpus || !ledger.serves(node, shape)) continue;
    cpu_most = std::max(cpu_most, ledger.free_cpu_milli(node));
    memory_most = std::max(memory_most, ledger.free_memory_bytes(node));
  }
  if (cpu_most >= 0 && cpu_most < cpu_milli)
    return reason(Reason::Code::CpusBusy, cpu_milli, cpu_most);
  if (memory_most >= 0 && memory_most < memory_bytes) {
    return reason(Reason::Code::MemoryBusy, memory_bytes, memory_most);
  }
  return reason(Reason::Code::Fragmented, shape.gpus, ledger.gpus_free());
}

}  // namespace orrery
