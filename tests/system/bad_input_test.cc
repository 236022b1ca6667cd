#include <gtest/gtest.h>

#include "system/process.h"

namespace orrery {
namespace {

using Words = std::vector<std::string>;

struct BadFile {
  std::string what;
  std::string text;
  std::string line;     // of the file, where one is to blame
  std::string message;  // part of what is said
};

const std::string kHead = "job_id,submit_s,gpus,duration_s\n";
const std::string kMuri = "job_id,num_gpu,submit_time,iterations,iteration_time\n";

std::vector<BadFile> bad_traces() {
  return {
      {"empty", "", "", "is empty"},
      {"header_only", kHead, "", "no jobs"},
      {"truncated_line", kHead + "a,0,1,5\nb,0", "3", "has 2 fields"},
      {"extra_column", kHead + "a,0,1,5,6\n", "2", "has 5 fields"},
      {"missing_column", "job_id,submit_s,duration_s\na,0,1\n", "1", "no column 'gpus'"},
      {"unknown_column", "job_id,submit_s,gpus,colour\na,0,1,red\n", "1", "'colour'"},
      {"text_in_a_number", kHead + "a,0,1,5\nb,0,many,5\n", "3", "'many'"},
      {"negative_time", kHead + "a,-1,1,5\n", "2", "'-1' is outside"},
      {"negative_gpus", kHead + "a,0,-8,5\n", "2", "'-8' is outside"},
      {"absurd_gpus", kHead + "a,0,99999999999,5\n", "2", "is outside"},
      {"absurd_duration", kHead + "a,0,1,1e300\n", "2", "is outside"},
      {"not_a_number", kHead + "a,0,1,nan\n", "2", "'nan'"},
      {"duplicate_id", kHead + "a,0,1,5\na,1,1,5\n", "3", "'a' was used before"},
      {"binary", std::string("\x7f\x45LF\x02\x01\0\0\0\0", 10), "1", "looks binary"},
      {"long_line", kHead + std::string(std::size_t{2} << 20, 'x'), "2", "is longer than"},
      {"synergy_model", "0,alexnet,0,5,1\n1,vgg16,0,5,1\n", "2", "no figures of 'vgg16'"},
      {"muri_text", kMuri + "0,1,0,ten,100\n", "2", "'ten'"},
      {"muri_truncated", kMuri + "0,1,0,10,100\n1,1,", "3", "has 3 fields"},
      {"json_cut_off", "{\"job_id\":\"a\",\"submit_s\":0,\"gp", "1", ""},
      {"json_wrong_type", R"({"job_id":"a","submit_s":"x","gpus":1,"duration_s":5})", "1",
       "submit_s"},
  };
}

Words simulate(const std::string& trace, const std::string& cluster = "2x8") {
  return {"simulate", "--trace", trace, "--cluster", cluster, "--policy", "fifo", "--json"};
}

TEST(BadInput, TracesAreRefusedWithFileAndLine) {
  const TestFolder folder;
  for (const BadFile& bad : bad_traces()) {
    SCOPED_TRACE(bad.what);
    const std::string path = folder.write(bad.what + ".csv", bad.text);
    const Finished run = run_orrery(simulate(path));
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    const std::string place = bad.line.empty() ? path + ":" : path + ":" + bad.line + ": ";
    EXPECT_EQ(run.err.rfind("orrery: " + place, 0), 0U) << run.err;
    EXPECT_NE(run.err.find(bad.message), std::string::npos) << run.err;
  }
}

TEST(BadInput, ClustersAreRefusedWithTheFile) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kHead + "a,0,1,5\n");
  const std::string spec =
      "num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n";
  const std::vector<BadFile> files = {
      {"empty.csv", "", "", "is empty"},
      {"text.csv", spec + "1,eight,8,92,520\n", "2", "'eight'"},
      {"negative.csv", spec + "1,-8,8,92,520\n", "2", "'-8'"},
      {"absurd.csv", spec + "1,8,9999999999,92,520\n", "2", "'9999999999'"},
      {"truncated.csv", spec + "1,8\n", "2", "fields"},
      {"no_nodes.toml", "name = \"x\"\n", "", "nodes"},
      {"cut_off.toml", "[[nodes]]\ngpus = ", "2", ""},
      {"key.ini", "[CLUSTER]\nrack = 2\n", "2", "'racks'"},
      {"text.ini", "[CLUSTER]\nracks = two\n", "2", "'two'"},
      {"text.toml", "[[nodes]]\ngpus = \"eight\"\n", "2", "gpus"},
  };
  for (const BadFile& bad : files) {
    SCOPED_TRACE(bad.what);
    const std::string path = folder.write(bad.what, bad.text);
    const Finished run = run_orrery(simulate(trace, path));
    EXPECT_EQ(run.exit_code, 2);
    const std::string place = bad.line.empty() ? path + ":" : path + ":" + bad.line + ":";
    EXPECT_EQ(run.err.rfind("orrery: " + place, 0), 0U) << run.err;
    EXPECT_NE(run.err.find(bad.message), std::string::npos) << run.err;
  }
}

