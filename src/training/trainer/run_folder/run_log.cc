#include "training/trainer/run_folder/run_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "training/trainer/run_folder/window_log.h"

namespace orrery {

// Whole lines or nothing: what a full disk takes of a line is cut off again.
struct RunLog::Table {
  Fd file{};
  std::string path{};
  off_t whole = 0;  // bytes of whole lines on disk
  std::string pending{};
  Status failed{};

  void flush() {
    if (pending.empty()) return;
    const std::string text = std::exchange(pending, {});
    const Status written = write_file(file, path, text);
    if (written.ok()) {
      whole += static_cast<off_t>(text.size());
      return;
    }
    if (failed.ok()) failed = written;
    if (::ftruncate(file.get(), whole) == 0) ::lseek(file.get(), whole, SEEK_SET);
  }
};

namespace {

void cut_half_line(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error || size == 0) return;
  std::FILE* const file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return;
  auto whole = static_cast<long>(size);
  for (; whole > 0; --whole) {
    if (std::fseek(file, whole - 1, SEEK_SET) != 0 || std::fgetc(file) == '\n') break;
  }
  std::fclose(file);
  if (std::cmp_less(whole, size)) {
    std::filesystem::resize_file(path, static_cast<std::uintmax_t>(whole), error);
  }
}

}  // namespace

RunLog::RunLog(std::string folder) : folder_(std::move(folder)) {}
RunLog::~RunLog() { flush(); }

Status RunLog::add(std::unique_ptr<Table>& table, const std::string& name,
                   const std::string& columns) {
  const std::string path = folder_ + "/" + name;
  cut_half_line(path);
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.ok()) return system_error(path, errno);
  table = std::make_unique<Table>();
  table->whole = ::lseek(file.get(), 0, SEEK_END);
  table->file = std::move(file);
  table->path = path;
  if (table->whole == 0) table->pending = columns + "\n";
  return {};
}

Result<std::unique_ptr<RunLog>> RunLog::open(const std::string& folder, bool members) {
  std::unique_ptr<RunLog> log(new RunLog(folder));
  if (folder.empty()) return log;
  TRY(log->add(log->curve_, "curve.csv", "time_s,version,samples,accuracy,loss"));
  TRY(log->add(log->iterations_, "iterations.csv",
               "time_s,worker,task,took_s,samples,staleness,loss,norm2,cpu_share,throttled_share,"
               "in_bytes_per_s,out_bytes_per_s,way_s"));
  TRY(log->add(log->modes_, "steer.csv", "time_s,mode,reason"));
  TRY(log->add(log->windows_, "windows.csv", window_columns()));
  TRY(log->add(log->processes_, "processes.csv", "time_s,role,id,pid,what"));
  if (!members) return log;
  TRY(log->add(log->membership_, "membership.csv", "time_s,epoch,workers,rate_factor,rate"));
  TRY(log->add(log->checkpoints_, "checkpoints.csv", "time_s,version,gradients,bytes,save_s"));
  return log;
}

Status RunLog::guarded(const std::function<Status()>& write) const {
  return guard_ ? guard_(write) : write();
}

// A head whose lease is gone keeps its lines to itself.
void RunLog::flush(Table& table) {
  if (table.pending.empty()) return;
  const Status written = guarded([&table]() -> Status {
    table.flush();
    return {};
  });
  if (!written.ok() && written.error().code != Code::FailedPrecondition && table.failed.ok()) {
    table.failed = written;
  }
}

void RunLog::put(const std::unique_ptr<Table>& table, const std::string& line, bool at_once) {
  constexpr std::size_t kPendingMost = std::size_t{1} << 16;
  if (!table) return;
  table->pending += line;
  if (at_once || table->pending.size() >= kPendingMost) flush(*table);
}

std::vector<RunLog::Table*> RunLog::tables() const {
  std::vector<Table*> all;
  for (const auto* table :
       {&curve_, &iterations_, &modes_, &windows_, &processes_, &membership_, &checkpoints_}) {
    if (*table) all.push_back(table->get());
  }
  return all;
}

void RunLog::curve(const EvaluatedVersion& point) {
  put(curve_,
      fmt::format("{:.6f},{},{},{:.6f},{:.6f}\n", point.at_s, point.version, point.samples,
                  point.accuracy, point.loss),
      true);
}

void RunLog::iteration(const IterationSample& sample) {
  if (!iterations_) return;
  const Usage& usage = sample.usage;
  put(iterations_,
      fmt::format("{:.6f},{},{},{:.6f},{},{},{:.6g},{:.6g},{:.4f},{:.4f},{:.0f},{:.0f},{:.6f}\n",
                  seconds(sample.at), static_cast<int>(sample.worker), sample.task,
                  seconds(sample.took), sample.samples, sample.staleness, sample.loss, sample.norm2,
                  usage.cpu_share, usage.throttled_share, usage.in_bytes_per_s,
                  usage.out_bytes_per_s, usage.way_s),
      false);
}

void RunLog::mode(const ModeChange& change) {
  put(modes_, fmt::format("{:.6f},\"{}\",\"{}\"\n", change.at_s, change.mode, change.reason), true);
}

void RunLog::window(const SelectorSample& window) {
  if (windows_) put(windows_, window_line(window) + "\n", true);
}

void RunLog::process(double at_s, const std::string& role, int id, long pid,
                     const std::string& what) {
  put(processes_, fmt::format("{:.3f},{},{},{},\"{}\"\n", at_s, role, id, pid, what), true);
}

void RunLog::membership(double at_s, std::int64_t epoch, int workers, double factor, double rate) {
  put(membership_, fmt::format("{:.3f},{},{},{:.6g},{:.6g}\n", at_s, epoch, workers, factor, rate),
      true);
}

void RunLog::checkpoint(const SavedCheckpoint& saved) {
  put(checkpoints_,
      fmt::format("{:.3f},{},{},{},{:.6f}\n", saved.at_s, saved.version, saved.gradients,
                  saved.bytes, saved.save_s),
      true);
}

void RunLog::flush() {
  for (Table* const table : tables()) flush(*table);
}

Status RunLog::status() const {
  for (const Table* const table : tables()) {
    if (table->failed.ok()) continue;
    Error error = table->failed.error();
    error.message += "; lines are missing from this table";
    return error;
  }
  return {};
}

}  // namespace orrery
