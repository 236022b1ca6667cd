#include "train/run_log.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "base/files.h"
#include "train/window_log.h"

namespace orrery {

struct RunLog::Table {
  std::FILE* file = nullptr;
  explicit Table(std::FILE* opened) : file(opened) {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  ~Table() { std::fclose(file); }
  void line(const std::string& text) const { std::fputs(text.c_str(), file); }
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
RunLog::~RunLog() = default;

Status RunLog::add(std::unique_ptr<Table>& table, const std::string& name,
                   const std::string& columns) {
  const std::string path = folder_ + "/" + name;
  cut_half_line(path);
  std::FILE* const file = std::fopen(path.c_str(), "ae");
  if (file == nullptr) return system_error(path, errno);
  table = std::make_unique<Table>(file);
  std::fseek(file, 0, SEEK_END);
  if (std::ftell(file) == 0) table->line(columns + "\n");
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

void RunLog::curve(const CurvePoint& point) {
  if (!curve_) return;
  curve_->line(fmt::format("{:.6f},{},{},{:.6f},{:.6f}\n", point.at_s, point.version, point.samples,
                           point.accuracy, point.loss));
  std::fflush(curve_->file);
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
  std::fflush(modes_->file);
}

void RunLog::window(const SelectorSample& window) {
  if (!windows_) return;
  windows_->line(window_line(window) + "\n");
  std::fflush(windows_->file);
}

void RunLog::process(double at_s, const std::string& role, int id, long pid,
                     const std::string& what) {
  if (!processes_) return;
  processes_->line(fmt::format("{:.3f},{},{},{},\"{}\"\n", at_s, role, id, pid, what));
  std::fflush(processes_->file);
}

void RunLog::flush() {
  if (iterations_) std::fflush(iterations_->file);
}

}  // namespace orrery
