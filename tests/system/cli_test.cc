#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/event_log/event_log_reader.h"
#include "system/process.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::string kTrace = "philly-like:jobs=300,seed=3,gpus=32,load=1.2";

Words simulate(const std::string& trace, const std::string& policies, const Words& more = {}) {
  Words words = {"simulate", "--trace", trace, "--cluster", "4x8", "--policy", policies, "--quiet"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// The runs of a call that must succeed.
Json runs_of(Words words, const ProcessOptions& options = {}) {
  words.emplace_back("--json");
  const Finished run = run_orrery(words, options);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const Json parsed = Json::parse(run.out, nullptr, false);
  EXPECT_TRUE(parsed.is_object()) << run.out;
  return parsed.is_object() ? parsed.value("runs", Json()) : Json();
}

// Without what differs from one time to the next.
Json lasting(Json runs) {
  for (Json& run : runs) {
    for (const char* key : {"cpu_s", "wall_s", "peak_mb"}) run.erase(key);
  }
  return runs;
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  return widest;
}

TEST(Simulate, JsonHasTheKeysOfTheContractBeforeAllOthers) {
  const Json runs = runs_of(simulate(kTrace, "fifo,las"));
  ASSERT_EQ(runs.size(), 2U);
  const Words expected = {"trace",           "policy",        "semantics",
                          "cluster",         "gpus",          "jobs",
                          "completed",       "rejected",      "failed",
                          "avg_jct_s",       "p50_jct_s",     "p95_jct_s",
                          "p99_jct_s",       "max_jct_s",     "makespan_s",
                          "avg_wait_s",      "avg_queue",     "max_queue",
                          "deadline_ratio",  "deadlines_met", "cluster_efficiency",
                          "gpu_utilisation", "starts",        "preemptions",
                          "moves",           "events",        "cpu_s",
                          "wall_s",          "peak_mb"};
  for (const Json& run : runs) {
    Words keys;
    for (const auto& [key, value] : run.items()) keys.push_back(key);
    ASSERT_GE(keys.size(), expected.size());
    keys.resize(expected.size());
    EXPECT_EQ(keys, expected);
    EXPECT_TRUE(run["promises"].is_null());
    EXPECT_TRUE(run["deadline_ratio"].is_null());
    EXPECT_TRUE(run["deadlines_met"].is_null());
    EXPECT_EQ(run["completed"], 300);
    EXPECT_GT(run["avg_jct_s"], 0);
  }
  EXPECT_EQ(runs[1]["policy"], "las");
  EXPECT_EQ(runs[1]["semantics"], "orrery");
}

TEST(Simulate, AJobThatCanNeverFitIsRejectedAndTheRestRuns) {
  const TestFolder folder;
  const std::string trace = folder.write(
      "t.csv", "job_id,submit_s,gpus,duration_s\nsmall,0,1,5\nhuge,1,33,5\nlater,2,32,5\n");
  const Json runs = runs_of(simulate(trace, "fifo,srtf,las,themis,antman,muri-s,muri-l"));
  for (const Json& run : runs) {
    EXPECT_EQ(run["jobs"], 3) << run;
    EXPECT_EQ(run["completed"], 2) << run;
    EXPECT_EQ(run["rejected"], 1) << run;
  }
  const std::string only = folder.write("u.csv", "job_id,submit_s,gpus,duration_s\nhuge,1,33,5\n");
  const Json none = runs_of(simulate(only, "fifo"));
  EXPECT_EQ(none[0]["rejected"], 1);
  EXPECT_TRUE(none[0]["avg_jct_s"].is_null());
  EXPECT_TRUE(none[0]["makespan_s"].is_null());
}

TEST(Simulate, DeadlinesAreCountedWhereThereAreSome) {
  const TestFolder folder;
  const std::string trace = folder.write(
      "t.csv",
      "job_id,submit_s,gpus,duration_s,deadline_s\na,0,32,10,11\nb,0,32,10,19\nc,0,1,9,\n");
  const Json runs = runs_of(simulate(trace, "fifo"));
  EXPECT_EQ(runs[0]["deadlines_met"], 1);
  EXPECT_EQ(runs[0]["deadline_ratio"], 0.5);
}

TEST(Simulate, OptionsOfTheCallReachTheRun) {
  const Json plain = runs_of(simulate(kTrace, "fifo"));
  EXPECT_EQ(runs_of(simulate(kTrace, "fifo", {"--limit", "10"}))[0]["jobs"], 10);
  // A window's metrics are over its jobs only.
  const Json window = runs_of(simulate(kTrace, "fifo", {"--window", "100-150"}));
  EXPECT_EQ(window[0]["completed"], 50);
  // Rounds a day apart keep jobs waiting.
  const Json rounds = runs_of(simulate(kTrace, "fifo", {"--round", "1d"}));
  EXPECT_GT(rounds[0]["avg_wait_s"], plain[0]["avg_wait_s"]);
  const Json minute = runs_of(simulate(kTrace, "fifo", {"--round", "60s"}));
  EXPECT_NE(minute[0]["avg_jct_s"], plain[0]["avg_jct_s"]);
  const Json muri = runs_of(simulate(kTrace, "srtf", {"--semantics", "muri"}));
  EXPECT_EQ(muri[0]["semantics"], "muri");
  EXPECT_NE(muri[0]["avg_jct_s"], runs_of(simulate(kTrace, "srtf"))[0]["avg_jct_s"]);
  // An option for all goes to those that know it, one of its own to the policy alone.
  const Json all = runs_of(simulate(kTrace, "fifo,muri-l", {"--option", "packing=1"}));
  const Json own = runs_of(simulate(kTrace, "fifo,muri-l:packing=1"));
  EXPECT_EQ(all[1]["avg_jct_s"], own[1]["avg_jct_s"]);
  EXPECT_NE(all[1]["avg_jct_s"], runs_of(simulate(kTrace, "muri-l"))[0]["avg_jct_s"]);
}

TEST(Simulate, SeveralSeedsGiveSeveralRuns) {
  const Json runs =
      runs_of(simulate(kTrace, "fifo", {"--seed", "1,2,3", "--option", "placement=random"}));
  ASSERT_EQ(runs.size(), 3U);
  EXPECT_EQ(runs[0]["policy"], "fifo #1");
  EXPECT_EQ(runs[2]["policy"], "fifo #3");
}

TEST(Simulate, ThreadsDoNotChangeAByte) {
  const TestFolder folder;
  Json results;
  for (const std::string threads : {"1", "4"}) {
    const std::filesystem::path place = folder / threads;
    std::filesystem::create_directory(place);
    Json runs = runs_of(simulate(kTrace, "fifo,las,srtf,antman,muri-s,muri-l",
                                 {"--threads", threads, "--events", "log.jsonl"}),
                        {.folder = place});
    results.push_back(lasting(std::move(runs)));
  }
  EXPECT_EQ(results[0], results[1]);
  int logs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "1")) {
    const std::string name = entry.path().filename().string();
    EXPECT_EQ(file_text(entry.path().string()), file_text(folder.file("4/" + name))) << name;
    ++logs;
  }
  EXPECT_EQ(logs, 6);
}

