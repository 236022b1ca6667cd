// Reading traces, one thread: rows and bytes a second of CPU time, and the most memory the process
// had while it read, the jobs themselves included (peak_MB; jobs_MB is what they alone take): name
// one benchmark with --benchmark_filter, as memory of the one before may not have been given back.
// The files are made first, in the temporary folder, and removed at the end.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/random.h"
#include "base/test_folder.h"
#include "workload/trace.h"

namespace orrery {
namespace {

constexpr std::int64_t kRows = 1'000'000;
constexpr std::int64_t kPhillyJobs = 120'000;

std::string date(std::int64_t since_s) {
  const std::int64_t day = since_s / 86400;
  return fmt::format("2020-{:02}-{:02} {:02}:{:02}:{:02}", 1 + day / 28 % 12, 1 + day % 28,
                     since_s / 3600 % 24, since_s / 60 % 60, since_s % 60);
}

std::int64_t below(Random& random, std::uint64_t bound) {
  return static_cast<std::int64_t>(random.bits() % bound);
}

void make_helios(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  out << "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,"
         "queue\n";
  Random random(1);
  for (std::int64_t i = 0; i < kRows; ++i) {
    const std::int64_t submit = 14 * i, queue = below(random, 500), run = 1 + below(random, 90000);
    out << fmt::format("{},u{:05},vc{:03},{},16,1,COMPLETED,{},{},{},{},{}\n", 1'000'000 + i,
                       below(random, 500), below(random, 30), 1 << below(random, 5), date(submit),
                       date(submit + queue), date(submit + queue + run), run, queue);
  }
}

void make_elasticflow_raw(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  out << "job_id,submission_time,duration,num_gpu\n";
  Random random(1);
  for (std::int64_t i = 0; i < kRows; ++i) {
    out << fmt::format("{:08x}-04ab-1ad1-1c80-{:012x},{},{},{}\n", i, random.bits() >> 16, 14 * i,
                       1 + below(random, 90000), 1 << below(random, 5));
  }
}

// As many jobs as the published log has, each with more attempts, so that the file is larger.
void make_philly(const std::string& path) {
  std::ofstream out(path, std::ios::binary);
  Random random(1);
  for (std::int64_t i = 0; i < kPhillyJobs; ++i) {
    out << (i == 0 ? "[\n" : ",\n");
    out << fmt::format(
        "    {{\n        \"status\": \"Pass\",\n        \"vc\": \"ee9e8c\",\n        \"jobid\": "
        "\"application_1506638472019_{}\",\n        \"attempts\": [\n",
        i);
    for (std::int64_t attempt = 0; attempt < 6; ++attempt) {
      const std::int64_t start = 100 * i + 1000 * attempt;
      out << fmt::format(
          "{}            {{\n                \"start_time\": \"{}\",\n                "
          "\"end_time\": \"{}\",\n                \"detail\": [\n                    {{\n          "
          "              \"ip\": \"m{}\",\n                        \"gpus\": [\n",
          attempt == 0 ? "" : ",\n", date(start), date(start + 900), below(random, 500));
      for (int gpu = 0; gpu < 8; ++gpu) {
        out << fmt::format("                            \"gpu{}\"{}\n", gpu, gpu < 7 ? "," : "");
      }
      out << "                        ]\n                    }\n                ]\n            }";
    }
    out << fmt::format(
        "\n        ],\n        \"submitted_time\": \"{}\",\n        \"user\": \"u{}\"\n    }}",
        date(100 * i), below(random, 300));
  }
  out << "\n]\n";
}

double status_mb(const char* key) {
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double value_kb = 0;
    if (word == key && in >> value_kb) return value_kb / 1024;
  }
  return 0;
}

void forget_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

void reading(benchmark::State& state, const char* name, void (*make)(const std::string&),
             std::int64_t rows) {
  const TestFolder folder;
  const std::string file = folder.file(name);
  make(file);
  const auto bytes = static_cast<std::int64_t>(std::filesystem::file_size(file));
  double peak_mb = 0;
  double jobs_mb = 0;
  for (auto _ : state) {
    forget_peak();
    const auto workload = read_trace(file);
    if (!workload.ok()) {
      state.SkipWithError(workload.error().message.c_str());
      return;
    }
    peak_mb = status_mb("VmHWM:");
    jobs_mb = static_cast<double>(workload.value().jobs.size() * sizeof(JobSpec)) / (1 << 20);
  }
  state.SetItemsProcessed(rows * static_cast<std::int64_t>(state.iterations()));
  state.SetBytesProcessed(bytes * static_cast<std::int64_t>(state.iterations()));
  state.counters["file_MB"] = static_cast<double>(bytes) / (1 << 20);
  state.counters["peak_MB"] = peak_mb;
  state.counters["jobs_MB"] = jobs_mb;
}

BENCHMARK_CAPTURE(reading, philly, "philly.json", make_philly, kPhillyJobs)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, helios, "helios.csv", make_helios, kRows)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(reading, elasticflow_raw, "raw.csv", make_elasticflow_raw, kRows)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace orrery
