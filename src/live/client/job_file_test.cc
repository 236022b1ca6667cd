#include "live/client/job_file.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace orrery {
namespace {

TEST(JobFile, LettersBeyondAsciiStandInQuotesAndComments) {
  const auto read = parse_job_file("job.toml", R"(# Größe: für alle
command = ["echo", "größer \"als\" 日本語 🚀", 'C:\']  # Ende — "später
name = "modèle"
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().size(), 1U);
  EXPECT_EQ(read.value()[0].request.argv,
            (std::vector<std::string>{"echo", "größer \"als\" 日本語 🚀", "C:\\"}));
  EXPECT_EQ(read.value()[0].request.name, "modèle");
}

TEST(JobFile, EverythingThatCanBeSaid) {
  const auto read = parse_job_file("job.toml", R"(
command = ["python3", "train.py", "--rates", "[1,2]"]
name = "resnet"
user = "ann"
tenant = "vision"
gpus = 4
gpu-type = "A100"
elastic = "1..8"
cpus = 7.5
memory = "16G"
time = "3h"
profile = "resnet50"
deadline = "5h"
soft = true
priority = -3
array = "1-4"
after = [17, 18]
retries = 2
per = "gpu"
grace = "1m"
dir = "runs"
output = "out.txt"
error = "err.%j"
export = "EDITOR"
time-limit = "4h"
signal = "USR1@2m"
checkpoint-dir = "/scratch/ann"
node-timeout = "never"
env = { SEED = 7, MODE = "fast" }
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read.value().size(), 1U);
  const Variables environment{{"HOME", "/home/ann"}, {"EDITOR", "ed"}};
  const auto finished =
      finish(read.value()[0], {.environment = environment, .directory = "/home/ann"});
  ASSERT_TRUE(finished.ok()) << finished.error().message;
  JobRequest wanted{.argv = {"python3", "train.py", "--rates", "[1,2]"},
                    .environment = {{"EDITOR", "ed"}, {"MODE", "fast"}, {"SEED", "7"}},
                    .directory = "/home/ann/runs",
                    .name = "resnet",
                    .user = "ann",
                    .tenant = "vision",
                    .gpus = 4,
                    .gpus_min = 1,
                    .gpus_max = 8,
                    .cpu_milli = 7500,
                    .memory_bytes = std::int64_t{16} << 30,
                    .gpu_type = "A100",
                    .model = "resnet50",
                    .expected = std::chrono::hours(3),
                    .deadline = std::chrono::hours(5),
                    .deadline_is_soft = true,
                    .priority = -3,
                    .after = {17, 18},
                    .retries = 2,
                    .process_per_gpu = true,
                    .grace = std::chrono::minutes(1),
                    .output = "/home/ann/out.txt",
                    .checkpoint_directory = "/scratch/ann",
                    .array = {1, 2, 3, 4},
                    .node_timeout = kNodeTimeoutMax,
                    .errors = "/home/ann/err.%j",
                    .time_limit = std::chrono::hours(4),
                    .signal = SIGUSR1,
                    .signal_before = std::chrono::minutes(2)};
  EXPECT_EQ(finished.value(), wanted);
}

TEST(JobFile, JobsComeAfterThoseTheyName) {
  const auto read = parse_job_file("graph.toml", R"(
gpus = 2
[[job]]
name = "test"
command = ["test"]
after = ["train", "prepare"]
[[job]]
name = "train"
command = ["train"]
after = "prepare"
gpus = 8
[[job]]
name = "prepare"
command = ["prepare"]
)");
  ASSERT_TRUE(read.ok()) << read.error().message;
  std::vector<std::string> names;
  for (const JobDraft& draft : read.value()) names.push_back(draft.request.name);
  EXPECT_EQ(names, (std::vector<std::string>{"prepare", "train", "test"}));
  EXPECT_EQ(read.value()[0].request.gpus, 2) << "what stands above holds for all";
  EXPECT_EQ(read.value()[1].request.gpus, 8);
}

TEST(JobFile, FaultsAreNamedWithTheirLineAndWhatToWrite) {
  const struct {
    const char* text;
    std::vector<const char*> says;
  } files[] = {
      {"command = [\"a\"]\ngpu = 3\n", {"job.toml:2: ", "'gpu'", "'gpus'"}},
      {"comand = [\"a\"]\n", {"job.toml:1: ", "'command'"}},
      {"gpu_type = \"A100\"\n", {"'gpu-type'"}},
      {"\n\ngpus = \"many\"\n", {"job.toml:3: gpus: 'many'", "whole number"}},
      {"gpus = [1]\n", {"gpus: write a word"}},
      {"memory = 16\n", {"memory: '16'", "16G"}},
      {"deadline = \"soon\"\n", {"deadline: 'soon'", "2h"}},
      {"deadline = 0\n", {"over at once"}},
      {"elastic = \"8\"\n", {"elastic: '8'", "1..8"}},
      {"array = \"1..4\"\n", {"array: '1..4'", "1-100"}},
      {"per = \"rank\"\n", {"per: 'rank'", "gpu"}},
      {"soft = 1\n", {"soft: write true or false"}},
      {"name = \"\"\n", {"name: is empty"}},
      {"command = \"train.sh\"\n", {"command: write the program", "[\"python3\""}},
      {"command = []\n", {"command: write the program"}},
      {"command = [1]\n", {"command: every argument"}},
      {"env = \"A=1\"\n", {"env: write"}},
      {"env = { A = [1] }\n", {"env: write"}},
      {"after = \"x\"\n", {"after: there is no other job 'x'"}},
      {"after = [0]\n", {"after: write numbers"}},
      {"name = \"a\"\n[[job]]\ncommand = [\"a\"]\n", {"job.toml:1: name: belongs"}},
      {"[[job]]\nafter = [\"b\"]\n", {"job.toml:2: after: there is no job 'b'"}},
      {"[[job]]\nname = \"a\"\nafter = \"b\"\n[[job]]\nname = \"b\"\nafter = \"a\"\n", {"circle"}},
      {"[[job]]\nname = \"a\"\n[[job]]\nname = \"a\"\n", {"two jobs are called 'a'"}},
      {"[job]\nname = \"a\"\n", {"[[job]]"}},
      {"job = []\n", {"no job in it"}},
      {"[[job]]\n[[job.job]]\n", {"a job within a job"}},
      {"gpus = = 3\n", {"job.toml:1: is not valid TOML"}},
  };
  for (const auto& file : files) {
    const auto read = parse_job_file("job.toml", file.text);
    ASSERT_FALSE(read.ok()) << file.text;
    EXPECT_EQ(read.error().code, Code::InvalidArgument);
    for (const char* words : file.says) {
      EXPECT_NE(read.error().message.find(words), std::string::npos)
          << file.text << read.error().message;
    }
  }
}

TEST(JobDraft, TheCallersEnvironmentIsNotTakenOverButForAFewNames) {
  const Variables caller{{"PATH", "/bin"}, {"LC_ALL", "C"}, {"TOKEN", "hush"}, {"X", "1"}};
  JobDraft draft;
  draft.request.argv = {"a"};
  draft.variables = {"TOKEN", "PATH=/opt/bin"};
  const auto finished = finish(draft, {.environment = caller, .directory = "/w"});
  ASSERT_TRUE(finished.ok());
  EXPECT_EQ(finished.value().environment,
            (decltype(JobRequest::environment){
                {"LC_ALL", "C"}, {"PATH", "/opt/bin"}, {"TOKEN", "hush"}}));
  draft.variables = {"NOWHERE"};
  const auto refused = finish(draft, {.environment = caller, .directory = "/w"});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("NOWHERE is not set here"), std::string::npos);
}

TEST(JobDraft, AnElasticJobAsksForItsLeastUnlessItSaysOtherwise) {
  JobDraft draft;
  draft.request.argv = {"a"};
  ASSERT_TRUE(set_all(draft, "elastic=2..8,time=90").ok());
  EXPECT_EQ(finish(draft, {.environment = {}, .directory = "/w"}).value().gpus, 2);
  ASSERT_TRUE(set_all(draft, "gpus=4").ok());
  EXPECT_EQ(finish(draft, {.environment = {}, .directory = "/w"}).value().gpus, 4);
  ASSERT_TRUE(set_all(draft, "gpus=9").ok());
  EXPECT_FALSE(finish(draft, {.environment = {}, .directory = "/w"}).ok());
}

TEST(JobDraft, ADirectorySaidIsKept) {
  JobDraft draft;
  draft.request.argv = {"a"};
  EXPECT_EQ(finish(draft, {.environment = {}, .directory = "/w"}).value().directory, "/w");
  draft.request.directory = "/";
  EXPECT_EQ(finish(draft, {.environment = {}, .directory = "/w"}).value().directory, "/");
}

}  // namespace
}  // namespace orrery
