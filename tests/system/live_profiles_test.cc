// What a live scheduler makes of what was measured of models.
#include <filesystem>

#include "system/live.h"

namespace orrery {
namespace {

class LiveProfiles : public LiveTest {
 protected:
  std::string profiles() {
    return folder_.write("profiles.csv",
                         "model,batch_size,gpus,iterations_per_s\n"
                         "flat,64,1,10\nflat,64,2,10.1\nflat,64,4,10.2\n"
                         "steep,32,1,1\nsteep,32,2,1.1\n"
                         "steep,64,1,1\nsteep,64,2,2\nsteep,64,3,3\n");
  }
  Finished submit(const std::string& model, const Words& more = {}) const {
    Words words = {"submit", "--elastic", "1..4", "--time", "1h", "--profile", model};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "sleep", "1000"});
    return ask(words);
  }
  bool hold(int first, int second) const {
    return eventually([&] {
      const auto one = job(1);
      const auto other = job(2);
      return one && other && one->gpus == first && other->gpus == second;
    });
  }
};

TEST_F(LiveProfiles, GpusGoWhereTheyWereMeasuredToHelp) {
  const auto scheduler = serve({"--local", "--gpus", "4", "--profiles", profiles()});
  for (const char* model : {"flat", "steep:64"}) ASSERT_EQ(submit(model).exit_code, 0);
  ASSERT_EQ(ask({"policy", "afs"}).exit_code, 0);
  EXPECT_TRUE(hold(1, 3)) << ask({"status"}).out;
}

TEST_F(LiveProfiles, WhatAJobWasSubmittedWithIsInTheLog) {
  auto scheduler = serve({"--local", "--gpus", "4", "--profiles", profiles()});
  for (const char* model : {"flat", "steep:64"}) ASSERT_EQ(submit(model).exit_code, 0);
  scheduler->kill();
  // Without profiles, and with others, the jobs are the ones they were.
  scheduler = serve({"--local", "--gpus", "4"});
  ASSERT_EQ(ask({"policy", "afs"}).exit_code, 0);
  EXPECT_TRUE(hold(1, 3)) << ask({"status"}).out;
  const std::string log = file("run.jsonl");
  ASSERT_EQ(ask({"record", "-o", log}).exit_code, 0);
  const Finished replay = run_orrery({"replay", log});
  EXPECT_EQ(replay.exit_code, 0) << replay.out << replay.err;
  EXPECT_NE(replay.out.find("none differs"), std::string::npos) << replay.out;
}

TEST_F(LiveProfiles, WhatWasNotMeasuredIsRefusedWithWhatWas) {
  const auto scheduler = serve({"--profiles", profiles()});
  const auto expect_refused = [](const Finished& run, const std::string& said) {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find(said), std::string::npos) << run.err;
  };
  expect_refused(submit("stepe"), "the nearest is 'steep'");
  expect_refused(submit("steep"), "batches 32, 64");
  expect_refused(submit("steep:16"), "batches 32, 64");
  expect_refused(submit("steep:x"), "MODEL:BATCH");
  expect_refused(submit("flat", {"--gpus", "3"}), "measured on 1, 2, 4 GPUs");
  expect_refused(ask({"whatif", "--job", "gpus=1,profile=stepe"}), "the nearest is 'steep'");
  EXPECT_TRUE(status().jobs.empty());
  EXPECT_EQ(ask({"submit", "--gpus", "3", "--profile", "flat", "--", "true"}).exit_code, 0)
      << "one that keeps its GPUs needs no speeds";
}

TEST_F(LiveProfiles, BadTablesAreRefusedByLineBeforeAnythingIsMade) {
  const std::string bad =
      folder_.write("bad.csv", "model,batch_size,gpus,iterations_per_s\nflat,64,1,fast\n");
  const Finished run = run_orrery({"serve", "--state", file("none"), "--profiles", bad});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find(bad + ":2: "), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(file("none")));
}

}  // namespace
}  // namespace orrery
