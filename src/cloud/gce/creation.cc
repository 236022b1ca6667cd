#include "cloud/gce/creation.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cloud/gce/faults.h"

namespace orrery {

Result<std::string> Creation::image() {
  if (image_link_.empty()) {
    auto link = api_.image_link(machines_.image);
    if (!link.ok()) return std::move(link).error().at("image " + machines_.image);
    image_link_ = std::move(link).value();
  }
  return image_link_;
}

Result<GceOperation> Creation::finished(std::string_view zone, GceOperation operation) {
  const Time until = api_.clock().now() + waits_.operation;
  Duration pause = std::chrono::seconds(1);
  while (!operation.done) {
    if (api_.clock().now() + pause > until) {
      return Error{Code::DeadlineExceeded,
                   fmt::format("operation {} has not ended after {:.0f} s; look at it in the "
                               "provider's console",
                               operation.name, seconds(waits_.operation))};
    }
    api_.clock().wait(pause);
    pause = std::min<Duration>(2 * pause, std::chrono::seconds(5));
    TRY_ASSIGN(operation, api_.operation(zone, operation.name));
  }
  return operation;
}

Result<std::vector<GceInstance>> Creation::made_by(const BulkGroup& group) {
  TRY_ASSIGN(const auto listed,
             api_.instances(group.specs.front().offer.zone,
                            fmt::format("labels.{} = \"{}\"", kRequestLabel, group.request_id)));
  std::set<std::string> names;
  for (const ServerSpec& spec : group.specs) names.insert(spec.name);
  std::vector<GceInstance> made;
  for (const GceInstance& instance : listed) {
    const auto label = instance.labels.find(std::string(kRequestLabel));
    if (label != instance.labels.end() && label->second == group.request_id &&
        names.contains(instance.name)) {
      made.push_back(instance);
    }
  }
  return made;
}

GroupOutcome Creation::make(const BulkGroup& group) {
  const std::string& zone = group.specs.front().offer.zone;
  GroupOutcome outcome;
  const auto fail = [&](Error error) {
    if (!outcome.error) outcome.error = std::move(error).at(zone);
    return outcome;
  };
  const auto link = image();
  if (!link.ok()) return fail(link.error());
  GceOperation begun;
  GceOutcome asked =
      api_.bulk_insert(zone, bulk_body(group, machines_, link.value()), group.request_id, begun);
  outcome.perhaps_heard = asked.ok() || asked.perhaps_done;
  if (!asked.ok()) {
    const bool exists = asked.error->code == Code::AlreadyExists;
    outcome.settled = !asked.perhaps_done;
    outcome.error = std::move(*asked.error).at(zone);
    // The service may have forgotten that it made them for this very request.
    if (!exists) return outcome;
  } else {
    const auto operation = finished(zone, std::move(begun));
    if (!operation.ok()) {
      outcome.settled = false;
      return fail(operation.error());
    }
    if (!operation.value().faults.empty()) {
      outcome.error = error_of(operation.value().faults).at(zone);
    }
  }
  auto made = made_by(group);
  if (!made.ok()) {
    // Whatever there is, no caller learns of it.
    outcome.settled = false;
    outcome.error.reset();
    return fail(made.error());
  }
  outcome.made = std::move(made).value();
  if (outcome.made.size() == group.specs.size()) {
    outcome.error.reset();
  } else if (!outcome.error) {
    outcome.error = error_of(std::vector<GceFault>{}).at(zone);
  }
  return outcome;
}

}  // namespace orrery
