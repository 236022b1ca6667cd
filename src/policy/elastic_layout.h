#pragma once

#include <span>
#include <vector>

#include "model/plan.h"
#include "model/view.h"
#include "placement/make_room.h"
#include "policy/elastic_job.h"

namespace orrery {

// Turns targets into grants: who keeps their count stays where they are, who shrinks keeps a part,
// and the others find new places, the largest first. For a job that was promised its count others
// move if need be; whoever merely gets what is left takes less or nothing.
class ElasticLayout {
 public:
  void lay_out(const View& view, Packer& packer, std::span<ElasticJob* const> jobs, Plan& plan);
  std::span<ElasticJob* const> without() const { return without_; }  // had to stop or wait

 private:
  bool shrink(const View& view, Packer& packer, ElasticJob& job);
  bool settle(const View& view, Packer& packer, ElasticJob& job);
  bool move_others(const View& view, Packer& packer, ElasticJob& job, ShapeId shape);
  ShapeId shape(Packer& packer, const ElasticJob& job, int rung) const {
    return packer.intern(shape_on(*job.spec, (*job.ladder)[rung].gpus));
  }
  void grant(const Packer& packer, const ElasticJob& job, Plan& plan);

  Time now_{};
  std::span<ElasticJob* const> jobs_;
  std::vector<ElasticJob*> changed_;
  std::vector<ElasticJob*> without_;
  std::vector<Devices> places_;  // by job id: where it is from now on, for those who change
  std::vector<ElasticJob*> placed_;
  std::vector<char> is_placed_;
  std::vector<Resident> residents_;
  std::vector<ElasticJob*> resident_jobs_;
  std::vector<Move> moves_;
};

}  // namespace orrery
