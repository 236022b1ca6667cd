#include "report/page/html.h"

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
#include "report/metrics/metrics.h"
#include "report/page/series_recorder.h"
#include "report/test_run.h"

namespace orrery {
namespace {

using enum EventKind;

enum class Order { Arrival, Shortest, Shared };

// A small scheduler of its own, to have runs that look like runs: jobs of one node at most, started
// in order of arrival or of length, and in the last case two to a GPU at three quarters of the
// speed. With deadlines, the one that goes by length refuses jobs when many wait and promises the
// others to be in time, which may be wrong.
class Simulation {
 public:
  Simulation(Order order, int jobs, int nodes, bool deadlines = false)
      : run_(nodes, 8),
        order_(order),
        deadlines_(deadlines),
        load_(static_cast<std::size_t>(nodes)) {
    run_.workload.names = {"resnet50", "bert", "vgg19", "gpt2"};
    Random random(1);
    double at_s = 0;
    for (int id = 0; id < jobs; ++id) {
      const int gpus = 1 << random.between(0, 3);
      arrivals_.push_back({at_s, std::exp(random.normal() * 1.3 + 8), id, gpus});
      at_s += random.exponential(2650.0 / nodes);
    }
  }

  TestRun run() && {
    std::size_t next = 0;
    while (next < arrivals_.size() || !running_.empty()) {
      const auto first = std::ranges::min_element(running_, {}, &Running::end_s);
      if (next < arrivals_.size() && (running_.empty() || arrivals_[next].at_s < first->end_s)) {
        start_waiting(submit(arrivals_[next++]));
      } else {
        start_waiting(complete(first));
      }
    }
    return std::move(run_);
  }

 private:
  struct Todo {
    double at_s;
    double length_s;
    int id;
    int gpus;
  };
  struct Running {
    double end_s;
    int id;
    std::size_t node;
    std::uint64_t gpus;
  };

  double submit(const Todo& job) {
    JobSpec& spec = run_.submit(job.at_s, job.id, job.gpus, job.length_s, 1);
    spec.model = NameId{job.id % 4};
    if (job.id == 7) spec.name = "</script><script>alert('x')</script>";
    if (deadlines_ && job.id % 5 != 0) {
      spec.deadline = time_from_seconds(job.at_s + job.length_s * (1 + job.id % 3) + 30);
      run_.workload.jobs.push_back(spec);
      if (order_ == Order::Shortest && refuse(job, *spec.deadline)) return job.at_s;
    } else {
      run_.workload.jobs.push_back(spec);
    }
    waiting_.push_back(job);
    return job.at_s;
  }

  bool refuse(const Todo& job, Time deadline) {
    const bool refused = waiting_.size() > 4 || job.id == 7;
    Event& event = run_.add(job.at_s, job.id, refused ? Rejected : Admitted);
    const Time now = event.time;
    event.promised = deadline;
    if (refused) {
      event.reason = {Reason::Code::Promised,
                      kNoJob,
                      job.gpus,
                      job.gpus / 2,
                      now + from_seconds(40),
                      deadline,
                      deadline + from_seconds(86.4 * job.gpus)};
    }
    return refused;
  }

  double complete(std::vector<Running>::iterator job) {
    const double now_s = job->end_s;
    add_load(job->node, job->gpus, -1);
    run_.add(now_s, job->id, Completed);
    running_.erase(job);
    return now_s;
  }

  void start_waiting(double now_s) {
    if (order_ != Order::Arrival) std::ranges::stable_sort(waiting_, {}, &Todo::length_s);
    for (auto job = waiting_.begin(); job != waiting_.end();) {
      if (try_start(*job, now_s)) {
        job = waiting_.erase(job);
      } else if (order_ == Order::Arrival) {
        break;
      } else {
        ++job;
      }
    }
  }

  bool try_start(const Todo& job, double now_s) {
    const int depth = order_ == Order::Shared ? 2 : 1;
    const double rate = order_ == Order::Shared ? 0.75 : 1;
    for (std::size_t node = 0; node < load_.size(); ++node) {
      std::uint64_t gpus = 0;
      for (std::size_t gpu = 0; gpu < 8 && std::popcount(gpus) < job.gpus; ++gpu) {
        if (load_[node][gpu] < depth) gpus |= 1ULL << gpu;
      }
      if (std::popcount(gpus) < job.gpus) continue;
      add_load(node, gpus, 1);
      const NodeId id{static_cast<int>(node)};
      run_.hold(now_s, job.id, Started, {{id, gpus}}, rate, now_s + 20);
      running_.push_back({now_s + 20 + job.length_s / rate, job.id, node, gpus});
      return true;
    }
    return false;
  }

