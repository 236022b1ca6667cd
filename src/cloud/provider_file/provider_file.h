#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/autoscaling/autoscaling.h"
#include "cloud/gce/gce_provider.h"
#include "cloud/local_servers/local_servers.h"
#include "cloud/provider/prices.h"

namespace orrery {

// docs/formats/provider-file.md: which servers a scheduler may hold, and where it gets them.
struct ProviderFile {
  std::string cluster = "orrery";  // the names of its servers begin with it
  std::string server{};            // where nodes reach the scheduler; empty: where it listens
  std::string command = "orrery";  // the program on a server
  PriceList prices{};
  std::vector<Offer> offers{};  // those of the price list that the file allows
  AutoscalingOptions rules{};
  Duration join_max = std::chrono::minutes(10);
  Duration pause = std::chrono::seconds(1);  // between two looks at the provider
  // Of [local].
  double speed = 1;  // the provider's clock against the wall's
  ServerWorld world{};
  // Of [gce].
  GceOptions gce{};
};

// `kind` is "local" or "gce": the table of that name is read. Paths in the file are relative to it.
Result<ProviderFile> read_provider_file(std::string_view kind, const std::string& path);

// A provider, and what must outlive it.
struct MadeProvider {
  std::unique_ptr<GceClock> clock{};
  std::unique_ptr<Provider> provider{};
};
// `folder` is for the logs of local servers.
Result<MadeProvider> make_provider(std::string_view kind, const ProviderFile& file,
                                   const std::string& folder);

}  // namespace orrery
