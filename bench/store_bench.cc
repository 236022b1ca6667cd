// How many records a second are acknowledged as on disk, by the number of threads that each append
// one, wait for it and go on; how long one of them waits at the median and at the 99th percentile;
// and how many records go into a commit. `plain` appends one record a transaction without the
// Committer; `fsync` is what the disk itself takes to write a page at the end of a file and wait.
// The files are made in the folder ORRERY_BENCH_DIR names, or else in the current one.
#include <benchmark/benchmark.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "live/store/committer.h"

namespace orrery {
namespace {

// A submission with its options takes about as much.
Record submission() {
  return {.kind = "submitted", .job = 1, .body = std::string(400, 'x')};
}

class BenchFile {
 public:
  BenchFile() {
    const char* given = std::getenv("ORRERY_BENCH_DIR");
    path_ = std::string(given != nullptr ? given : ".") + "/store_bench.db";
    remove();
  }
  ~BenchFile() { remove(); }
  BenchFile(const BenchFile&) = delete;
  BenchFile& operator=(const BenchFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  void remove() const {
    std::error_code ignored;
    for (const char* end : {"", "-wal", "-mark"}) std::filesystem::remove(path_ + end, ignored);
  }
  std::string path_;
};

void disk_alone(benchmark::State& state) {
  const BenchFile file;
  const int handle = open(file.path().c_str(), O_RDWR | O_CREAT, 0644);
  const std::string page(4096, 'x');
  for (auto _ : state) {
    if (write(handle, page.data(), page.size()) != std::ssize(page) || fdatasync(handle) != 0) {
      state.SkipWithError("cannot write");
      break;
    }
  }
  close(handle);
  state.SetItemsProcessed(state.iterations());
}

void plain(benchmark::State& state) {
  const BenchFile file;
  Result<Store> opened = Store::open(file.path());
  if (!opened.ok()) return state.SkipWithError(opened.error().message.c_str());
  Store store = std::move(opened).value();
  Record record = submission();
  for (auto _ : state) {
    record.sequence = store.last() + 1;
    const Status status = store.append({&record, 1});
    if (!status.ok()) return state.SkipWithError(status.error().message.c_str());
  }
  state.SetItemsProcessed(state.iterations());
}

// One thread's share of a burst: how long each append took, in seconds.
std::vector<double> append_some(Committer& committer, int count, std::atomic<bool>& failed) {
  std::vector<double> waits;
  for (int i = 0; i < count && !failed; ++i) {
    const auto begun = std::chrono::steady_clock::now();
    const Result<Ticket> ticket = committer.append(submission());
    if (!ticket.ok() || !ticket.value().wait().ok()) failed = true;
    waits.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
  }
  return waits;
}

void together(benchmark::State& state) {
  const BenchFile file;
  Result<Store> opened = Store::open(file.path());
  if (!opened.ok()) return state.SkipWithError(opened.error().message.c_str());
  std::int64_t commits = 0;
  Committer committer(std::move(opened).value(), {.on_commit = [&](std::int64_t) { ++commits; }});
  const auto threads = static_cast<std::size_t>(state.range(0));
  constexpr int kEach = 200;
  std::vector<double> waits;
  std::atomic<bool> failed = false;
  for (auto _ : state) {
    std::vector<std::vector<double>> each(threads);
    std::vector<std::thread> running;
    for (std::size_t i = 0; i < threads; ++i) {
      running.emplace_back([&, i] { each[i] = append_some(committer, kEach, failed); });
    }
    for (std::thread& thread : running) thread.join();
    for (const auto& some : each) waits.insert(waits.end(), some.begin(), some.end());
  }
  if (!committer.close().ok() || failed) return state.SkipWithError("a write failed");
  std::sort(waits.begin(), waits.end());
  state.SetItemsProcessed(std::ssize(waits));
  state.counters["p50_ms"] = 1e3 * waits[waits.size() / 2];
  state.counters["p99_ms"] = 1e3 * waits[waits.size() * 99 / 100];
  state.counters["per_commit"] =
      static_cast<double>(waits.size()) / static_cast<double>(std::max<std::int64_t>(commits, 1));
}

// From a snapshot and range(0) records to everything read and checked.
void reopen(benchmark::State& state) {
  const BenchFile file;
  {
    Result<Store> opened = Store::open(file.path());
    if (!opened.ok()) return state.SkipWithError(opened.error().message.c_str());
    Store store = std::move(opened).value();
    std::vector<Record> records(static_cast<std::size_t>(state.range(0)), submission());
    for (std::size_t i = 0; i < records.size(); ++i) {
      records[i].sequence = static_cast<std::int64_t>(i) + 1;
    }
    if (!store.append(records).ok()) return state.SkipWithError("cannot append");
    if (!store.put_snapshot(1, std::string(std::size_t{32} << 20, 's')).ok()) {
      return state.SkipWithError("cannot put a snapshot");
    }
  }
  for (auto _ : state) {
    Result<Store> opened = Store::open(file.path());
    if (!opened.ok()) return state.SkipWithError(opened.error().message.c_str());
    Store store = std::move(opened).value();
    std::size_t bytes = store.latest_snapshot().value().bytes.size();
    const Status status = store.read(1, [&](const Record& record) {
      bytes += record.body.size();
      return Status();
    });
    if (!status.ok()) return state.SkipWithError(status.error().message.c_str());
    benchmark::DoNotOptimize(bytes);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(disk_alone)->Name("store/fsync")->UseRealTime();
BENCHMARK(plain)->Name("store/plain")->UseRealTime();
BENCHMARK(together)
    ->Name("store/threads")
    ->Arg(1)
    ->Arg(8)
    ->Arg(64)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(reopen)->Name("store/reopen")->Arg(100'000)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
