#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cloud/fleet/fleet.h"
#include "cloud/ledger/cost_ledger.h"
#include "cloud/provider_file/provider_file.h"
#include "commands/programs/upkeep.h"
#include "live/api/api.h"

namespace orrery {

struct HeldServersOptions {
  std::string kind{};    // local or gce
  std::string file{};    // docs/formats/provider-file.md
  std::string state{};   // of the scheduler
  std::string server{};  // where nodes reach the scheduler, unless the file says it
  std::function<std::string()> random_key{};  // another one at each call
  std::function<void(const std::string&)> say{};
};

// The servers that `orrery serve --provider` holds. A thread of its own looks at provider and queue
// every now and then. Their costs stand in STATE/servers.db.
class HeldServers {
 public:
  // `api` outlives this.
  static Result<std::unique_ptr<HeldServers>> start(Api& api, const HeldServersOptions& options);
  // Servers go on without their scheduler, but those of the local provider do not.
  ~HeldServers() = default;

 private:
  HeldServers(HeldServersOptions options, ProviderFile file, MadeProvider made, CostLedger ledger)
      : options_(std::move(options)),
        file_(std::move(file)),
        made_(std::move(made)),
        ledger_(std::move(ledger)) {}

  Status open_fleet(Api& api);
  Result<std::string> startup(Api& api, const std::string& node, const Offer& offer);
  void pass();
  void say_once(const std::string& line);

  const HeldServersOptions options_;
  const ProviderFile file_;
  MadeProvider made_;
  CostLedger ledger_;
  std::unique_ptr<Fleet> fleet_;
  std::string last_error_;
  std::unique_ptr<Ticker> ticker_;  // goes first
};

}  // namespace orrery
