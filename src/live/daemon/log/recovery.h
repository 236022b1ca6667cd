#pragma once

#include <memory>
#include <string>
#include <vector>

#include "live/daemon/core/core.h"
#include "live/store/store.h"

namespace orrery {

struct Recovered {
  std::unique_ptr<Core> core;
  Store store;
  std::vector<std::string> notes{};  // for the operator: damaged snapshots that were passed over
};

// Opens the log, or begins one, and brings back the core it adds up to, which has not begun yet.
Result<Recovered> recover(const std::string& path, const CoreOptions& options,
                          const StoreOptions& store = {});

}  // namespace orrery
