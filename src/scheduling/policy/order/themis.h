#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "scheduling/policy/families.h"
#include "scheduling/policy/grouping/device_assignment.h"

namespace orrery {

// The job goes first that has had the least of the share that is fair to it (finish-time fairness).
// Shares are computed at most once in a lease; between leases only idle devices are given away.
//
// After Themis (NSDI '20), in the formulation of Gavel (OSDI '20).
class Themis : public Policy {
 public:
  explicit Themis(const ThemisOptions& options);

  void plan(const View& view, Packer& packer, Plan& plan) override;

 protected:
  // What it needs of a job stands here, since thousands of jobs that wait are looked at in every
  // lease. Work and time held change only while a job runs.
  struct Entry {
    JobId job = kNoJob;
    int gpus = 0;
    ShapeId shape{};
    double alone_s = 0;  // an iteration
    Time submitted{};
    double work = 0;             // left
    double had_s = 0;            // time held
    double isolated_so_far = 0;  // of the work done, in a share of its own
    double work_before = 0;
    double rate_before = 1;
    double due_s = 0;
    bool runs = false;
    bool is_new = true;
  };
  struct Merit {
    double share_of_had = 0;
    double due_s = 0;
    double share = 0;
    std::uint32_t place = 0;  // in the line before; equals stay in this order

    bool operator<(const Merit& other) const {
      if (share_of_had != other.share_of_had) return share_of_had > other.share_of_had;
      if (due_s != other.due_s) return due_s > other.due_s;
      if (share != other.share) return share > other.share;
      return place < other.place;
    }
  };

  // What a variant may do otherwise.
  virtual bool ranks_in_every_lease() const { return false; }  // even if no job came or ended
  virtual double isolated_rate(const Entry& job, double fraction) const;
  virtual Time elapsed_until(const View& view) const { return view.now; }
  virtual Merit merit(const Entry& job, double share) const;
  virtual void place(const View& view, Packer& packer, Plan& plan);  // the line was just ranked

  std::span<Entry> line() { return line_; }
  // Makes the line that of these places before.
  void reorder(const View& view, std::span<const Merit> line);
  // Keeps the last grant of the plan, or withdraws it if the job does not run.
  void conclude(const View& view, const Packer& packer, Plan& plan, Entry& entry, bool runs,
                Grant& grant);

 private:
  void update_line(const View& view);
  void join(const View& view, JobId job);
  Entry* entry_of(JobId job);
  void number_places(const View& view);
  static void refresh(const View& view, Entry& entry);
  void set_runs(Entry& entry, bool runs);
  void rank(const View& view, int gpus);
  void fill_idle(const View& view, Packer& packer, Plan& plan);

  const ThemisOptions options_;
  Grouper grouper_;
  DeviceAssignment assignment_;
  std::vector<Entry> line_;
  std::vector<FairJob> fair_;
  std::vector<double> shares_;
  std::vector<Merit> merits_;
  std::vector<Entry> sorted_;
  std::vector<AssignedGroup> assigned_;
  std::vector<std::int32_t> assigned_at_;
  std::vector<std::int32_t> place_of_job_;  // in the line; -1: it is not there
  std::vector<JobId> running_;              // all with `runs`, and those stopped by the last plan
  std::size_t runs_count_ = 0;
  Time last_rank_{};
  Time lease_ends_{};
  bool news_ = false;
};

}  // namespace orrery