  void add_load(std::size_t node, std::uint64_t gpus, int change) {
    for (std::size_t gpu = 0; gpu < 8; ++gpu) {
      if ((gpus >> gpu & 1) != 0) load_[node][gpu] += change;
    }
  }

  TestRun run_;
  Order order_;
  bool deadlines_;
  std::vector<std::array<int, 8>> load_;
  std::vector<Todo> arrivals_;
  std::vector<Todo> waiting_;
  std::vector<Running> running_;
};

ReportRun report_run(const TestRun& run, std::string policy) {
  Metrics metrics({.cluster = run.cluster, .workload = &run.workload, .window = {}});
  SeriesRecorder recorder({.cluster = run.cluster, .workload = &run.workload});
  run.send(metrics);
  run.send(recorder);
  ReportRun out;
  out.summary = metrics.summary();
  out.series = recorder.series();
  out.settings = {{"seed", "1"}, {"options", "quantum=60s"}};
  out.completion_times = metrics.completion_times();
  out.series.completion_times = distribution(out.completion_times, run.workload.jobs.size());
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
  return {report_run(Simulation(Order::Arrival, jobs, nodes).run(), "fifo"),
          report_run(Simulation(Order::Shortest, jobs, nodes).run(), "srtf"),
          report_run(Simulation(Order::Shared, jobs, nodes).run(), "muri-s")};
}

std::vector<ReportRun> with_deadlines(int jobs, int nodes) {
  return {report_run(Simulation(Order::Arrival, jobs, nodes, true).run(), "fifo"),
          report_run(Simulation(Order::Shortest, jobs, nodes, true).run(), "promising"),
          report_run(Simulation(Order::Shared, jobs, nodes, true).run(), "muri-s")};
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
  EXPECT_FALSE(std::regex_search(page, std::regex("url\\((?!#)")));
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
    EXPECT_EQ(series.at("waiting").size(), runs[i].series.waiting.mean.size());
    EXPECT_EQ(series.at("rows").size(), 2u);
    EXPECT_EQ(series.at("rows").at(0).at(2).get<std::string>().size(),
              runs[i].series.rows[0].held.size());
    EXPECT_EQ(series.at("spans").size(), 60u);
    EXPECT_EQ(data.at(i).at("settings").at(0).at(1), "1");
  }
}

TEST(HtmlReport, CarriesDeadlinesAndRefusalsWhereThereAreAny) {
  const auto runs = with_deadlines(60, 1);
  const std::string page = html_report(runs);
  EXPECT_EQ(page.find("<script>alert"), std::string::npos);
  const auto data = data_in(page);
  const auto& series = data.at(1).at("series");
  const auto buckets = series.at("waiting").size();
  EXPECT_EQ(series.at("efficiency").size(), buckets);
  for (const char* key : {"asked", "promised", "met", "missed"}) {
    EXPECT_EQ(series.at("deadlines").at(key).size(), buckets) << key;
  }
  EXPECT_EQ(series.at("deadlines").at("asked").back(), 48);
  ASSERT_EQ(series.at("refusals").size(), runs[1].series.refusals.size());
  EXPECT_EQ(series.at("refusals").at(1).at(0), "</script><script>alert('x')</script>");
  EXPECT_EQ(series.at("refusals").at(0).at(3), runs[1].series.refusals[0].reason);
  EXPECT_EQ(data.at(1).at("summary").at("promises"), 48 - runs[1].summary.rejected);
  EXPECT_TRUE(
      data_in(html_report(three_policies(20, 1))).at(0).at("series").at("deadlines").is_null());
}

TEST(HtmlReport, FiguresStandAboveTheRunsAndTheirTextIsNoMarkup) {
  const ReportFigure figures[] = {{"<Figure> 1", "a & b", "<svg id=\"one\"></svg>"},
                                  {"Figure 2", "", "<svg id=\"two\"></svg>"}};
  const std::string page = html_report({}, figures);
  const std::size_t one = page.find("<svg id=\"one\"></svg>");
  const std::size_t two = page.find("<svg id=\"two\"></svg>");
  ASSERT_NE(two, std::string::npos);
  EXPECT_LT(one, two);
  EXPECT_LT(two, page.find("<main"));
  // On a narrow screen a drawing keeps a readable size, and its part of the page scrolls.
  EXPECT_NE(page.find("<div class=\"scroll\"><svg id=\"one\""), std::string::npos);
  EXPECT_NE(page.find("<h2>&lt;Figure&gt; 1</h2><p class=\"hint\">a &amp; b</p>"),
            std::string::npos);
}

TEST(HtmlReport, CarriesTheLowestAndHighestOfEachBucketBesideItsMean) {
  const auto runs = with_deadlines(200, 1);
  const auto data = data_in(html_report(runs));
  for (const auto& run : data) {
    const auto& series = run.at("series");
    for (const char* key : {"waiting", "held", "efficiency", "up", "cpus", "memory"}) {
      const auto& means = series.at(key);
      const auto& bounds = series.at("bounds").at(key);
      ASSERT_EQ(bounds.at(0).size(), means.size()) << key;
      ASSERT_EQ(bounds.at(1).size(), means.size()) << key;
      for (std::size_t i = 0; i < means.size(); ++i) {
        EXPECT_LE(bounds.at(0).at(i), means.at(i)) << key;
        EXPECT_GE(bounds.at(1).at(i), means.at(i)) << key;
      }
    }
    EXPECT_FALSE(series.at("bounds").at("waiting").at(0).empty());
  }
}

TEST(HtmlReport, RunsOfTheSameJobsHaveThemOnce) {
  auto runs = three_policies(60, 2);
  runs[2].series.jobs[5].name = "another";
  const auto data = data_in(html_report(runs));
  EXPECT_EQ(data.at(0).at("series").at("jobs").size(), 60u);
  EXPECT_EQ(data.at(1).at("series").at("jobs"), 0);
  EXPECT_EQ(data.at(2).at("series").at("jobs").size(), 60u);
}

TEST(HtmlReport, NamesThatTurnTheDirectionOfTextDoNot) {
  auto runs = three_policies(20, 1);
  runs[1].summary.policy = "x\u202egpj";
  runs[1].summary.warnings = {"y\u2066"};
  runs[1].series.jobs[3].name = "z\u202e";
  const std::string page = html_report(runs);
  EXPECT_EQ(page.find("\u202e"), std::string::npos);
  EXPECT_EQ(page.find("\u2066"), std::string::npos);
  EXPECT_EQ(data_in(page).at(1).at("summary").at("policy"), "x?gpj");
}

TEST(HtmlReport, TwentyFourRunsStayBelowThreeMegabytes) {
  std::vector<ReportRun> runs;
  const TestRun large = Simulation(Order::Shortest, 6000, 300, true).run();
  const TestRun small = Simulation(Order::Arrival, 1200, 40, true).run();
  for (int i = 0; i < 24; ++i) {
    const TestRun& run = i % 2 == 0 ? large : small;
    SeriesRecorder recorder(shared_page({.cluster = run.cluster, .workload = &run.workload}, 24));
    run.send(recorder);
    ReportRun& one = runs.emplace_back();
    one.series = recorder.series();
    one.summary.policy = "policy" + std::to_string(i);
    EXPECT_EQ(one.series.rows.size(), i % 2 == 0 ? 100u : 40u);
    EXPECT_EQ(one.series.spans.size(), i % 2 == 0 ? 0u : 1200u);
  }
  EXPECT_LT(html_report(runs).size(), 3'000'000u);
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
  save("deadlines.html", with_deadlines(240, 2));
  auto bare = std::vector<ReportRun>(2);
  bare[1].summary.policy = "other";
  save("bare.html", bare);
}

TEST(HtmlReport, AHeadlineStandsAboveTheFiguresAsText) {
  const ReportFigure figure{.title = "A figure", .caption = "", .svg = "<svg></svg>"};
  const std::string page =
      html_report({}, {&figure, 1}, {.title = "T<1>", .subtitle = "S", .verdict = "V & W"});
  EXPECT_NE(page.find("<h1 id=\"title\">T&lt;1&gt;</h1>"), std::string::npos);
  EXPECT_NE(page.find("<p id=\"subtitle\">S</p>"), std::string::npos);
  EXPECT_NE(page.find("<p id=\"verdict\">V &amp; W</p>"), std::string::npos);
}

}  // namespace
}  // namespace orrery
