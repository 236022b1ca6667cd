#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/grouping/grouper.h"
#include "scheduling/policy/policy.h"

namespace orrery {

// Members of a group go on as one, whichever policy put them together.
bool adopt_group(const View& view, JobId job, Grant& grant);

// From groups to grants: which number a group has, which member has which position, and what the
// shape of several jobs together is.
class Layout {
 public:
  // The shape of `size` jobs on the same devices; an infeasible one does not fit together.
  static ShapeId shape_of(Packer& packer, ShapeId one, int size);
  // How many jobs of the shape can be together on devices of this cluster.
  static int size_max(Packer& packer, ShapeId one, int packing);

  void begin(const View& view);  // before the grants of a plan
  // Grants every member its part. A group keeps its number as long as no job joins.
  void grant(const View& view, GroupKinds& kinds, const Group& group, const Devices& devices,
             Plan& plan);

 private:
  GroupId number(const View& view, const Group& group);

  std::int32_t next_ = 0;
  bool has_begun_ = false;
  std::vector<GroupId> used_;  // in this plan
};

}  // namespace orrery
