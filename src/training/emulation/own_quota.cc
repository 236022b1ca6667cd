#include "training/emulation/own_quota.h"

#include <unistd.h>

#include "training/emulation/owner.h"

namespace orrery {

Result<OwnQuota> OwnQuota::take(double cores) {
  TRY_ASSIGN(const CgroupTree tree, find_cgroups());
  remove_left_cgroups(tree);
  const ServerCgroup cgroup(tree, server_name(new_owner_tag(), 0));
  TRY(cgroup.make());
  OwnQuota quota(cgroup);
  TRY(cgroup.set(cores));
  TRY(cgroup.add(::getpid()));
  return quota;
}

OwnQuota::~OwnQuota() {
  if (held_) cgroup_.release();
}

void remove_left_quotas() {
  const auto tree = find_cgroups();
  if (tree.ok()) remove_left_cgroups(tree.value());
}

}  // namespace orrery
