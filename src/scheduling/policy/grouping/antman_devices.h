#pragma once

#include <vector>

#include "model/grant.h"
#include "scheduling/placement/ledger.h"
#include "scheduling/policy/families.h"

namespace orrery {

// The jobs on each device under AntMan: one guaranteed and one opportunistic job at most, and how
// much use that makes of it.
class AntmanDevices {
 public:
  AntmanDevices(const Ledger& blank, const AntmanUse& use);

  // True if the job's own way of gathering, one node or whole nodes, can ever succeed on `blank`,
  // the idle cluster. Otherwise any devices will do.
  static bool consolidates(const Ledger& blank, const Shape& shape);

  enum class Manner {
    Consolidated,   // one node, bit by bit; or whole nodes, one by one
    Anywhere,       // any devices, bit by bit
    AnywhereAtOnce  // any devices, all or nothing
  };
  // Adds to `held` what a guaranteed job can reserve now; true once it has all it asks for, and the
  // memory on them.
  bool reserve(const Ledger& blank, const Shape& shape, JobId job, Manner manner, Devices& held);
  void complete(const Devices& held);  // a guaranteed job starts on what it reserved

  void adopt(const Devices& held, JobId job, const Shape& shape, bool guaranteed);  // runs already

  // The least used devices for an opportunistic job; all or nothing.
  bool take(const Ledger& ledger, const Shape& shape, JobId job, Devices& held);

  void release(const Devices& held, JobId job, const Shape& shape, bool started);

 private:
  struct Device {
    JobId guaranteed = kNoJob;
    JobId opportunistic = kNoJob;
    double use = 0;
    std::int64_t memory_free = 0;  // on the GPU, as far as jobs state it
    bool memory_known = false;
  };
  struct Seat {
    int node = 0;
    int gpu = 0;
    double use = 0;
  };

  struct Found {
    int node = 0;
    int count = 0;
  };
  struct Request {
    const Shape& shape;
    JobId job = kNoJob;
    Manner manner{};
    bool at_once = false;  // only devices with enough memory now
  };

  Device& at(int node, int gpu) {
    return devices_[static_cast<std::size_t>(node * kGpusPerNodeMax + gpu)];
  }
  static bool memory_fits(const Device& device, const Shape& shape) {
    return !device.memory_known || shape.gpu_memory_bytes <= device.memory_free;
  }
  std::uint64_t open(const Ledger& blank, int node, const Request& request);
  bool find(const Ledger& blank, const Request& request, const Devices& held);
  void reserve_on(const Ledger& blank, int node, int count, const Request& request, Devices& held);

  const AntmanUse use_;
  std::vector<Device> devices_;
  std::vector<std::uint64_t> usable_;  // by node: its GPUs
  std::vector<Seat> seats_;
  std::vector<Found> found_;
  int unguaranteed_ = 0;  // devices without a guaranteed job
};

}  // namespace orrery
