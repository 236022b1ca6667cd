#include "report/html.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/random.h"
#include "report/metrics.h"
#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

enum class Order { Arrival, Shortest, Shared };

// A small scheduler of its own, to have runs that look like runs: jobs of one node at most, started
// in order of arrival or of length, and in the last case two to a GPU at three quarters of the
// speed.
TestRun simulated(Order order, int jobs, int nodes, std::uint64_t seed) {
  TestRun run(nodes, 8);
  run.workload.names = {"resnet50", "bert", "vgg19", "gpt2"};
  Random random(seed);
  struct Todo {
    double at_s;
    double length_s;
    int id;
    int gpus;
  };
  std::vector<Todo> arrivals;
  double at_s = 0;
  for (int id = 0; id < jobs; ++id) {
    const int gpus = 1 << random.between(0, 3);
    arrivals.push_back({at_s, std::exp(random.normal() * 1.3 + 8), id, gpus});
    at_s += random.exponential(2650.0 / nodes);
  }
  struct Running {
    double end_s;
    int id;
    int node;
    std::uint64_t gpus;
  };
  std::vector<Running> running;
  std::vector<Todo> waiting;
  const int depth = order == Order::Shared ? 2 : 1;
  std::vector<std::array<int, 8>> load(static_cast<std::size_t>(nodes), std::array<int, 8>{});
  const auto try_start = [&](const Todo& job, double now_s) {
    for (std::size_t node = 0; node < load.size(); ++node) {
      std::uint64_t gpus = 0;
      for (std::size_t gpu = 0; gpu < 8 && std::popcount(gpus) < job.gpus; ++gpu) {
        if (load[node][gpu] < depth) gpus |= 1ULL << gpu;
      }
      if (std::popcount(gpus) < job.gpus) continue;
      for (std::size_t gpu = 0; gpu < 8; ++gpu) load[node][gpu] += gpus >> gpu & 1 ? 1 : 0;
      const double rate = depth == 2 ? 0.75 : 1;
      run.hold(now_s, job.id, Started, {{NodeId{static_cast<int>(node)}, gpus}}, rate, now_s + 20);
      running.push_back({now_s + 20 + job.length_s / rate, job.id, static_cast<int>(node), gpus});
      return true;
    }
    return false;
  };
  std::size_t next = 0;
  while (next < arrivals.size() || !running.empty()) {
    const auto first = std::ranges::min_element(running, {}, &Running::end_s);
    double now_s = 0;
    if (next < arrivals.size() && (running.empty() || arrivals[next].at_s < first->end_s)) {
      const Todo& job = arrivals[next++];
      now_s = job.at_s;
      JobSpec& spec = run.submit(now_s, job.id, job.gpus, job.length_s, 1);
      spec.model = NameId{job.id % 4};
      if (job.id == 7) spec.name = "</script><script>alert('x')</script>";
      waiting.push_back(job);
    } else {
      now_s = first->end_s;
      for (std::size_t gpu = 0; gpu < 8; ++gpu) {
        load[static_cast<std::size_t>(first->node)][gpu] -= first->gpus >> gpu & 1 ? 1 : 0;
      }
      run.add(now_s, first->id, Completed);
      running.erase(first);
    }
    if (order != Order::Arrival) std::ranges::stable_sort(waiting, {}, &Todo::length_s);
    for (std::size_t i = 0; i < waiting.size();) {
      if (try_start(waiting[i], now_s)) {
        waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
      } else if (order == Order::Arrival) {
        break;
      } else {
        ++i;
      }
    }
  }
  return run;
}