TEST(Simulate, TheEventLogReadsBack) {
  const TestFolder folder;
  for (const std::string name : {"one.jsonl", "one.jsonl.zst"}) {
    const std::string path = folder.file(name);
    const Json runs = runs_of(simulate(kTrace, "las", {"--events", path}));
    auto reader = EventLogReader::open(path);
    ASSERT_TRUE(reader.ok()) << reader.error().message;
    EventLogReader log = std::move(reader).value();
    EXPECT_EQ(log.cluster().gpus_total(), 32);
    std::int64_t events = 0;
    Event event;
    auto more = log.next(event);
    for (; more.ok() && more.value(); more = log.next(event)) ++events;
    EXPECT_TRUE(more.ok()) << more.error().message;
    EXPECT_EQ(runs[0]["events"], events);
  }
}

TEST(Simulate, TheReportIsAPageWithEveryRun) {
  const TestFolder folder;
  runs_of(simulate(kTrace, "fifo,muri-l", {"--report", "page.html"}), {.folder = folder.path()});
  const std::string page = file_text(folder.file("page.html"));
  EXPECT_EQ(page.rfind("<!doctype html>", 0), 0U) << page.substr(0, 100);
  EXPECT_NE(page.find("</html>"), std::string::npos);
  EXPECT_NE(page.find("muri-l"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(folder.file("page.html.part")));
}

TEST(Simulate, TablesAndCsvAreForPeopleAndSheets) {
  const Finished table = run_orrery(simulate(kTrace, "fifo,las,muri-l"));
  EXPECT_EQ(table.exit_code, 0);
  EXPECT_NE(table.out.find("avg JCT"), std::string::npos);
  EXPECT_NE(table.out.find("vs fifo"), std::string::npos);
  EXPECT_NE(table.out.find("p50 JCT"), std::string::npos) << "a pipe gets every column";
  EXPECT_EQ(table.out.find("too narrow"), std::string::npos);
  EXPECT_EQ(table.out.find('\x1b'), std::string::npos) << "colours belong on a terminal";
  const Finished csv = run_orrery(simulate(kTrace, "fifo,las", {"--csv"}));
  EXPECT_EQ(csv.out.rfind("trace,policy,semantics,", 0), 0U);
  EXPECT_EQ(std::ranges::count(csv.out, '\n'), 3);
}

TEST(Simulate, LongWorkShowsProgressUnlessQuiet) {
  const auto words = [](const std::string& jobs) {
    return Words{"simulate",       "--trace", "philly-like:gpus=1024,arrivals=at-once,jobs=" + jobs,
                 "--cluster",      "128x8",   "--policy",
                 "themis:lease=0s"};
  };
  const Finished talking = run_orrery(words("30000"), {.interrupt_at = "simulating:"});
  EXPECT_NE(talking.err.find(" %"), std::string::npos) << talking.err;
  Words quiet = words("1200");
  quiet.emplace_back("--quiet");
  const Finished silent = run_orrery(quiet);
  EXPECT_EQ(silent.exit_code, 0);
  EXPECT_EQ(silent.err, "");
}

TEST(Interrupt, EndsSoonWithWhatIsKnown) {
  // A round for each of thirty thousand ends, each round over all waiting jobs: minutes of work.
  const Words words = {"simulate",
                       "--trace",
                       "philly-like:jobs=30000,gpus=1024,arrivals=at-once",
                       "--cluster",
                       "128x8",
                       "--policy",
                       "themis:lease=0s,fifo",
                       "--json"};
  const Finished run = run_orrery(words, {.interrupt_at = "simulating:"});
  EXPECT_EQ(run.exit_code, 1) << "signal " << run.signal;
  EXPECT_LT(run.took.count(), 2);
  EXPECT_NE(run.err.find("interrupted"), std::string::npos) << run.err;
  const Json parsed = Json::parse(run.out, nullptr, false);
  ASSERT_TRUE(parsed.is_object()) << run.out;
  EXPECT_EQ(parsed["runs"][0]["jobs"], 30000);
  EXPECT_LT(parsed["runs"][0]["completed"], 30000);
  EXPECT_EQ(parsed["runs"][0]["status"], "interrupted");
  EXPECT_TRUE(parsed["runs"][0]["makespan_s"].is_null());
  EXPECT_EQ(parsed["runs"][0]["left"], 30000 - parsed["runs"][0]["completed"].get<int>());
}

TEST(Interrupt, ARunThatNeverBeganHasNoFigures) {
  const TestFolder folder;
  const Words words = {"compare",
                       "--trace",
                       "philly-like:jobs=30000,gpus=1024,arrivals=at-once",
                       "--cluster",
                       "128x8",
                       "--policy",
                       "themis:lease=0s,fifo",
                       "--threads",
                       "1",
                       "--report",
                       folder.file("r.html")};
  Words json = words;
  json.emplace_back("--json");
  const Finished run = run_orrery(json, {.interrupt_at = "simulating:"});
  EXPECT_EQ(run.exit_code, 1);
  const Json fifo = Json::parse(run.out)["runs"][1];
  EXPECT_EQ(fifo["status"], "not run");
  for (const char* key : {"jobs", "completed", "rejected", "starts", "events", "avg_jct_s"}) {
    EXPECT_TRUE(fifo[key].is_null()) << key << " is " << fifo[key];
  }
  EXPECT_NE(file_text(folder.file("r.html")).find("\"status\":\"not run\""), std::string::npos);
  const Finished table = run_orrery(words, {.interrupt_at = "simulating:"});
  EXPECT_NE(table.out.find("interrupted"), std::string::npos) << table.out;
  EXPECT_NE(table.out.find("not run"), std::string::npos) << table.out;
}

TEST(Output, ThatCannotBeWrittenIsAnError) {
  const std::vector<Words> calls = {
      simulate(kTrace, "fifo"),
      simulate(kTrace, "fifo", {"--json"}),
      {"policies"},
      {"policies", "--json"},
      {"traces"},
      {"generate", "philly-like", "--jobs", "5"},
      {"generate", "philly-like", "--jobs", "5000"},
  };
  for (const Words& words : calls) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Finished full = run_orrery(words, {.out_file = "/dev/full"});
    EXPECT_EQ(full.exit_code, 1) << "signal " << full.signal;
    EXPECT_EQ(full.err.rfind("orrery: ", 0), 0U) << full.err;
    // As with `| head`: the reader has what it wanted.
    const Finished unread = run_orrery(words, {.out_closed = true});
    EXPECT_EQ(unread.exit_code, 0) << "signal " << unread.signal << unread.err;
    EXPECT_EQ(unread.err, "");
  }
}

