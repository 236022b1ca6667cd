#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "report/event_log/event_log_reader.h"
#include "system/process.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const std::string kJobs = "job_id,submit_s,gpus,duration_s\na,0,1,5\nb,1,2,5\n";

Words simulate(const std::string& trace, const Words& more) {
  Words words = {"simulate", "--trace", trace, "--cluster", "1x8", "--quiet"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// Reads the log to its end and counts its events; -1 if it is corrupt.
int events_in(const std::string& path) {
  auto opened = EventLogReader::open(path);
  if (!opened.ok()) return -1;
  EventLogReader reader = std::move(opened).value();
  Event event;
  for (int events = 0;; ++events) {
    const auto more = reader.next(event);
    if (!more.ok()) return -1;
    if (!more.value()) return events;
  }
}

TEST(OutputFiles, ADeviceStaysADevice) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kJobs);
  for (const char* option : {"--report", "--events"}) {
    const std::string null = folder.file(std::string("null") + option);
    if (::mknod(null.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
      GTEST_SKIP() << "making a device needs root";
    }
    EXPECT_EQ(run_orrery(simulate(trace, {"--policy", "las", option, null})).exit_code, 0);
    EXPECT_TRUE(fs::is_character_file(null)) << option;
  }
}

TEST(OutputFiles, APipeGetsTheBytes) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kJobs);
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string text;
  {
    const std::jthread reader([&] { text = file_text(pipe); });
    const Finished run = run_orrery({"record", "--trace", trace, "--cluster", "1x8", "--policy",
                                     "las", "--quiet", "--format", "events", "-o", pipe});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    if (!fs::is_fifo(pipe)) std::ofstream(pipe).close();
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_TRUE(text.starts_with("{\"orrery_events\":1")) << text.substr(0, 40);
}

TEST(OutputFiles, ALinkStaysAndItsTargetIsReplaced) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kJobs);
  const std::string target = folder.write("target.html", "old");
  fs::create_symlink(target, folder.file("link.html"));
  const Finished run =
      run_orrery(simulate(trace, {"--policy", "las", "--report", folder.file("link.html")}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(fs::is_symlink(folder.file("link.html")));
  EXPECT_TRUE(file_text(target).starts_with("<!doctype html>"));
}

TEST(OutputFiles, AnInputIsRefusedByNameAndStaysWhole) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kJobs);
  const std::string cluster = folder.write("c.csv",
                                           "num_switch,num_node_p_switch,num_gpu_p_node,"
                                           "num_cpu_p_node,mem_p_node\n1,1,8,8,8\n");
  fs::create_symlink(trace, folder.file("link"));
  const Words base = {"--cluster", cluster, "--policy", "las"};
  const auto with = [&](Words words) {
    words.insert(words.end(), base.begin(), base.end());
    return words;
  };
  const std::vector<std::pair<Words, std::string>> calls = {
      {with({"simulate", "--trace", trace, "--report", trace}), "--trace"},
      {with({"simulate", "--trace", trace, "--report", folder.file("link")}), "--trace"},
      {with({"simulate", "--trace", trace, "--events", trace}), "--trace"},
      {with({"simulate", "--trace", trace, "--report", cluster}), "--cluster"},
      {with({"record", "--trace", trace, "-o", trace}), "--trace"},
      {with({"record", "--trace", trace, "-o", folder.file("x"), "--report", folder.file("x")}),
       "--out"},
  };
  for (const auto& [words, option] : calls) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Finished run = run_orrery(words);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    EXPECT_NE(run.err.find(option), std::string::npos) << run.err;
    EXPECT_EQ(file_text(trace), kJobs);
  }
  const std::string log = folder.file("log.jsonl");
  ASSERT_EQ(run_orrery(simulate(trace, {"--policy", "las", "--events", log})).exit_code, 0);
  const std::string before = file_text(log);
  EXPECT_EQ(run_orrery({"replay", log, "--report", log}).exit_code, 2);
  EXPECT_EQ(file_text(log), before);
}

TEST(OutputFiles, AWrongPathIsReportedBeforeTheRunAndLeavesNothing) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kJobs);
  const Finished run = run_orrery(simulate(
      trace, {"--policy", "las", "--report", folder.file("no/x"), "--events", folder.file("e")}));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("no/x: cannot be written: No such file or directory"), std::string::npos)
      << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(entries(folder.path()), 1U);
}

TEST(EventLogs, TracesOfOneNameWriteLogsOfTheirOwn) {
  const TestFolder folder;
  fs::create_directories(folder / "a");
  fs::create_directories(folder / "b");
  const std::string first = folder.write("a/t.csv", kJobs);
  const std::string second = folder.write("b/t.csv", kJobs + "c,2,1,5\n");
  fs::create_directories(folder / "logs");
  const Finished run =
      run_orrery({"simulate", "--trace", first, "--trace", second, "--cluster", "1x8", "--policy",
                  "las,las,srtf", "--quiet", "--events", folder.file("logs/e.jsonl")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(entries(folder / "logs"), 6U);
  int events = 0;
  for (const auto& entry : fs::directory_iterator(folder / "logs")) {
    const int count = events_in(entry.path());
    EXPECT_GT(count, 0) << entry.path() << " is corrupt";
    events += count;
  }
  EXPECT_EQ(events, 3 * (2 * 3) + 3 * (3 * 3));
}

}  // namespace
}  // namespace orrery
