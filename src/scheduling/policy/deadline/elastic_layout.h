#pragma once

#include <span>
#include <vector>

#include "model/plan.h"
#include "model/view.h"
#include "scheduling/placement/move_candidates.h"
#include "scheduling/policy/deadline/promises.h"

namespace orrery {

// Turns targets into grants. A job that keeps its number of GPUs stays where it is, one that
// shrinks keeps a part, and the others find new places, the largest first. For a job that was
// promised its number others move if need be; one that merely gets what is left takes less or
// nothing; and one that could only grow stays as it is if there is no place for more.
class ElasticLayout {
 public:
  void lay_out(const View& view, Packer& packer, std::span<ElasticJob* const> jobs,
               Promises& promises, Plan& plan);
  std::span<ElasticJob* const> without() const { return without_; }  // have to stop or wait

 private:
  void sort_out(const View& view, Packer& packer);
  void clear_for_fixed(const View& view);
  bool is_in_the_way(const View& view, const ElasticJob& job) const;
  bool shrink(const View& view, Packer& packer, ElasticJob& job);
  bool place_promised(const View& view, Packer& packer, ElasticJob& job, Promises& promises);
  bool place_leftover(Packer& packer, ElasticJob& job);
  void fill_holes(Packer& packer);
  void grow(const View& view, Packer& packer, ElasticJob& job, Promises& promises);
  bool place(Packer& packer, ElasticJob& job, int option);
  bool place_by_moving(const View& view, Packer& packer, ElasticJob& job, const Promises& promises);
  void set_placed(ElasticJob& job);
  void grant(const ElasticJob& job, Plan& plan);

  Time now_{};
  std::span<ElasticJob* const> jobs_;
  std::vector<ElasticJob*> changed_;
  std::vector<ElasticJob*> growers_;
  std::vector<ElasticJob*> moved_;
  std::vector<ElasticJob*> without_;
  std::vector<Devices> places_;  // by job id: where it is from now on, for those who change
  std::vector<ElasticJob*> placed_;
  std::vector<char> is_placed_;
  std::vector<char> cleared_;  // by node: a placement is fixed there
  bool any_cleared_ = false;
  std::vector<ElasticJob*> candidates_;
};

}  // namespace orrery