TEST(BadInput, FoldersAndMissingFilesAreNamed) {
  const TestFolder folder;
  const Finished directory = run_orrery(simulate(folder.path()));
  EXPECT_EQ(directory.exit_code, 2);
  EXPECT_NE(directory.err.find("is a directory"), std::string::npos) << directory.err;
  const Finished missing = run_orrery(simulate(folder.file("none.csv")));
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.err.find(folder.file("none.csv") + ": no such file"), std::string::npos);
  const Finished cluster = run_orrery(simulate(folder.write("t.csv", kHead + "a,0,1,5\n"), "8by8"));
  EXPECT_EQ(cluster.exit_code, 2);
  EXPECT_NE(cluster.err.find("16x8"), std::string::npos) << cluster.err;
}

TEST(BadInput, ProfilesAreRefusedWithFileAndLine) {
  const TestFolder folder;
  const std::string trace =
      folder.write("t.csv",
                   "job_id,submit_time,iteration,model_name,batch_size,num_gpu,duration\n"
                   "j7,0,10,bert,96,1,5\n");
  const std::string head = "model,batch_size,gpu_type,gpus,iterations_per_s\n";
  const auto refusal = [&](const std::string& text, const std::string& type) {
    Words words = simulate(trace);
    words.insert(words.end(), {"--profiles", folder.write("p.csv", text), "--gpu-type", type});
    const Finished run = run_orrery(words);
    EXPECT_EQ(run.exit_code, 2) << text;
    return run.err;
  };
  const auto expect = [](const std::string& err, const std::string& part) {
    EXPECT_NE(err.find(part), std::string::npos) << err;
  };
  expect(refusal(head + "bert,96,A,1,x\n", "A"),
         folder.file("p.csv") + ":2: column 'iterations_per_s'");
  expect(refusal(head + "bert,96,A,1,0\n", "A"), "p.csv:2: bert with batch 96 on A cannot run");
  expect(refusal(head + "bert,96,A,1,2\n", "B"),
         "no profiles of the GPU type 'B'; those there are: A");
  expect(refusal(head + "bert,64,A,1,2\n", "A"), "t.csv: job 'j7': bert with batch 96 is not in " +
                                                     folder.file("p.csv") +
                                                     "; the batches of bert there: 64");
  expect(refusal("a,b\n", "A"), "p.csv:1: is no table of speeds");
  const std::string host = "model,iteration_s,cpus_per_gpu,memory_gb_per_gpu,speed\n";
  expect(refusal(host + "bert,1,1,8,fast\n", ""),
         "p.csv:2: column 'speed': 'fast' is not a number");
  expect(refusal(host + "bert,1,1,8,1\nbert,1,2,9,1\n", ""),
         "p.csv:2: bert has no row for 1 CPUs and 9 GB");
}

TEST(BadInput, CarriageReturnsAndByteOrderMarksAreNone) {
  const TestFolder folder;
  const std::string text =
      "\xEF\xBB\xBFjob_id,submit_s,gpus,duration_s\r\na,0,1,5\r\n\r\nb,1,2,7\r\n";
  const Finished run = run_orrery(simulate(folder.write("dos.csv", text)));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("\"completed\":2"), std::string::npos) << run.out;
}

struct BadCall {
  Words words;
  Words said;
};

