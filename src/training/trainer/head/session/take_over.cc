#include "training/trainer/head/session/take_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "training/trainer/checkpoint/checkpoint_text.h"
#include "training/trainer/transport/wire.h"

namespace orrery {
namespace {

TakeOver from_checkpoint(std::string why) { return {.why = std::move(why)}; }

Result<ApplyMessage> read_update(const std::string& bytes) {
  return read_fields<ApplyMessage>(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

}  // namespace

TakeOver take_over(std::span<const ShardHolding> shards) {
  const auto holds = [](const ShardHolding& shard) { return shard.version >= 0; };
  if (shards.empty() || std::ranges::none_of(shards, holds)) return {};
  if (const auto empty = std::ranges::find_if_not(shards, holds); empty != shards.end()) {
    return from_checkpoint(fmt::format("shard {} holds no parameters", empty - shards.begin()));
  }
  const ShardHolding& newest = *std::ranges::max_element(shards, {}, &ShardHolding::version);
  std::map<ParameterVersion, ApplyMessage> updates;
  for (const std::string& bytes : newest.updates) {
    auto update = read_update(bytes);
    if (!update.ok()) return from_checkpoint("an update that was kept cannot be read");
    const ParameterVersion version = update.value().update.version;
    updates[version] = std::move(update).value();
  }
  const auto last = updates.find(newest.version);
  if (last == updates.end()) {
    return from_checkpoint(
        fmt::format("no update has been made since version {} was loaded", newest.version));
  }
  const auto stands = parse_checkpoint_text(last->second.state);
  if (!stands.ok()) return from_checkpoint("where the run stood cannot be read");
  TakeOver result{.goes_on = true,
                  .state = stands.value().conductor,
                  .elapsed_s = stands.value().elapsed_s,
                  .missing = std::vector<std::vector<ApplyMessage>>(shards.size())};
  for (std::size_t i = 0; i < shards.size(); ++i) {
    for (ParameterVersion version = shards[i].version + 1; version <= newest.version; ++version) {
      const auto update = updates.find(version);
      if (update == updates.end()) {
        return from_checkpoint(fmt::format("shard {} is at version {}, and update {} is not kept",
                                           i, shards[i].version, version));
      }
      result.missing[i].push_back(update->second);
    }
  }
  return result;
}

std::int64_t first_task_of(std::int64_t epoch) { return epoch << 32; }

}  // namespace orrery