TEST(Output, AReaderThatGoesAwayDoesNotStopTheReport) {
  const TestFolder folder;
  const Finished run = run_orrery(simulate(kTrace, "fifo", {"--report", folder.file("r.html")}),
                                  {.out_closed = true});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(file_text(folder.file("r.html")).starts_with("<!doctype html>"));
}

TEST(Help, OfACommandIsItsOwn) {
  // Without the path by which the program was called.
  const auto options_of = [](const Words& words) {
    const Finished run = run_orrery(words);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return run.out.substr(run.out.find("[OPTIONS]"));
  };
  EXPECT_EQ(options_of({"help"}), options_of({"--help"}));
  EXPECT_EQ(options_of({"help", "simulate"}), options_of({"simulate", "--help"}));
  EXPECT_NE(options_of({"help", "simulate"}).find("synergy"), std::string::npos);
  EXPECT_NE(run_orrery({"help", "twin", "run"}).out.find("ring-N"), std::string::npos);
}

TEST(Simulate, WarnsWhatAPolicyLacks) {
  const TestFolder folder;
  const std::string trace = folder.write(
      "t.csv", "job_id,submit_s,gpus,duration_s,deadline_s\na,0,1,5,9\nhuge,1,99,5,\n");
  Words words = {"simulate", "--trace", trace, "--cluster", "1x8", "--policy", "muri-l", "--json"};
  const Finished run = run_orrery(words);
  EXPECT_EQ(run.exit_code, 0);
  const Json warnings = Json::parse(run.out)["runs"][0]["warnings"];
  ASSERT_EQ(warnings.size(), 3U) << warnings;
  for (const Json& warning : warnings) {
    EXPECT_NE(run.err.find("orrery: warning: t, muri-l: " + warning.get<std::string>()),
              std::string::npos)
        << run.err;
  }
}

