#include <algorithm>

#include "training/mode_selection/tree/tree_director.h"
#include "training/trainer/head/head.h"

namespace orrery {

bool Head::wants_trees() const {
  return options_.tree == "auto" && servers_ && servers_->link_means() != "none" &&
         architecture(options_) == Architecture::ParameterServers;
}

// What the busiest shard's server carried since the last look; by what tasks moved where the means
// counts no bytes.
void Head::look_at_links() {
  constexpr double kLeast_s = 0.5;
  if (trees_ == nullptr || shards_.empty()) return;
  const double passed = seconds(now() - tree_.at);
  if (tree_.looked && passed < kLeast_s) return;
  tree_.sent_bytes.resize(shards_.size());
  tree_.got_bytes.resize(shards_.size());
  std::vector<ServerUse> used(static_cast<std::size_t>(servers_->count()));
  std::vector<double> floats(used.size());
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    const auto server = static_cast<std::size_t>(shards_[i].server);
    used[server].in_bytes += tree_.got_bytes[i];
    used[server].out_bytes += tree_.sent_bytes[i];
    floats[server] += static_cast<double>(places_[i].count());
  }
  LinkLook look{.at = now(),
                .gradient_bytes = static_cast<double>(count_) * sizeof(float),
                .parameter_bytes = static_cast<double>(count_) * sizeof(float)};
  double most = -1;
  for (std::size_t server = 0; server < used.size(); ++server) {
    if (floats[server] == 0) continue;
    const int number = static_cast<int>(server);
    if (auto counted = servers_->use(number); counted.ok() && counted.value().in_bytes > 0) {
      used[server] = counted.value();
    }
    const double may = servers_->size(number).bytes_per_s;
    if (!tree_.looked || !(may > 0)) continue;
    const double in = (used[server].in_bytes - tree_.used[server].in_bytes) / passed;
    const double out = (used[server].out_bytes - tree_.used[server].out_bytes) / passed;
    if ((in + out) / may <= most) continue;
    most = (in + out) / may;
    look.in = in;
    look.out = out;
    look.may_in = look.may_out = may;
    look.part = floats[server] / static_cast<double>(count_);
  }
  for (const auto& [id, worker] : workers_) {
    if (!worker.joined) continue;
    const double link = worker.server >= 0 ? servers_->size(worker.server).bytes_per_s : 0;
    look.workers.push_back({.worker = WorkerId{id}, .in = link, .out = link});
  }
  tree_.used = std::move(used);
  tree_.at = now();
  if (std::exchange(tree_.looked, true)) trees_->on_links(look);
}

}  // namespace orrery
