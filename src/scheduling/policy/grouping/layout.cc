#include "scheduling/policy/grouping/layout.h"

#include <algorithm>
#include <utility>

#include "scheduling/policy/adopt.h"
#include "scheduling/policy/order/in_order.h"

namespace orrery {

ShapeId Layout::shape_of(Packer& packer, ShapeId one, int size) {
  if (size == 1) return one;
  Shape shape = packer.shape(one);
  if (shape.cpu_milli == 0 && shape.memory_bytes == 0 && shape.gpu_memory_bytes == 0) return one;
  shape.cpu_milli *= size;
  shape.memory_bytes *= size;
  shape.gpu_memory_bytes *= size;
  return packer.intern(shape);
}

int Layout::size_max(Packer& packer, ShapeId one, int packing) {
  int size = 1;
  while (size < packing && !packer.infeasible(shape_of(packer, one, size + 1))) ++size;
  return size;
}

bool adopt_group(const View& view, JobId job, Grant& grant) {
  if (grant.sharing != Sharing::Interleaved) return adopt_as_asked(view, job, grant);
  const JobSpec& spec = view.spec(job);
  return gpu_count(grant.devices) == spec.gpus && grant.cpu_milli == spec.cpu_milli &&
         grant.memory_bytes == spec.memory_bytes;
}

// Numbers that another policy gave before are taken.
void Layout::begin(const View& view) {
  used_.clear();
  if (std::exchange(has_begun_, true)) return;
  for (const JobId job : view.running) {
    next_ = std::max(next_, static_cast<std::int32_t>(view.job(job).held.group) + 1);
  }
}

GroupId Layout::number(const View& view, const Group& group) {
  const GroupId before = view.job(group.jobs[0]).held.group;
  const bool all_were_in_it = std::ranges::all_of(group.members(), [&](JobId job) {
    return view.job(job).state == JobState::Running && view.job(job).held.group == before;
  });
  GroupId number = before;
  if (before == kNoGroup || !all_were_in_it || std::ranges::count(used_, before) > 0) {
    number = static_cast<GroupId>(next_++);
  }
  used_.push_back(number);
  return number;
}

void Layout::grant(const View& view, GroupKinds& kinds, const Group& group, const Devices& devices,
                   Plan& plan) {
  const GroupKinds::Kind& kind = kinds.at(group.kind);
  const GroupId number_here = group.size > 1 ? number(view, group) : kNoGroup;
  std::uint32_t taken = 0;
  for (const JobId job : group.members()) {
    Grant& grant = plan.grant(job);
    fill_exclusive(grant, view.spec(job));
    grant.devices = devices;
    if (group.size == 1) continue;
    grant.sharing = Sharing::Interleaved;
    grant.group = number_here;
    grant.iterations_per_s = 1 / kind.cycle_s;
    // Members of one kind are interchangeable: each takes the first position of its kind that is
    // left.
    for (std::size_t i = 0; i < static_cast<std::size_t>(kind.size); ++i) {
      const int position = static_cast<unsigned char>(kind.positions[i]);
      const auto bit = 1U << position;
      if (kind.solos[i] != kinds.solo_of(job) || (taken & bit) != 0) continue;
      taken |= bit;
      grant.position = position;
      break;
    }
  }
}

}  // namespace orrery