TEST(Output, FilesThatCannotBeWrittenAreNamed) {
  const TestFolder folder;
  const std::string nowhere = folder.file("none/file");
  const std::vector<Words> calls = {
      simulate(kTrace, "fifo", {"--events", nowhere + ".jsonl"}),
      simulate(kTrace, "fifo", {"--events", "/dev/full"}),
      simulate(kTrace, "fifo", {"--report", nowhere + ".html"}),
      {"generate", "philly-like", "--output", nowhere + ".csv"},
      {"generate", "philly-like", "--output", "/dev/full"},
      {"demo", "--report", nowhere + ".html"},
  };
  for (const Words& words : calls) {
    SCOPED_TRACE(testing::PrintToString(words));
    const Finished run = run_orrery(words);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    const bool full = words.back() == "/dev/full";
    EXPECT_NE(run.err.find(full ? "/dev/full" : nowhere), std::string::npos) << run.err;
  }
}

TEST(Generate, WhatIsWrittenGivesTheSameSimulation) {
  const TestFolder folder;
  const Json direct = lasting(runs_of(simulate(kTrace, "fifo,muri-l")));
  for (const std::string name : {"t.csv", "t.jsonl"}) {
    const Words words = {"generate", "philly-like", "--jobs", "300", "--seed", "3",
                         "--gpus",   "32",          "--load", "1.2", "-o",     folder.file(name)};
    ASSERT_EQ(run_orrery(words).exit_code, 0);
    Json read = lasting(runs_of(simulate(folder.file(name), "fifo,muri-l")));
    for (std::size_t i = 0; i < read.size(); ++i) read[i]["trace"] = direct[i]["trace"];
    EXPECT_EQ(read, direct) << name;
  }
}

