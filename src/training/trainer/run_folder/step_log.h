#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/output_file.h"
#include "base/result.h"
#include "training/step_trace/step_recorder.h"
#include "training/sync/director.h"
#include "training/sync/task.h"

namespace orrery {

// The file of `run --trace-steps`: docs/formats/step-trace.md. It is there when the run is over.
class StepLog {
 public:
  static Result<std::unique_ptr<StepLog>> open(const std::string& path, Architecture architecture,
                                               int workers);

  void gradient(const RecordedGradient& gradient);
  void update(const Update& update);
  void summed(ParameterVersion version, int worker, double at_s);
  // Puts the file in its place, and warns of steps that are not in it. Writes nothing after this.
  Status finish(const std::function<void(const std::string&)>& warn);

 private:
  StepLog(OutputFile file, std::string path, StepRecorder recorder);
  void write();

  OutputFile file_;
  std::string path_;
  StepRecorder recorder_;
  Status written_{};
};

}  // namespace orrery
