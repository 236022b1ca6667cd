#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace orrery {

// The run as a job of Orrery's scheduler, if it is one (docs/formats/job-protocol.md); else nothing
// here does anything. An iteration is a global batch's worth of samples, so that one means the same
// in every mode.
class JobLink {
 public:
  JobLink();
  ~JobLink();

  bool is_job() const;
  std::string checkpoint_folder() const;  // empty: none
  bool resumed() const;
  int gpus() const;  // that this start of the job has; 0: none, or it is no job
  void progress(std::int64_t batches, std::int64_t of, double loss, std::int64_t samples);
  void checkpointed(std::int64_t batches);
  // Waits while the scheduler is making up its mind.
  bool should_stop(std::int64_t batches);
  void close(bool finished);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace orrery