TEST(Generate, ElasticFlowsJobsAreTheSameAsAModelAndAsAFile) {
  const TestFolder folder;
  std::string speeds = "model,batch_size,gpus,iterations_per_s\n";
  for (const std::string model :
       {"resnet50", "vgg16", "inception3", "gpt2", "bert", "deepspeech2"}) {
    for (const int batch : {32, 64, 128, 256}) {
      for (const int gpus : {1, 2, 4, 8, 16}) {
        speeds += model + "," + std::to_string(batch) + "," + std::to_string(gpus) + "," +
                  std::to_string(gpus) + "\n";
      }
    }
  }
  const std::string profiles = folder.write("speeds.csv", speeds);
  const Words given = {"--profiles", profiles};
  const Json direct =
      lasting(runs_of(simulate("elasticflow:jobs=60,seed=5,lam=900", "fifo,srtf", given)));
  for (const std::string format : {"csv", "elasticflow"}) {
    const std::string file = folder.file(format + ".csv");
    ASSERT_EQ(run_orrery({"generate", "elasticflow", "--jobs", "60", "--seed", "5", "--lam", "900",
                          "--profiles", profiles, "--format", format, "-o", file})
                  .exit_code,
              0);
    Json read = lasting(runs_of(simulate(file, "fifo,srtf", given)));
    for (std::size_t i = 0; i < read.size(); ++i) read[i]["trace"] = direct[i]["trace"];
    EXPECT_EQ(read, direct) << format;
  }
  const Finished without = run_orrery({"generate", "elasticflow"});
  EXPECT_EQ(without.exit_code, 2);
  EXPECT_NE(without.err.find("option 'profiles': name the file or folder"), std::string::npos);
}

TEST(Compare, ShowsRatiosToTheFirst) {
  Words words = simulate(kTrace, "fifo,las");
  words[0] = "compare";
  const Finished run = run_orrery(words);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find("vs fifo"), std::string::npos) << run.out;
}

