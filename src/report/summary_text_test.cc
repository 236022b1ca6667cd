#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/csv.h"
#include "report/json.h"
#include "report/table.h"

namespace orrery {
namespace {

RunSummary run(std::string policy, double avg_s) {
  RunSummary summary;
  summary.trace = "philly.csv";
  summary.policy = std::move(policy);
  summary.semantics = "orrery";
  summary.cluster = "16x8";
  summary.gpus = 128;
  summary.jobs = 1000;
  summary.completed = 1000;
  summary.avg_jct_s = avg_s;
  summary.p50_jct_s = avg_s / 3;
  summary.p95_jct_s = avg_s * 4;
  summary.p99_jct_s = avg_s * 10;
  summary.max_jct_s = avg_s * 12;
  summary.makespan_s = 400000;
  summary.avg_wait_s = avg_s / 2;
  summary.avg_queue = 31.5;
  summary.max_queue = 120;
  summary.gpu_utilisation = 0.873;
  summary.starts = 1234;
  summary.preemptions = 234;
  summary.events = 4321;
  return summary;
}

const char* const kContract[] = {"trace",           "policy",        "semantics",
                                 "cluster",         "gpus",          "jobs",
                                 "completed",       "rejected",      "failed",
                                 "avg_jct_s",       "p50_jct_s",     "p95_jct_s",
                                 "p99_jct_s",       "max_jct_s",     "makespan_s",
                                 "avg_wait_s",      "avg_queue",     "max_queue",
                                 "deadline_ratio",  "deadlines_met", "cluster_efficiency",
                                 "gpu_utilisation", "starts",        "preemptions",
                                 "moves",           "events",        "cpu_s",
                                 "wall_s",          "peak_mb"};

const char* const kLater[] = {"cancelled",
                              "resizes",
                              "promises",
                              "promises_broken",
                              "admitted_gpu_s",
                              "soft_value_won",
                              "best_effort_avg_jct_s",
                              "cpu_utilisation",
                              "memory_utilisation",
                              "rounds",
                              "status",
                              "left",
                              "too_large",
                              "common_jobs",
                              "common_avg_jct_s",
                              "common_p50_jct_s",
                              "common_p99_jct_s",
                              "common_makespan_s",
                              "first_common_avg_jct_s",
                              "first_common_p50_jct_s",
                              "first_common_p99_jct_s",
                              "first_common_makespan_s",
                              "warnings",
                              "goodput",
                              "lost_gpu_h",
                              "fault_restarts",
                              "nodes_lost",
                              "node_downtime_h",
                              "cost",
                              "cost_on_demand",
                              "avg_rho",
                              "max_rho",
                              "unfair_ratio",
                              "jain_index",
                              "arrivals_gpu_utilisation",
                              "arrivals_cluster_efficiency"};

std::vector<std::string> all_keys() {
  std::vector<std::string> keys(std::begin(kContract), std::end(kContract));
  keys.insert(keys.end(), std::begin(kLater), std::end(kLater));
  return keys;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Json, HasTheKeysOfTheContractInItsOrderAndThenThoseThatCameLater) {
  const auto parsed = nlohmann::ordered_json::parse(to_json(std::vector{run("fifo", 5)}));
  EXPECT_EQ(parsed.size(), 1u);
  std::vector<std::string> keys;
  for (const auto& [key, value] : parsed.at("runs").at(0).items()) keys.push_back(key);
  EXPECT_EQ(keys, all_keys());
}

TEST(Json, NumbersReadBackExactlyAndTheUnknownIsNull) {
  RunSummary summary = run("fifo", 0.1 + 0.2);
  summary.makespan_s = 1e300 / 3;
  summary.p95_jct_s = std::numeric_limits<double>::infinity();
  const auto parsed = nlohmann::json::parse(to_json(std::vector{summary})).at("runs").at(0);
  EXPECT_EQ(parsed.at("avg_jct_s").get<double>(), 0.1 + 0.2);
  EXPECT_EQ(parsed.at("makespan_s").get<double>(), 1e300 / 3);
  EXPECT_TRUE(parsed.at("p95_jct_s").is_null());
  EXPECT_TRUE(parsed.at("deadline_ratio").is_null());
  EXPECT_TRUE(parsed.at("deadlines_met").is_null());
  EXPECT_TRUE(parsed.at("cluster_efficiency").is_null());
  EXPECT_EQ(parsed.at("moves").get<int>(), 0);
}

TEST(Json, NamesFromTracesAreEscaped) {
  RunSummary summary = run("fifo", 1);
  summary.trace = "a\"b\\c\n\xFF\xC3\xA9";
  const auto parsed = nlohmann::json::parse(to_json(std::vector{summary}));
  EXPECT_EQ(parsed.at("runs").at(0).at("trace"), "a\"b\\c\n\xEF\xBF\xBD\xC3\xA9");
}

TEST(Json, NoRunsAreAnEmptyList) {
  EXPECT_TRUE(nlohmann::json::parse(to_json(std::vector<RunSummary>{})).at("runs").empty());
}

TEST(Csv, HasTheSameFieldsAndQuotesWhereItMust) {
  RunSummary summary = run("las,\"2\"", 1.5);
  const auto lines = lines_of(to_csv(std::vector{summary}));
  ASSERT_EQ(lines.size(), 2u);
  std::string heading;
  for (const std::string& key : all_keys()) heading += (heading.empty() ? "" : ",") + key;
  EXPECT_EQ(lines[0], heading);
  EXPECT_EQ(
      lines[1],
      "philly.csv,\"las,\"\"2\"\"\",orrery,16x8,128,1000,1000,0,0,1.5,0.5,6,15,18,400000,0.75,"
      "31.5,120,,,,0.873,1234,234,0,4321,,,,0,0,,,,,,,,,complete,0,0,,,,,,,,,,,,,,,,,,,,,,,");
}

TEST(Table, AtEveryWidthNoLineIsWiderAndTheEssentialsStay) {
  const std::vector runs = {run("fifo", 36000), run("srtf", 15584), run("muri-l", 43200)};
  for (const int width : {200, 120, 80, 60, 40}) {
    const std::string text = table(runs, {.width = width, .colour = false, .ratios = true});
    for (const auto& line : lines_of(text)) EXPECT_LE(line.size(), std::size_t(width)) << line;
    for (const char* word : {"fifo", "srtf", "muri-l", "10.0 h", "4.33 h", "12.0 h", "avg JCT"}) {
      EXPECT_NE(text.find(word), std::string::npos) << width << " lacks " << word << '\n' << text;
    }
  }
}

TEST(Table, ColumnsGoInTheStatedOrder) {
  const std::vector runs = {run("fifo", 36000), run("srtf", 15584)};
  const auto shows = [&](int width, const char* title) {
    const auto lines = lines_of(table(runs, {.width = width, .colour = false, .ratios = true}));
    return lines.at(1).find(title) != std::string::npos;
  };
  const char* const order[] = {"starts",  "p50",      "queue", "pauses", "avg wait",
                               "GPU use", "makespan", "done",  "p99"};
  for (int width = 30; width <= 160; ++width) {
    bool seen = false;
    for (const char* title : order) {
      const bool shown = shows(width, title);
      EXPECT_TRUE(shown || !seen) << title << " at " << width;
      seen = seen || shown;
    }
  }
  EXPECT_TRUE(shows(160, "starts"));
  EXPECT_FALSE(shows(80, "starts"));
  EXPECT_TRUE(shows(60, "p99"));
}

RunSummary with_deadlines(RunSummary run, double ratio, std::int64_t promises) {
  run.deadline_ratio = ratio;
  run.deadlines_met = static_cast<std::int64_t>(ratio * 1000);
  run.promises = promises;
  if (promises > 0) run.promises_broken = 3;
  run.best_effort_avg_jct_s = 7200;
  run.cluster_efficiency = 0.456;
  run.resizes = promises;
  return run;
}

TEST(Table, DeadlinesPromisesAndResizesHaveColumnsWhereThereAreAny) {
  const std::vector runs = {with_deadlines(run("edf", 36000), 0.25, 0),
                            with_deadlines(run("elasticflow", 30000), 0.5, 523)};
  const std::string text = table(runs, {.width = 220, .colour = false, .ratios = true});
  for (const char* word : {"deadlines", "25.0 %", "50.0 %", "x2.00 better", "promises", "520/523",
                           "best effort", "2.00 h", "efficiency", "45.6 %", "resizes"}) {
    EXPECT_NE(text.find(word), std::string::npos) << word << '\n' << text;
  }
  EXPECT_EQ(text.find("value won"), std::string::npos);
  const std::string plain =
      table(std::vector{run("fifo", 1), run("srtf", 1)}, {.width = 220, .colour = false});
  for (const char* word : {"deadlines", "promises", "best effort", "efficiency", "resizes"}) {
    EXPECT_EQ(plain.find(word), std::string::npos) << word << '\n' << plain;
  }
}

TEST(Table, OnANarrowTerminalDeadlinesGoLast) {
  std::vector runs = {with_deadlines(run("edf", 36000), 0.25, 0),
                      with_deadlines(run("elasticflow", 30000), 0.5, 523)};
  runs[1].soft_value_won = 12.5;
  for (const int width : {220, 160, 120, 80, 60, 40, 20}) {
    const std::string text = table(runs, {.width = width, .colour = false, .ratios = true});
    for (const auto& line : lines_of(text)) EXPECT_LE(line.size(), std::size_t(width)) << line;
    EXPECT_EQ(text.find("50.0 %") != std::string::npos, width >= 40) << text;
    EXPECT_EQ(text.find("x2.00 better") != std::string::npos, width >= 60) << text;
    EXPECT_NE(text.find("8.33 h"), std::string::npos) << text;
  }
}

TEST(Table, RatiosSayBetterOrWorseAgainstTheFirstPolicyOfTheTrace) {
  std::vector runs = {run("fifo", 36000), run("srtf", 18000), run("lifo", 45000)};
  runs.push_back(run("other", 90000));
  runs.back().trace = "second.csv";
  const std::string text = table(runs, {.width = 120, .colour = false, .ratios = true});
  EXPECT_NE(text.find("x2.00 better"), std::string::npos) << text;
  EXPECT_NE(text.find("x1.25 worse"), std::string::npos) << text;
  EXPECT_EQ(text.find("x2.50 worse"), std::string::npos) << "another trace is another block";
  EXPECT_NE(text.find("\n\nsecond.csv"), std::string::npos) << text;
}

TEST(Table, ColourIsOffUnlessAskedForAndKeepsTheLayout) {
  const std::vector runs = {run("fifo", 36000), run("srtf", 18000)};
  const std::string plain = table(runs, {.width = 120, .colour = false, .ratios = true});
  std::string coloured = table(runs, {.width = 120, .colour = true, .ratios = true});
  EXPECT_EQ(plain.find('\x1b'), std::string::npos);
  EXPECT_NE(coloured.find("\x1b[32mx2.00 better\x1b[0m"), std::string::npos);
  for (const char* style : {"\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[0m"}) {
    for (auto at = coloured.find(style); at != std::string::npos; at = coloured.find(style)) {
      coloured.erase(at, std::string_view(style).size());
    }
  }
  EXPECT_EQ(coloured, plain);
}

TEST(Table, ControlCharactersInNamesDoNotReachTheTerminal) {
  const std::string text = table(std::vector{run("\x1b[2Jx", 1)}, {});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
}

TEST(Table, DurationsUseTheUnitPeopleWould) {
  EXPECT_EQ(human_duration(0.5), "0.50 s");
  EXPECT_EQ(human_duration(47.26), "47.3 s");
  EXPECT_EQ(human_duration(750), "12.5 min");
  EXPECT_EQ(human_duration(36000), "10.0 h");
  EXPECT_EQ(human_duration(726624), "8.41 d");
}

}  // namespace
}  // namespace orrery
