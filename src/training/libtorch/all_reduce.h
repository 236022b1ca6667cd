#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "model/time.h"

namespace orrery {

// The store that groups of an all-reduce find each other by (c10d's TCPStore). It lives in the
// run's head, so that it outlives every worker. The object keeps it open. It listens on a free port
// of every address of this machine, which is c10d's way; what is said there are names and
// addresses.
class MeetingPlace {
 public:
  virtual ~MeetingPlace() = default;
  virtual std::uint16_t port() const = 0;
  // True if groups can do without a GPU for each member.
  virtual bool sums_on_cpus() const = 0;
};
// `host` is what this machine is reached by.
Result<std::unique_ptr<MeetingPlace>> open_meeting_place(const std::string& host);

struct AllReduceOptions {
  std::string host{};  // of the meeting place
  std::uint16_t port = 0;
  std::string own_address{};  // what others reach this process by
  std::string name{};         // of this group: one for each epoch, never used twice
  int rank = 0;
  int size = 1;
  Duration patience = std::chrono::seconds(60);  // longest wait for the others
  std::string device = "cpu";  // or a learner's on a GPU that no other member is on
};

// A group of processes that sum and copy buffers together (Gloo, or NCCL on GPUs). An error means
// that the group is broken: a member died or was later than the patience. What the buffer holds
// then is undefined, and the members that are left form another group. Destroying it closes its
// connections.
class AllReduceGroup {
 public:
  virtual ~AllReduceGroup() = default;
  virtual Status sum(std::span<float> values) = 0;
  virtual Status copy_from(int rank, std::span<float> values) = 0;
};
Result<std::unique_ptr<AllReduceGroup>> join_all_reduce(const AllReduceOptions& options);

// The GPU behind a learner's device, by the name that it has in every process. Empty: it is none,
// or groups here know no GPUs.
std::string gpu_name(const std::string& device);

}  // namespace orrery
