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

  void line(const std::string& text) {
    constexpr std::size_t kPendingMost = std::size_t{1} << 16;
    pending += text;
    if (pending.size() >= kPendingMost) flush();
  }
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
  if (table->whole == 0) table->line(columns + "\n");
  return {};
}

Result<std::unique_ptr<RunLog>> RunLog::open(const std::string& folder) {
  std::unique_ptr<RunLog> log(new RunLog(folder));
  if (folder.empty()) return log;
  TRY(log->add(log->curve_, "curve.csv", "time_s,version,samples,accuracy,loss"));
  TRY(log->add(log->iterations_, "iterations.csv",
               "time_s,worker,task,took_s,samples,staleness,loss,norm2,cpu_share,throttled_share,"
               "in_bytes_per_s,out_bytes_per_s,way_s"));
  TRY(log->add(log->modes_, "steer.csv", "time_s,mode,reason"));
  TRY(log->add(log->windows_, "windows.csv", window_columns()));
  TRY(log->add(log->processes_, "processes.csv", "time_s,role,id,pid,what"));
  return log;
}

void RunLog::curve(const EvaluatedVersion& point) {
  if (!curve_) return;
  curve_->line(fmt::format("{:.6f},{},{},{:.6f},{:.6f}\n", point.at_s, point.version, point.samples,
                           point.accuracy, point.loss));
  curve_->flush();
}

void RunLog::iteration(const IterationSample& sample) {
  if (!iterations_) return;
  const Usage& usage = sample.usage;
  iterations_->line(fmt::format(
      "{:.6f},{},{},{:.6f},{},{},{:.6g},{:.6g},{:.4f},{:.4f},{:.0f},{:.0f},{:.6f}\n",
      seconds(sample.at), static_cast<int>(sample.worker), sample.task, seconds(sample.took),
      sample.samples, sample.staleness, sample.loss, sample.norm2, usage.cpu_share,
      usage.throttled_share, usage.in_bytes_per_s, usage.out_bytes_per_s, usage.way_s));
}

void RunLog::mode(const ModeChange& change) {
  if (!modes_) return;
  modes_->line(fmt::format("{:.6f},\"{}\",\"{}\"\n", change.at_s, change.mode, change.reason));
  modes_->flush();
}

void RunLog::window(const SelectorSample& window) {
  if (!windows_) return;
  windows_->line(window_line(window) + "\n");
  windows_->flush();
}

void RunLog::process(double at_s, const std::string& role, int id, long pid,
                     const std::string& what) {
  if (!processes_) return;
  processes_->line(fmt::format("{:.3f},{},{},{},\"{}\"\n", at_s, role, id, pid, what));
  processes_->flush();
}

void RunLog::flush() {
  for (const auto* table : {&curve_, &iterations_, &modes_, &windows_, &processes_}) {
    if (*table) (*table)->flush();
  }
}

Status RunLog::status() const {
  for (const auto* table : {&curve_, &iterations_, &modes_, &windows_, &processes_}) {
    if (*table && !(*table)->failed.ok()) {
      Error error = (*table)->failed.error();
      error.message += "; lines are missing from this table";
      return error;
    }
  }
  return {};
}

}  // namespace orrery
