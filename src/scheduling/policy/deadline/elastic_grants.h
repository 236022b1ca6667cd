#pragma once

#include <span>
#include <vector>

#include "scheduling/policy/policy.h"

namespace orrery {

// Turns numbers of GPUs into grants and stops.
//
// Jobs whose number stays keep their devices, and the others are placed around them, the largest
// first. Where that fails all jobs are placed again, and one that still does not fit gets fewer.
class ElasticGrants {
 public:
  virtual ~ElasticGrants() = default;

  struct Request {
    JobId job = kNoJob;
    int gpus = 0;          // 0: none now
    Time begins = kNever;  // if none now: when its plan begins
    bool is_new = false;
  };
  virtual void write(const View& view, Packer& packer, std::span<const Request> requests,
                     Plan& plan);

 protected:
  static void grant(const View& view, const Request& request, const Devices& devices, Plan& plan);
  static void stop(const View& view, const Request& request, Plan& plan);

 private:
  bool place_around(const View& view, Packer& packer, std::span<const Request> requests);
  void place_all(const View& view, Packer& packer, std::span<const Request> requests);

  std::vector<std::size_t> by_size_;
  std::vector<Devices> placed_;  // by seat
};

}  // namespace orrery
