#include "training/trainer/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "training/trainer/test_run.h"

namespace orrery {
namespace {

Checkpoint sample(ParameterVersion version) {
  Checkpoint checkpoint;
  checkpoint.conductor = {.version = version,
                          .next_sample = 4096,
                          .again = {{.first = 100, .count = 28}},
                          .next_task = 77,
                          .samples_done = 3968,
                          .gradients_done = 62,
                          .mode = {.rule = SyncRuleKind::Dynamic,
                                   .groups = {{WorkerId{0}, WorkerId{2}}, {WorkerId{1}}},
                                   .shares = {{WorkerId{1}, 0.1}}}};
  checkpoint.elapsed_s = 1.5;
  checkpoint.model = "mlp";
  checkpoint.data = "gaussian";
  checkpoint.optimizer = "adam";
  checkpoint.seed = 0xFFFFFFFFFFFFFFFFULL;
  checkpoint.tensors = {{"w", 0, 2}, {"b", 2, 1}};
  checkpoint.optimizer_batches = 9.125;
  checkpoint.parameters = {1.5F, -2.25F, static_cast<float>(version)};
  checkpoint.optimizer_state = {0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.7F, 0.8F, 0.9F};
  return checkpoint;
}

std::string path_of(const std::string& folder, const char* version) {
  return folder + "/checkpoint-" + version + ".orc";
}

TEST(Checkpoint, IsReadAsItWasWritten) {
  const TestFolder folder;
  const Checkpoint written = sample(12);
  ASSERT_TRUE(write_checkpoint(folder.path(), written, 3).ok());
  const auto found = newest_checkpoint(folder.path());
  ASSERT_TRUE(found.ok());
  const Checkpoint& read = found.value().checkpoint;
  EXPECT_EQ(read.parameters, written.parameters);
  EXPECT_EQ(read.optimizer_state, written.optimizer_state);
  EXPECT_EQ(read.optimizer_batches, 9.125);
  EXPECT_EQ(read.seed, written.seed);
  EXPECT_EQ(read.conductor.version, 12);
  EXPECT_EQ(read.conductor.next_task, 77);
  EXPECT_EQ(read.conductor.mode, written.conductor.mode);
  ASSERT_EQ(read.conductor.again.size(), 1U);
  EXPECT_EQ(read.conductor.again[0].count, 28);
  EXPECT_EQ(read.tensors[1].name, "b");
}

TEST(Checkpoint, OfAnEarlierVersionGetsARecentSlope) {
  const TestFolder folder;
  Checkpoint old = sample(12);
  old.optimizer_state.resize(6);
  ASSERT_TRUE(write_checkpoint(folder.path(), old, 3).ok());
  const auto found = newest_checkpoint(folder.path());
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value().checkpoint.optimizer_state,
            (std::vector<float>{0.1F, 0.2F, 0.3F, 0.4F, 0.5F, 0.6F, 0.1F, 0.2F, 0.3F}));
}

TEST(Checkpoint, OnlyTheNewestAreKept) {
  const TestFolder folder;
  for (int version = 1; version <= 5; ++version) {
    ASSERT_TRUE(write_checkpoint(folder.path(), sample(version), 2).ok());
  }
  EXPECT_FALSE(std::filesystem::exists(path_of(folder.path(), "000000000003")));
  EXPECT_TRUE(std::filesystem::exists(path_of(folder.path(), "000000000004")));
}

TEST(Checkpoint, ADamagedOneIsSaidAndTheOneBeforeIsTaken) {
  const TestFolder folder;
  ASSERT_TRUE(write_checkpoint(folder.path(), sample(1), 3).ok());
  ASSERT_TRUE(write_checkpoint(folder.path(), sample(2), 3).ok());
  const std::string newest = path_of(folder.path(), "000000000002");
  const auto size = static_cast<long>(std::filesystem::file_size(newest));
  for (const long at : {0L, 9L, 40L, size / 2, size - 1}) {
    ASSERT_TRUE(write_checkpoint(folder.path(), sample(2), 3).ok());
    std::fstream file(newest, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ 4);
    file.seekp(at);
    file.put(byte);
    file.close();
    const auto found = newest_checkpoint(folder.path());
    ASSERT_TRUE(found.ok()) << at;
    EXPECT_EQ(found.value().checkpoint.conductor.version, 1) << at;
    ASSERT_EQ(found.value().damaged.size(), 1U) << at;
    EXPECT_NE(found.value().damaged[0].find(newest), std::string::npos);
  }
}

TEST(Checkpoint, EveryLengthThatIsCutOffIsNoticed) {
  const TestFolder folder;
  ASSERT_TRUE(write_checkpoint(folder.path(), sample(1), 3).ok());
  const std::string path = path_of(folder.path(), "000000000001");
  for (auto size = std::filesystem::file_size(path); size > 0;) {
    std::filesystem::resize_file(path, --size);
    EXPECT_FALSE(read_checkpoint(path).ok()) << size;
  }
  EXPECT_EQ(newest_checkpoint(folder.path()).error().code, Code::DataLoss);
}

// On file systems without unnamed files a killed process leaves its draft.
TEST(Checkpoint, DraftsOfKilledProcessesAreRemovedAndNothingElseIs) {
  const TestFolder folder;
  ASSERT_TRUE(write_checkpoint(folder.path(), sample(1), 3).ok());
  for (const char* const name :
       {"/.orrery-17-1.part", "/.orrery-4000000-250.part", "/notes.part"}) {
    std::ofstream(folder.path() + name) << "half";
  }
  remove_drafts(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/.orrery-17-1.part"));
  EXPECT_FALSE(std::filesystem::exists(folder.path() + "/.orrery-4000000-250.part"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() + "/notes.part"));
  EXPECT_TRUE(newest_checkpoint(folder.path()).ok());
}

TEST(Checkpoint, WhereThereIsNoneIsSaid) {
  const TestFolder folder;
  const auto found = newest_checkpoint(folder.path());
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.error().code, Code::NotFound);
}

}  // namespace
}  // namespace orrery
