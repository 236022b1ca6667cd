#include "cloud/analysis/testing/small_data.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "base/database/database.h"

namespace orrery {
namespace {

constexpr double kStart_s = 1'550'000'000;

std::string with_crlf(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') result += '\r';
    result += c;
  }
  return result;
}

struct SmallRun {
  std::string zone;
  int run = 1;
  double duration_s = 0;
  double accuracy = 0.9;
  double cost = 0;          // 0: none
  long last_step = 64'003;  // below 64,000: it did not finish
};

// The tables of one configuration. Zones are written if the runs have one.
void write_runs(const TestFolder& folder, const std::string& config,
                const std::vector<SmallRun>& runs) {
  const bool zones = !runs.front().zone.empty();
  const std::string zone_title = zones ? "Zone," : "";
  std::string evaluations =
      zones ? "Wall Time,Step,Accuracy,Zone,Run\n" : "Wall Time,Step,Accuracy,Run\n";
  std::string results = zone_title + "Run,Duration,Accuracy\n";
  std::string costs = zone_title + "Run,Cost\n";
  std::string aggregate = zone_title + "Run,Duration,Accuracy,Cost\n";
  bool charged = false;
  for (const SmallRun& run : runs) {
    const std::string key =
        zones ? fmt::format("{},{}", run.zone, run.run) : fmt::format("{}", run.run);
    const auto row = [&](double at_s, long step, double accuracy) {
      evaluations += fmt::format("{:.3f},{},{},{}\n", kStart_s + at_s, step, accuracy, key);
    };
    row(-100, 0, 0.1);
    row(0, 0, 0.1);
    row(run.duration_s / 2, run.last_step / 2, 0.7);
    row(run.duration_s, run.last_step, run.accuracy);
    results += fmt::format("{},{},{}\n", key, run.duration_s, run.accuracy);
    if (run.cost > 0) {
      costs += fmt::format("{}{},{}\n", zones ? "spot2-" : "", key, run.cost);
      charged = true;
    }
    if (run.last_step >= 64'000) {
      aggregate += fmt::format("{},{},{},{}\n", key, run.duration_s, run.accuracy, run.cost);
    }
  }
  results.pop_back();  // published files end without a line end
  const std::string path = "transient/training/" + config + "/";
  folder.write(path + "train_data.csv", with_crlf(evaluations));
  folder.write(path + "train_data_processed.csv", with_crlf(results));
  if (charged) folder.write(path + "cost.csv", with_crlf(costs));
  if (charged) folder.write(path + "agg_data.csv", with_crlf(aggregate));
}

void write_spot(const TestFolder& folder) {
  // Two K80: one run without loss, one whose worker was lost half-way and one that did not finish.
  write_runs(folder, "k80_spot/2-spot",
             {{"us-east1-c", 1, 7000, 0.92, 2 * 7000 * 0.000071 + 7000 * 0.0000397},
              {"us-east1-c", 2, 10'000, 0.91, 9.99},
              {"us-west1-b", 1, 1200, 0.3, 1200 * (2 * 0.000071 + 0.0000397), 8002}});
  folder.write("transient/training/k80_spot/2-spot/vm_data.csv",
               with_crlf("VM_name,Uptime,Revoked\n"
                         "spot2-us-east1-c-run1-master,7300,Job completed\n"
                         "spot2-us-east1-c-run1-worker-0,7290,Job Completed\n"
                         "spot2-us-east1-c-run2-master,10300,Job completed\n"
                         "spot2-us-east1-c-run2-worker-0,4180,Revoked\n"
                         "spot2-us-west1-b-run1-master,1500,Manually stopped due to revoked "
                         "master\n"
                         "spot2-us-west1-b-run1-worker-0,1501,Manually stopped due to revoked "
                         "master"));
  auto opened = Database::open(folder / "transient/training/k80_spot/2-spot/status.db", "");
  ASSERT_TRUE(opened.ok());
  Database database = std::move(opened).value();
  ASSERT_TRUE(database
                  .run("CREATE TABLE cluster_status (host_name TEXT primary key, ip TEXT, region "
                       "TEXT, job_name TEXT, status TEXT, creation_time TEXT, termination_time "
                       "TEXT, role TEXT, revoked TEXT);"
                       "INSERT INTO cluster_status VALUES ('spot2-us-east1-c-run1-master', "
                       "'10.0.0.1', 'us-east1-c', 'j', 'TERMINATED', '2019-02-16 01:00:00.000000', "
                       "'2019-02-16 03:01:40.500000', 'master', 'Revoked')")
                  .ok());
}

void write_demand(const TestFolder& folder) {
  write_runs(folder, "k80_on_demand/k80-demand",
             {{"us-east1-c", 1, 14'000, 0.93, 14'000 * 0.00020083},
              {"us-east1-c", 2, 14'100, 0.931, 14'100 * 0.00020083}});
  write_runs(folder, "k80_on_demand/2-demand",
             {{"us-east1-c", 1, 7100, 0.92, 7100 * (2 * 0.00020083 + 0.0000397)}});
  auto opened = Database::open(folder / "transient/training/k80_on_demand/2-demand/s.db", "");
  ASSERT_TRUE(opened.ok());
  Database database = std::move(opened).value();
  ASSERT_TRUE(database
                  .run("CREATE TABLE cluster_status (host_name TEXT primary key, ip TEXT, region "
                       "TEXT, job_name TEXT, status TEXT, creation_time TEXT, termination_time "
                       "TEXT, role TEXT);"
                       "INSERT INTO cluster_status VALUES ('demand2-us-east1-c-run1-master', "
                       "'10.0.0.1', 'us-east1-c', 'j', 'RUNNING', '2019-02-15 09:45:42.912864', "
                       "NULL, 'master')")
                  .ok());
}

void write_others(const TestFolder& folder) {
  write_runs(folder, "p100_v100_spot/v100", {{"", 1, 4400, 0.93}});
  write_runs(folder, "p100_v100_spot/p100", {{"", 1, 5400, 0.93}});
  write_runs(folder, "p100_v100_spot/4p100", {{"", 1, 1700, 0.91}});
  write_runs(folder, "experiment_mixed_gpu/1v1p2k", {{"", 1, 2000, 0.91}});
  write_runs(folder, "experiment_cross_region/2e1c1w-p100", {{"", 1, 2500, 0.92}});
  write_runs(folder, "experiment_1ps_vs_2ps/1ps8v", {{"", 1, 1424, 0.89}, {"", 2, 1420, 0.9}});
  write_runs(folder, "experiment_1ps_vs_2ps/2ps8v", {{"", 1, 812, 0.89}});
  const std::string single = "Wall Time,Step,Accuracy\n1550000000,0,0.1\n1550007000,64000,0.9\n";
  folder.write("transient/training/experiment_1ps_vs_2ps/1ps_k80/2_data.csv", with_crlf(single));
  folder.write("transient/adaptive_lr/lr_case1.csv",
               with_crlf("Wall time,Step,Value\n1550000000.5,0,0.1\n1550000100.5,4000,0.8\n"
                         "1550000200,8002,0.79"));
  folder.write("transient/lifetime/lifetime.csv",
               with_crlf("K80,,\nVM name,Start,Terminate\n"
                         "a-us-west1-b-0,2/18/19 23:40,2/20/19 00:02\n"
                         "a-us-west1-b-1less,2/18/19 23:40,2/19/19 06:37\n"
                         "a-us-central1-c-1,2/18/19 23:40,2/19/19 01:10\n"
                         "Previous experiments,,\n8-May,created,terminated\n"
                         "test0,09:49:51,10:28:22\ntest1,09:50:00,12:00:00\n"
                         "test2less,09:50:00,10:10:00"));
}

void write_cm_dare(const TestFolder& folder) {
  std::string steps =
      "GPU TFLOPS,Normalized Model,Model FLOPs,Latency (ms),Number of Parameters,Step Time "
      "(s),GPU (temp),Model (temp)\n";
  const double gflop[] = {0.6, 1.7, 2.6, 5.8, 22.9};
  for (int model = 0; model < 5; ++model) {
    for (int sample = 0; sample < 2; ++sample) {
      const double step_s = 0.17 * gflop[model] + 0.001 * sample * (model + 1);
      steps += fmt::format("4.113,{},{},0.3,{},{},K80,net{}\n", gflop[model] / 22.9,
                           gflop[model] * 1e9, 1000 * (model + 1), step_s, model);
    }
  }
  folder.write("cm-dare/speed_data/0latency_k80_new.csv", steps);
  folder.write("cm-dare/checkpoint/whole_data.csv",
               "Model,Local duration,Duration,Diff,Checkpoint Size (MB)\n"
               "a,0.2,3.7,3.5,6.3\na,0.2,3.9,3.7,6.3\nb,0.8,4.4,3.6,40\nc,2,7.6,5,204\n");
  folder.write("cm-dare/startup_time/pre_east/vm_k80.csv",
               "Provisioning,Staging,Booting\n1.7,38.9,33.8\n1.6,41.9,35.4\n");
  folder.write(
      "cm-dare/speed_and_cluster_size/k80/res15k80worker1/run_.-tag-global_step_sec.csv",
      "Wall time,Step,Value\n1568073103,101,8.5\n1568073110,207,9.7\n1568073116,307,9.9\n");
}

}  // namespace

void write_small_data(const TestFolder& folder) {
  write_demand(folder);
  write_spot(folder);
  write_others(folder);
  write_cm_dare(folder);
}

}  // namespace orrery