TEST(BadInput, WhatIsNotKnownNamesWhatIs) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kHead + "a,0,1,5\n");
  const auto with = [&](const std::string& policy, const Words& more) {
    Words words = {"simulate", "--trace", trace, "--cluster", "2x8", "--policy", policy};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::string two = folder.write("two.csv", kHead + "b,0,1,5\nc,0,1,5\n");
  const auto whatif = [&](const Words& more) {
    Words words = {"whatif", "--trace", trace, "--cluster", "2x8", "--policy", "fifo"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<BadCall> calls = {
      {{}, {"demo", "simulate", "compare", "reproduce"}},
      {{"sumulate"}, {"'sumulate'", "did you mean simulate?"}},
      {with("nope", {}), {"'nope'", "fifo", "muri-l"}},
      {with("las:nope=1", {}), {"'nope'", "limits", "placement"}},
      {with("las", {"--option", "nope=1"}), {"'nope'", "limits"}},
      {with("las,fifo", {"--option", "nope=1"}), {"'nope'", "orrery policies"}},
      {with("las", {"--option", "limits"}), {"'limits'", "key=value"}},
      {with("las", {"--option", "placement=nope"}), {"'nope'", "consolidated", "best-fit"}},
      {with("las", {"--semantics", "nope"}), {"'nope'", "orrery", "muri"}},
      {with("las", {"--trace-format", "nope"}), {"'nope'", "auto", "tiresias"}},
      {with("las", {"--round", "3x"}), {"--round", "'3x'", "15m"}},
      {with("las", {"--window", "5"}), {"--window 5", "A-B"}},
      {with("las", {"--window", "0-9"}), {"--window 0-9", "only 1 jobs"}},
      {{"generate", "synergy", "--format", "xml"}, {"--format xml", "elasticflow or synergy"}},
      {{"generate", "synergy", "--option", "split=1/2"}, {"option 'split'", "20/70/10"}},
      {with("las", {"--seed", "x"}), {"--seed", "x"}},
      {with("las", {"--limit", "-1"}), {"--limit", "'-1' is not a whole number from 0"}},
      {with("las", {"--threads", "many"}), {"--threads"}},
      {with("las", {"--colour"}), {"--colour", "--help"}},
      {with("las", {"--json", "--csv"}), {"--json", "--csv"}},
      {{"simulate", "--cluster", "2x8", "--policy", "las"}, {"--trace"}},
      {simulate("nope:jobs=3"), {"nope", "philly-like"}},
      {simulate("philly-like:jobs=many"), {"jobs", "many"}},
      {simulate("philly-like:size=3"), {"'size'", "sizes", "load"}},
      {{"generate", "nope"}, {"'nope'", "philly-like"}},
      {{"generate", "philly-like", "--format", "xml"}, {"xml", "csv", "jsonl"}},
      {{"generate", "philly-like", "--option", "jobs"}, {"jobs", "key=value"}},
      {{"reproduce", "nope", "--data", "."}, {"'nope'", "muri"}},
      {{"reproduce", "muri", "--data", folder.path(), "--figure", "8"}, {"9, 10, 11"}},
      {{"reproduce", "muri", "--data", folder.path()}, {"trace1.csv", "folder"}},
      {{"reproduce", "muri", "--data", folder.file("none")}, {"no such folder"}},
      {{"reproduce", "elasticflow", "--data", folder.file("none")}, {"no such folder", "traces/"}},
      {{"reproduce", "elasticflow", "--data", folder.path()}, {"elasticVpollux_e.csv"}},
      {{"reproduce", "elasticflow", "--data", ".", "--figure", "12"}, {"8a, 8b, 9, 10, 11"}},
      {{"reproduce", "elasticflow", "--data", ".", "--semantics", "muri"},
       {"elasticflow", "orrery"}},
      {{"reproduce", "elasticflow", "--data", ".", "--reference", "none.csv"}, {"none.csv"}},
      {whatif({}), {"--job model=bert", "--job-file"}},
      {whatif({"--job", "submit=1,duration=2", "--job-file", trace}), {"not by both"}},
      {whatif({"--job", "submit=1,duration=2,name=a"}), {"'a' already"}},
      {whatif({"--job", "submit=1,duration=2,size=9"}), {"'size'", "gpus"}},
      {whatif({"--job-file", two}), {"has 2 jobs"}},
  };
  for (const BadCall& call : calls) {
    SCOPED_TRACE(testing::PrintToString(call.words));
    const Finished run = run_orrery(call.words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err.rfind("orrery: ", 0), 0U) << run.err;
    for (const std::string& part : call.said) {
      EXPECT_NE(run.err.find(part), std::string::npos) << "no '" << part << "' in " << run.err;
    }
  }
}

TEST(BadInput, SmallMistakesAreNamedForWhatTheyAre) {
  const TestFolder folder;
  const std::string trace = folder.write("t.csv", kHead + "a,0,1,5\n");
  const auto with = [&](const std::string& policy, const Words& more) {
    Words words = {"simulate", "--trace", trace, "--cluster", "2x8", "--policy", policy};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<BadCall> calls = {
      {with("las", {"--seed", "-1"}), {"--seed", "'-1' is not a whole number from 0"}},
      {with("las", {"--speed-error", "nan"}), {"--speed-error", "'nan' is not a number from 0"}},
      {{"twin", "run", "--rate", "-1"}, {"--rate", "'-1' is not a number above 0"}},
      {{"twin", "run", "--target", "nan"}, {"--target", "from 0 to 1"}},
      {{"simulate", "--trase", trace}, {"--trase: there is no such option; did you mean --trace?"}},
      {{"simulate", "--polcy=las"}, {"--polcy=las", "did you mean --policy?"}},
      {{"replay", "nope.jsonl"}, {"nope.jsonl: there is no such file"}},
      {{"reproduce", "muri", "--data", folder.path(), "--semantics", "muri"}, {"--semantics"}},
      {{"help", "simulat"}, {"'simulat'", "did you mean simulate?"}},
      {{"help", "simulate", "x"}, {"orrery simulate has no commands of its own"}},
  };
  for (const BadCall& call : calls) {
    SCOPED_TRACE(testing::PrintToString(call.words));
    const Finished run = run_orrery(call.words);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err.rfind("orrery: ", 0), 0U) << run.err;
    for (const std::string& part : call.said) {
      EXPECT_NE(run.err.find(part), std::string::npos) << "no '" << part << "' in " << run.err;
    }
  }
}

}  // namespace
}  // namespace orrery
