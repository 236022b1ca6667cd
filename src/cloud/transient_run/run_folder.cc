#include "cloud/transient_run/run_folder.h"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/files.h"

namespace orrery {

using nlohmann::json;

std::optional<RunStanding> RunFolder::standing() const {
  const auto text = read_file(path_ + "/progress.json");
  if (!text.ok()) return std::nullopt;
  const json values = json::parse(text.value(), nullptr, false);
  try {
    RunStanding standing{.epoch = values.at("epoch").get<std::int64_t>(),
                         .chief = values.at("chief").get<std::string>(),
                         .training = values.at("training").get<bool>(),
                         .at_s = values.at("at_s").get<double>(),
                         .gradients = values.at("gradients").get<std::int64_t>(),
                         .samples = values.at("samples").get<std::int64_t>(),
                         .workers = values.at("workers").get<int>(),
                         .rate_factor = values.at("rate_factor").get<double>()};
    if (!values.at("accuracy").is_null()) standing.accuracy = values["accuracy"].get<double>();
    return standing;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

// The line with the names of the columns is none.
std::vector<MembershipRow> RunFolder::new_memberships() {
  std::vector<MembershipRow> rows;
  for (const std::string& line : memberships_.new_lines()) {
    MembershipRow row;
    long epoch = 0;
    if (std::sscanf(line.c_str(), "%lf,%ld,%d,%lf", &row.at_s, &epoch, &row.workers,
                    &row.rate_factor) != 4) {
      continue;
    }
    row.epoch = epoch;
    rows.push_back(row);
  }
  return rows;
}

std::vector<SavedRow> RunFolder::new_checkpoints() {
  std::vector<SavedRow> rows;
  for (const std::string& line : checkpoints_.new_lines()) {
    SavedRow row;
    long version = 0;
    long gradients = 0;
    long bytes = 0;
    if (std::sscanf(line.c_str(), "%lf,%ld,%ld,%ld,%lf", &row.at_s, &version, &gradients, &bytes,
                    &row.save_s) != 5) {
      continue;
    }
    row.version = version;
    row.gradients = gradients;
    row.bytes = bytes;
    rows.push_back(row);
  }
  return rows;
}

RunFolder::Resumptions RunFolder::resumptions() const {
  Resumptions found;
  const auto text = read_file(path_ + "/processes.csv");
  if (!text.ok()) return found;
  const auto count = [&text](std::string_view what) {
    int times = 0;
    for (auto at = text.value().find(what); at != std::string::npos;
         at = text.value().find(what, at + 1)) {
      ++times;
    }
    return times;
  };
  found.from_checkpoint = count("starts from the checkpoint of version");
  found.from_shards = count("goes on from version");
  return found;
}

std::optional<std::string> RunFolder::result() const {
  auto text = read_file(path_ + "/result.json");
  if (!text.ok()) return std::nullopt;
  return std::move(text).value();
}

Status RunFolder::order(std::int64_t saves, bool stop) const {
  return write_file_atomically(path_ + "/orders.json",
                               json{{"save", saves}, {"stop", stop}}.dump() + "\n");
}

}  // namespace orrery
