#pragma once

#include <optional>
#include <span>
#include <vector>

#include "scheduling/policy/policy.h"
#include "scheduling/policy/published/node_fill.h"

namespace orrery {

// Turns "this job, so many GPUs" into grants and stops.
//
// Jobs whose number stays keep their devices, and the others are placed around them, the largest
// first; where that finds no room everybody is placed anew, and who still finds none gets fewer.
// The published way is to place everybody anew each time, as NodeFill does.
class ElasticGrants {
 public:
  // In which order the published way fills the nodes.
  enum class Fill : std::uint8_t { BySize, AsGiven };
  explicit ElasticGrants(bool anew, Fill fill = Fill::BySize) : anew_(anew), fill_(fill) {}

  struct Seat {
    JobId job = kNoJob;
    int gpus = 0;          // 0: none now
    Time begins = kNever;  // if none now: when its plan begins
    bool is_new = false;
  };
  void write(const View& view, Packer& packer, std::span<const Seat> seats, Plan& plan);

 private:
  void fill_nodes(const View& view, std::span<const Seat> seats, Plan& plan);
  bool place_around(const View& view, Packer& packer, std::span<const Seat> seats);
  void place_all(const View& view, Packer& packer, std::span<const Seat> seats);
  void grant(const View& view, const Seat& seat, const Devices& devices, Plan& plan);
  void stop(const View& view, const Seat& seat, Plan& plan);

  const bool anew_;
  const Fill fill_;
  std::optional<NodeFill> nodes_;
  std::vector<std::size_t> by_size_;
  std::vector<Devices> placed_;  // by seat
};

}  // namespace orrery
