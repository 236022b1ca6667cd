#pragma once

#include <deque>
#include <map>
#include <vector>

#include "scheduling/policy/host/host_allocator.h"
#include "scheduling/policy/host/host_fill.h"

namespace orrery {

// Who is on which node, while it is decided who goes where: a node is worth as much as the speed
// its jobs can have together. GPUs are taken in the ledger at once; CPUs and memory only when all
// is decided.
class HostRooms {
 public:
  struct Guest {
    const HostAllocator::Asker* asker = nullptr;
    const HostLevels* levels = nullptr;
    Devices devices;
    HostShare held;       // set by settle()
    bool hungry = false;  // would be faster with more than it has now

    int node() const { return static_cast<int>(devices.front().node); }
    bool on_one_node() const { return devices.size() == 1; }
  };
  struct Room {
    HostShare capacity;       // less what those hold who are on several nodes
    std::vector<int> guests;  // those who are on this node alone
    double value = 0;
    HostShare rest;  // when it is filled
  };

  void begin(Ledger& ledger);
  const std::vector<Guest>& guests() const { return guests_; }
  const Room& room(int node) const { return rooms_[static_cast<std::size_t>(node)]; }
  int room_count() const { return static_cast<int>(rooms_.size()); }

  // The asker comes to devices that are taken in the ledger; false if not even the floors fit.
  bool come(const HostAllocator::Asker& asker, const Devices& devices);
  void leave(int guest);  // and its devices are free; it keeps its number
  void come_back(int guest, const Devices& devices);

  // What the node would be worth without one and with another; kNobody: as it is. Less than 0 if
  // not even the floors fit.
  static constexpr int kNobody = -1;
  double value_with(int node, int without, int with);
  // The same with somebody who is not a guest yet.
  double value_with(int node, const HostAllocator::Asker& asker);

  // For how many GPUs of the asker there are floors left on the node, if not GPUs.
  int floors_for(int node, const HostAllocator::Asker& asker);

  void settle();  // gives everybody what they hold

 private:
  const HostLevels& levels_of(const HostAllocator::Asker& asker);
  void gather(const Room& room, int without);
  void refill(int node);
  void raise_those_on_several_nodes();

  Ledger* ledger_ = nullptr;
  std::vector<Guest> guests_;
  std::vector<Room> rooms_;
  std::vector<HostFill::Member> members_;
  HostFill fill_;
  HostShare largest_;  // of all rooms
  std::map<std::pair<SensitivityId, int>, HostLevels> levels_;
  std::deque<HostLevels> own_levels_;  // of those whose speed depends on nothing
};

}  // namespace orrery
