#include "training/trainer/run_folder/step_log.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace orrery {

StepLog::StepLog(OutputFile file, std::string path, StepRecorder recorder)
    : file_(std::move(file)), path_(std::move(path)), recorder_(std::move(recorder)) {}

Result<std::unique_ptr<StepLog>> StepLog::open(const std::string& path, Architecture architecture,
                                               int workers) {
  if (path.ends_with(".zst")) {
    return invalid(fmt::format("--trace-steps {}: orrery-train packs nothing; write F.csv", path));
  }
  TRY_ASSIGN(OutputFile file, OutputFile::open(path));
  const auto kind = architecture == Architecture::AllReduce ? StepRecorder::Kind::AllReduce
                                                            : StepRecorder::Kind::ParameterServer;
  return std::unique_ptr<StepLog>(new StepLog(std::move(file), path, StepRecorder(kind, workers)));
}

void StepLog::gradient(const RecordedGradient& gradient) { recorder_.gradient(gradient); }

void StepLog::update(const Update& update) {
  std::vector<std::int64_t> tasks;
  for (const Term& term : update.terms) tasks.push_back(term.task);
  recorder_.update(update.version, tasks);
  write();
}

void StepLog::summed(ParameterVersion version, int worker, double at_s) {
  recorder_.summed(version, worker, at_s);
  write();
}

void StepLog::write() {
  if (written_.ok()) written_ = file_.write(recorder_.take());
}

Status StepLog::finish(const std::function<void(const std::string&)>& warn) {
  write();
  TRY(written_);
  TRY(file_.commit());
  if (recorder_.left_out() > 0) {
    warn(
        fmt::format("{}: {} of {} updates are not recorded, since not every worker had one "
                    "gradient in them",
                    path_, recorder_.left_out(), recorder_.left_out() + recorder_.recorded()));
  }
  return {};
}

}  // namespace orrery