const std::string kSample = std::string(ORRERY_SOURCE) + "/data/samples/helios.csv";

TEST(Traces, SayWhatAFileHolds) {
  const Finished text = run_orrery({"traces", kSample});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("helios, format helios"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("left out: asks for no GPU (first at line 3)"), std::string::npos);
  EXPECT_LE(widest_line(text.out), 80U);
  const Json json = Json::parse(run_orrery({"traces", kSample, "--json"}).out);
  EXPECT_EQ(json["jobs"], 3);
  EXPECT_EQ(json["oddities"].size(), 3U);
  EXPECT_EQ(run_orrery({"traces", "no-such-file"}).exit_code, 2);
}

TEST(Traces, OdditiesAreReportedOnceUnlessQuiet) {
  const Words words = {"simulate", "--trace", kSample, "--cluster", "4x8", "--policy", "fifo"};
  const Finished loud = run_orrery(words);
  EXPECT_EQ(loud.exit_code, 0) << loud.err;
  EXPECT_EQ(loud.err, kSample + ": 3 jobs left out; `orrery traces` says which\n");
  Words quiet = words;
  quiet.emplace_back("--quiet");
  EXPECT_EQ(run_orrery(quiet).err, "");
}

TEST(Lists, NameEveryPolicyAndGenerator) {
  const Json policies = Json::parse(run_orrery({"policies", "--json"}).out);
  const std::string text = run_orrery({"policies"}).out;
  EXPECT_GE(policies["policies"].size(), 10U);
  for (const Json& policy : policies["policies"]) {
    EXPECT_NE(text.find(policy["name"].get<std::string>()), std::string::npos);
    EXPECT_FALSE(policy["line"].get<std::string>().empty());
  }
  const Json traces = Json::parse(run_orrery({"traces", "--json"}).out);
  EXPECT_GE(traces["formats"].size(), 3U);
  EXPECT_EQ(traces["generators"][0]["name"], "philly-like");
}

TEST(Demo, WorksInAnEmptyFolderAndSaysWhatToTryNext) {
  const TestFolder folder;
  const Finished run = run_orrery({"demo"}, {.folder = folder.path()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_LT(run.took.count(), 10);
  EXPECT_NE(run.out.find("muri-l"), std::string::npos);
  EXPECT_NE(run.out.find("What to try next"), std::string::npos);
  EXPECT_NE(run.out.find("orrery compare --trace"), std::string::npos);
  EXPECT_NE(file_text(folder.file("orrery-demo.html")).find("</html>"), std::string::npos);
}

TEST(Help, IsNoMistake) {
  for (const Words& words : {Words{"--help"}, {"simulate", "--help"}, {"--version"}}) {
    const Finished run = run_orrery(words);
    EXPECT_EQ(run.exit_code, 0);
    EXPECT_NE(run.out, "");
    EXPECT_EQ(run.err, "");
  }
}

TEST(Simulate, AGeneratorGoesOnUntilTheWindowIsDone) {
  const Json open = runs_of(simulate("synergy:load=0.8", "fifo,srtf", {"--window", "20-40"}));
  const Json many =
      runs_of(simulate("synergy:load=0.8,jobs=9000", "fifo,srtf", {"--window", "20-40"}));
  ASSERT_EQ(open.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(open[i]["completed"], 20);
    EXPECT_EQ(open[i]["avg_jct_s"], many[i]["avg_jct_s"]);
    EXPECT_EQ(open[i]["events"], many[i]["events"]);
  }
  EXPECT_EQ(runs_of(simulate("synergy:load=0.8", "fifo"))[0]["completed"], 1000);
}

TEST(Generate, SynergysFormatIsWrittenWithoutAHeader) {
  const Finished run = run_orrery({"generate", "synergy", "--jobs", "2", "--format", "synergy"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "0,alexnet,919,8176,1\n1,gnmt,1936,610813,1\n");
}

}  // namespace
}  // namespace orrery
