#include "training/trainer/head/lead/leadership.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "training/trainer/lease/head_place.h"

namespace orrery {

using nlohmann::json;

Status Leadership::begin() {
  if (!by_lease()) {
    TRY_ASSIGN(lock_, FolderLock::take(run_.folder));
    return {};
  }
  mine_ = {.epoch = run_.options.epoch, .holder = run_.options.holder};
  TRY_ASSIGN(const ChiefLease now, lease_.read());
  mine_.renewals = now.renewals;
  TRY(lease_.renew(mine_));
  saves_ = requests().saves;
  return {};
}

Status Leadership::guard(const std::function<Status()>& write) const {
  return by_lease() ? lease_.while_held(mine_.epoch, write) : write();
}

Status Leadership::announce(const HeadPlace& place) {
  place_ = place;
  return guard(
      [this] { return write_file_atomically(run_.folder + "/head", head_place_text(place_)); });
}

Result<RunToken> Leadership::token() const {
  TRY_ASSIGN(const std::string text, read_file(run_.folder + "/token"));
  return parse_token(text);
}

Leadership::Requests Leadership::requests() const {
  Requests found{.saves = saves_};
  const auto text = read_file(run_.folder + "/orders.json");
  if (!text.ok()) return found;
  const json values = json::parse(text.value(), nullptr, false);
  if (!values.is_object()) return found;
  found.stop = values.contains("stop") && values["stop"] == true;
  const auto save = values.find("save");
  if (save != values.end() && save->is_number_integer()) found.saves = save->get<std::int64_t>();
  return found;
}

void Leadership::tick() {
  if (!by_lease()) return;
  if (const Status renewed = lease_.renew(mine_); !renewed.ok()) {
    return run_.fail(renewed.error());
  }
  // An earlier head that hung while it wrote that file may have gone on.
  const auto announced = read_head_place(run_.folder);
  if (place_.port != 0 && (!announced.ok() || announced.value().epoch != mine_.epoch)) {
    if (const Status again = announce(place_); !again.ok()) return run_.fail(again.error());
  }
  note();
  if (!run_.training() || run_.finishing) return;
  const Requests wanted = requests();
  if (wanted.saves > saves_) session_.conductor->save(run_.now());
  saves_ = wanted.saves;
  if (wanted.stop) session_.conductor->finish("it was asked to stop", run_.now());
}

std::int64_t Leadership::gradients() const {
  const std::int64_t before = session_.from ? session_.from->conductor.gradients_done : 0;
  return before + session_.conductor->counts().gradients;
}

void Leadership::note() {
  if (!session_.conductor) return;
  const auto rule = rate_rule(run_.options);
  const int workers = members_.joined();
  const double factor = rule.ok() ? rule.value().factor(workers, 1) : 1;
  const double rate = rule.ok() ? rule.value().at(session_.samples_used, workers, 1) : 0;
  if (run_.training() && workers != workers_) {
    workers_ = workers;
    run_.log->membership(seconds(run_.now()), mine_.epoch, workers, factor, rate);
  }
  json values = {{"epoch", mine_.epoch},
                 {"chief", mine_.holder},
                 {"training", run_.training()},
                 {"over", run_.finishing},
                 {"at_s", seconds(run_.now())},
                 {"gradients", gradients()},
                 {"samples", session_.samples_used},
                 {"workers", workers},
                 {"rate_factor", factor},
                 {"rate", rate},
                 {"accuracy", nullptr}};
  if (!run_.curve.empty()) values["accuracy"] = run_.curve.back().accuracy;
  const Status written = guard(
      [&] { return write_file_atomically(run_.folder + "/progress.json", values.dump() + "\n"); });
  if (!written.ok() && written.error().code == Code::FailedPrecondition) return;
  const auto report =
      written.ok() ? notes_.worked(run_.now()) : notes_.failed(written.error().message, run_.now());
  if (report) run_.warn(*report);
}

void Leadership::end(const Result<TrainingResult>& result) {
  if (!by_lease()) return;
  if (!result.ok()) {
    const Code code = result.error().code;
    const bool another_can =
        code == Code::Unavailable || code == Code::FailedPrecondition || code == Code::Cancelled;
    if (another_can) return;
  }
  note();
  const std::string text = result.ok() ? training_result_json(result.value())
                                       : json{{"failure", result.error().message}}.dump() + "\n";
  const Status written =
      guard([&] { return write_file_atomically(run_result_path(run_.folder), text); });
  if (!written.ok()) run_.warn(written.error().message);
}

}  // namespace orrery
