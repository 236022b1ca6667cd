#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "system/process.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

const std::string kTrace =
    "job_id,submit_s,gpus,iterations,iteration_s,model,batch_size,deadline_s\n"
    "a,0,8,600,1,bert,64,900\n"
    "b,700,8,1800,1,bert,64,3600\n";

class Whatif : public testing::Test {
 protected:
  Finished ask(const std::string& policy, const Words& more) const {
    Words words = {"whatif", "--trace", trace_, "--cluster", "1x8", "--policy", policy, "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run_orrery(words);
  }

  const TestFolder folder_;
  const std::string trace_ = folder_.write("t.csv", kTrace);
};

TEST_F(Whatif, AnswersForTheJobAndForTheOthers) {
  const Finished run =
      ask("fifo", {"--job", "submit=10m,gpus=8,model=bert,batch=64,iterations=500"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_NE(run.out.find("new-job on t, 8 GPUs, under fifo\n"
                         "bert, batch 64, 8 GPUs, submitted at 00:10:00\n"),
            std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("starts    00:10:00, at once\nends      00:18:20"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("1 of 2 others end later, by 6.67 min on average"), std::string::npos)
      << run.out;
}

TEST_F(Whatif, AFileAndKeysGiveTheSameAnswer) {
  const std::string job = folder_.write(
      "job.csv", "job_id,submit_s,gpus,duration_s,deadline_s\nnew-job,600,8,500,1200\n");
  const Finished by_file = ask("elasticflow", {"--job-file", job, "--json"});
  const Finished by_keys =
      ask("elasticflow", {"--job", "submit=600,gpus=8,duration=500,deadline=600", "--json"});
  ASSERT_EQ(by_file.exit_code, 0) << by_file.err;
  EXPECT_EQ(by_file.out, by_keys.out);
  const Json answer = Json::parse(by_file.out);
  EXPECT_EQ(answer["answer"]["admitted"], true);
  EXPECT_EQ(answer["answer"]["in_time"], true);
  EXPECT_EQ(answer["job"]["deadline_s"], 1200);
}

TEST_F(Whatif, ARefusalNamesWhatCouldBePromised) {
  const Finished run =
      ask("elasticflow", {"--job", "submit=1,gpus=8,duration=500,deadline=10m", "--json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const Json answer = Json::parse(run.out)["answer"];
  EXPECT_EQ(answer["admitted"], false);
  EXPECT_GT(answer["earliest_promise_s"], 601);
  EXPECT_LT(answer["earliest_promise_s"], 1300);
}

}  // namespace
}  // namespace orrery
