#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "base/database/database.h"
#include "base/test_folder.h"
#include "cloud/measurements/published_data.h"

namespace orrery {
namespace {

constexpr const char* kHeader = "Wall Time,Step,Accuracy,Zone,Run\r\n";

std::string fault_of_table(std::string_view content) {
  const TestFolder folder;
  const std::string path = folder.write("vm_data.csv", content);
  const auto servers = read_server_table(path);
  if (servers.ok()) return "";
  const std::string& message = servers.error().message;
  EXPECT_TRUE(message.starts_with(path)) << message;
  return message.substr(std::min(message.size(), path.size()));
}

TEST(ServerTable, NamesAndReasonsAreRead) {
  const TestFolder folder;
  const auto servers = read_server_table(
      folder.write("vm_data.csv",
                   "VM_name,Uptime,Revoked\r\n"
                   "spot2-us-east1-c-run12-worker-0,941.822825,Revoked\r\n"
                   "us-west1-b-run1-master,10,Manually stopped due to revoked master"));
  ASSERT_TRUE(servers.ok()) << servers.error().message;
  ASSERT_EQ(servers.value().size(), 2u);
  EXPECT_EQ(servers.value()[0].key, (RunKey{"us-east1-c", 12}));
  EXPECT_FALSE(servers.value()[0].master);
  EXPECT_TRUE(was_revoked(servers.value()[0]));
  EXPECT_EQ(servers.value()[1].key, (RunKey{"us-west1-b", 1}));
  EXPECT_TRUE(was_revoked(servers.value()[1])) << "a master that was revoked took the others along";
}

TEST(ServerTable, FaultsNameFileAndLine) {
  EXPECT_EQ(fault_of_table("VM_name,Uptime\nus-east1-c-run1-master,1\nus-east1-c-run1\n"),
            ":3: has 1 fields, but the header names 2 columns");
  EXPECT_EQ(fault_of_table("VM_name,Uptime\nus-east1-c-run1-master,long\n"),
            ":2: column 'Uptime': 'long' is not a number");
  EXPECT_EQ(fault_of_table("VM_name\nus-east1-c-run1-master\n"),
            ":1: the header has no column 'Uptime'");
  EXPECT_NE(fault_of_table("VM_name,Uptime\nmaster,1\n").find("is no name of a server"),
            std::string::npos);
  EXPECT_NE(fault_of_table("VM_name,Uptime\neast-run1-master,1\n").find("holds no zone"),
            std::string::npos);
  EXPECT_NE(fault_of_table("VM_name,Uptime,Revoked\nus-east1-c-run1-master,1,Gone\n")
                .find("'Gone' is no known reason"),
            std::string::npos);
}

Result<std::vector<MeasuredServer>> read_database(const TestFolder& folder,
                                                  const std::string& sql) {
  const std::string path = folder.file("status.db");
  auto opened = Database::open(path, "");
  EXPECT_TRUE(opened.ok());
  Database database = std::move(opened).value();
  EXPECT_TRUE(database.run(sql).ok());
  return read_cluster_status(path);
}

TEST(ClusterStatus, IsReadWithAndWithoutTheReasonAndNotWritten) {
  const TestFolder folder;
  const auto servers = read_database(
      folder,
      "CREATE TABLE cluster_status (host_name TEXT primary key, status TEXT, creation_time TEXT, "
      "termination_time TEXT, role TEXT);"
      "INSERT INTO cluster_status VALUES ('d-us-east1-c-run1-master', 'TERMINATED', "
      "'2019-02-15 09:45:42.912864', '2019-02-15 11:45:43.912864', 'master'), "
      "('d-us-east1-c-run1-worker-0', 'RUNNING', '2019-02-15 09:45:42.912864', NULL, 'workers')");
  ASSERT_TRUE(servers.ok()) << servers.error().message;
  ASSERT_EQ(servers.value().size(), 2u);
  EXPECT_EQ(servers.value()[0].uptime_s, 7201);
  EXPECT_EQ(servers.value()[0].end, MeasuredEnd::Unknown);
  EXPECT_EQ(servers.value()[1].end, MeasuredEnd::Running);
  EXPECT_FALSE(servers.value()[1].uptime_s.has_value());

  std::filesystem::permissions(folder.file("status.db"), std::filesystem::perms::owner_read);
  EXPECT_TRUE(read_cluster_status(folder.file("status.db")).ok());
  std::size_t files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    ++files;
  }
  EXPECT_EQ(files, 1u) << "nothing is written beside it";
}

TEST(ClusterStatus, AnotherVersionIsRefusedWithWhatIsMissing) {
  const TestFolder other, missing, wrong;
  const auto no_table = read_database(other, "CREATE TABLE servers (name TEXT)");
  ASSERT_FALSE(no_table.ok());
  EXPECT_NE(no_table.error().message.find("has no table cluster_status"), std::string::npos);
  const auto no_column =
      read_database(missing, "CREATE TABLE cluster_status (host_name TEXT, status TEXT)");
  ASSERT_FALSE(no_column.ok());
  EXPECT_NE(no_column.error().message.find("no column 'creation_time'"), std::string::npos);
  const auto wrong_type = read_database(
      wrong,
      "CREATE TABLE cluster_status (host_name TEXT, status TEXT, creation_time TEXT, "
      "termination_time TEXT, role TEXT);"
      "INSERT INTO cluster_status VALUES ('d-us-east1-c-run1-master', 'TERMINATED', 17, "
      "'2019-02-15 11:45:43', 'master')");
  ASSERT_FALSE(wrong_type.ok());
  EXPECT_NE(wrong_type.error().message.find("row 1 of cluster_status: creation_time"),
            std::string::npos)
      << wrong_type.error().message;
}

TEST(ClusterStatus, WhatIsNoDatabaseIsRefused) {
  const TestFolder folder;
  EXPECT_FALSE(read_cluster_status(folder.write("text.db",
                                                "no database at all, but long enough "
                                                "to be read as the header of one"))
                   .ok());
  EXPECT_FALSE(read_cluster_status(folder.file("none.db")).ok());
}

TEST(TrainingFolder, ARunIsMeasuredFromTheLastEvaluationBeforeProgress) {
  const std::vector<SeriesPoint> finished = {
      {100, 0, 0.1}, {900, 0, 0.1}, {1000, 4000, 0.7}, {2000, 64'003, 0.9}, {2100, 64'100, 0.8}};
  const auto result = result_of(finished);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->duration_s, 1100);
  EXPECT_EQ(result->accuracy, 0.9);
  EXPECT_FALSE(result_of({{100, 0, 0.1}, {1000, 60'061, 0.9}}).has_value());
  EXPECT_FALSE(result_of({{1000, 64'000, 0.9}}).has_value()) << "nothing says when it began";
}

std::string fault_of_folder(const TestFolder& folder) {
  const auto read = read_training_folder(folder.file("k80_spot/2-spot"));
  return read.ok() ? "" : read.error().message;
}

TEST(TrainingFolder, TruncatedAndForeignRowsNameTheirLine) {
  const TestFolder folder;
  const auto write = [&](std::string_view name, const std::string& text) {
    folder.write("k80_spot/2-spot/" + std::string(name), text);
  };
  write("vm.txt", "");
  EXPECT_NE(fault_of_folder(folder).find("holds no train_data_processed.csv"), std::string::npos);
  write("train_data_processed.csv", "Zone,Run,Duration,Accuracy\r\nus-east1-c,1,7000,0.9");
  write("train_data.csv", std::string(kHeader) + "1550242205.9,0,0.1,us-east1-c,1\r\n15502");
  EXPECT_NE(fault_of_folder(folder).find("train_data.csv:3: has 1 fields"), std::string::npos)
      << fault_of_folder(folder);
  write("train_data.csv", kHeader);
  write("cost.csv", "Zone,Run,Cost\r\nus-east1-c,2,1.5\r\n");
  EXPECT_NE(fault_of_folder(folder).find(
                "cost.csv:2: run us-east1-c 2 is not in train_data_processed.csv"),
            std::string::npos)
      << fault_of_folder(folder);
  write("cost.csv", "Zone,Run,Cost\r\nspot2-us-east1-c,1,1.5\r\n");
  EXPECT_EQ(fault_of_folder(folder), "");
  write("train_data_processed.csv", "Zone,Run,Duration,Accuracy\r\nus-east1-c,1,7000,90");
  EXPECT_NE(fault_of_folder(folder).find(":2: column 'Accuracy': '90' is outside 0 to 1"),
            std::string::npos);
}

TEST(TrainingSetup, TheNameOfAFolderSaysTheCluster) {
  const auto setup = [](std::string_view config) {
    const auto parsed = parse_setup(config);
    EXPECT_TRUE(parsed.ok()) << config;
    return parsed.ok() ? parsed.value() : TrainingSetup{};
  };
  EXPECT_EQ(setup("k80_spot/8-spot").workers, (std::array{8, 0, 0}));
  EXPECT_EQ(setup("k80_on_demand/k80-demand").parameter_servers, 0);
  EXPECT_TRUE(setup("k80_on_demand/2-demand").on_demand);
  EXPECT_EQ(setup("p100_v100_spot/4p100").workers, (std::array{0, 4, 0}));
  EXPECT_EQ(setup("experiment_mixed_gpu/2v1p1k").workers, (std::array{1, 1, 2}));
  EXPECT_EQ(setup("experiment_1ps_vs_2ps/2ps5k").parameter_servers, 2);
  EXPECT_EQ(setup("experiment_cross_region/2e1c1w-p100").by_region, (std::vector{2, 1, 1}));
  EXPECT_EQ(setup("experiment_cross_region/2e1c1w-p100").workers, (std::array{0, 4, 0}));
  for (const char* wrong : {"k80_spot/8-demand", "k80_spot", "other/8-spot", "k80_spot/99999-spot",
                            "experiment_1ps_vs_2ps/2ps0k", "experiment_mixed_gpu/"}) {
    EXPECT_FALSE(parse_setup(wrong).ok()) << wrong;
  }
}

TEST(PublishedData, ANeighbourIsReadTooAndAnEmptyFolderIsRefused) {
  const TestFolder folder;
  folder.write("transient/adaptive_lr/lr_a.csv", "Wall time,Step,Value\n1,0,0.1\n");
  folder.write("cm-dare/checkpoint/whole_data.csv",
               "Model,Duration,Checkpoint Size (MB)\na,3.7,6.3\n");
  folder.write("empty/file.csv", "");
  for (const std::string& given : {folder.path(), folder / "transient", folder / "cm-dare"}) {
    const std::vector<std::string> folders = {given};
    const auto data = read_published_data(folders);
    ASSERT_TRUE(data.ok()) << data.error().message;
    EXPECT_EQ(data.value().folders.size(), 2u) << given;
    EXPECT_EQ(data.value().rates.size(), 1u);
    EXPECT_EQ(data.value().cm_dare.checkpoints.size(), 1u);
  }
  const std::vector<std::string> empty = {folder / "empty"}, none = {folder / "none"};
  EXPECT_NE(read_published_data(empty).error().message.find("holds neither runs of"),
            std::string::npos);
  EXPECT_NE(read_published_data(none).error().message.find("No such file"), std::string::npos);
}

TEST(PublishedData, ASeriesWithoutValuesIsRefused) {
  const TestFolder folder;
  folder.write("adaptive_lr/lr_a.csv", "Wall time,Step,Value\r\n");
  const std::vector<std::string> folders = {folder.path()};
  const auto data = read_published_data(folders);
  ASSERT_FALSE(data.ok());
  EXPECT_NE(data.error().message.find("holds no row below its header"), std::string::npos);
}

TEST(CmDare, FoldersOfSpeedsMustSayTheirModelAndWorkers) {
  const TestFolder folder;
  folder.write(
      "speed_and_cluster_size/p100ps2/shakesbigp100ps2worker3/"
      "run_.-tag-global_step_sec.csv",
      "Wall time,Step,Value\n1,101,5\n");
  const auto data = read_cm_dare(folder.path());
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_EQ(data.value().cluster_speeds.size(), 1u);
  EXPECT_EQ(data.value().cluster_speeds[0].model, "shakebig");
  EXPECT_EQ(data.value().cluster_speeds[0].workers, 3);
  folder.write("speed_and_cluster_size/k80/alexnetworker1/run_.-tag-global_step_sec.csv", "");
  EXPECT_FALSE(read_cm_dare(folder.path()).ok());
}

}  // namespace
}  // namespace orrery