ReportRun report_run(const TestRun& run, std::string policy) {
  Metrics metrics({.cluster = run.cluster, .workload = &run.workload, .window = {}});
  SeriesRecorder recorder({.cluster = run.cluster, .workload = &run.workload});
  run.send(metrics);
  run.send(recorder);
  ReportRun out{metrics.summary(), recorder.series(), {{"seed", "1"}, {"options", "quantum=60s"}}};
  out.summary.trace = "synthetic <b>trace</b>";
  out.summary.policy = std::move(policy);
  out.summary.cluster = "test";
  out.summary.semantics = "orrery";
  out.summary.wall_s = 0.18;
  out.summary.cpu_s = 0.17;
  out.summary.peak_mb = 21.4;
  return out;
}

std::vector<ReportRun> three_policies(int jobs, int nodes) {
  return {report_run(simulated(Order::Arrival, jobs, nodes, 1), "fifo"),
          report_run(simulated(Order::Shortest, jobs, nodes, 1), "srtf"),
          report_run(simulated(Order::Shared, jobs, nodes, 1), "muri-s")};
}

nlohmann::json data_in(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto from = page.find(open) + open.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

TEST(HtmlReport, LoadsNothing) {
  const std::string page = html_report(three_policies(60, 2));
  EXPECT_EQ(page.find("http:"), std::string::npos);
  EXPECT_EQ(page.find("https:"), std::string::npos);
  EXPECT_EQ(page.find("@import"), std::string::npos);
  EXPECT_EQ(page.find("url("), std::string::npos);
  EXPECT_EQ(page.find("fetch("), std::string::npos);
  const std::regex loads("(src|href)=\"(?!data:,|#)");
  EXPECT_FALSE(std::regex_search(page.substr(0, page.find("<script type")), loads));
}

TEST(HtmlReport, TextFromTracesIsNeverMarkup) {
  const std::string page = html_report(three_policies(60, 2));
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  EXPECT_EQ(page.find("<b>trace"), std::string::npos);
  const auto data = data_in(page);
  EXPECT_EQ(data.at(0).at("series").at("jobs").at(7).at(0), "</script><script>alert('x')</script>");
  EXPECT_EQ(data.at(0).at("summary").at("trace"), "synthetic <b>trace</b>");
}

TEST(HtmlReport, MarkersInNamesStayNames) {
  auto runs = three_policies(20, 1);
  runs[1].summary.policy = "/*orrery:data*/<!--orrery:plain-->";
  const auto data = data_in(html_report(runs));
  EXPECT_EQ(data.at(1).at("summary").at("policy"), "/*orrery:data*/<!--orrery:plain-->");
}

TEST(HtmlReport, CarriesTheSeriesAndSpansOfEveryRun) {
  const auto runs = three_policies(60, 2);
  const auto data = data_in(html_report(runs));
  ASSERT_EQ(data.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& series = data.at(i).at("series");
    EXPECT_EQ(series.at("waiting").size(), runs[i].series.waiting.size());
    EXPECT_EQ(series.at("rows").size(), 2u);
    EXPECT_EQ(series.at("rows").at(0).at(2).get<std::string>().size(),
              runs[i].series.rows[0].held.size());
    EXPECT_EQ(series.at("spans").size(), 60u);
    EXPECT_EQ(data.at(i).at("settings").at(0).at(1), "1");
  }
}

TEST(HtmlReport, IsAPageEvenWithoutRuns) { EXPECT_TRUE(data_in(html_report({})).empty()); }

// Set ORRERY_REPORT to a folder to look at pages like those of a real comparison.
TEST(HtmlReport, LeavesPagesToLookAtWhenAsked) {
  const char* folder = std::getenv("ORRERY_REPORT");
  if (folder == nullptr) GTEST_SKIP() << "ORRERY_REPORT is not set";
  const auto save = [&](const std::string& name, const std::vector<ReportRun>& runs) {
    std::ofstream(std::string(folder) + "/" + name) << html_report(runs);
  };
  save("small.html", three_policies(240, 4));
  save("large.html", three_policies(20000, 60));
  auto several = three_policies(100, 2);
  several.push_back(several[0]);
  several.back().summary.trace = "another";
  save("several.html", several);
  save("empty.html", {});
}

}  // namespace
}  // namespace orrery
