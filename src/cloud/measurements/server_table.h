#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orrery {

// A run within a configuration. Where all ran in one zone the files do not name it.
struct RunKey {
  std::string zone{};  // "us-east1-c"; empty: not named
  int run = 0;

  auto operator<=>(const RunKey&) const = default;
};

// "us-east1-c" of "spot2-us-east1-c": some files put a prefix before the zone.
Result<std::string> zone_without_prefix(std::string_view text);

// Why a server ended, as the published files spell it. A master that was revoked is only visible as
// MasterRevoked, on every server of its run that was alive.
enum class MeasuredEnd : std::uint8_t { Running, Completed, Revoked, MasterRevoked, Unknown };

struct MeasuredServer {
  std::string name;
  RunKey key;
  bool master = false;
  std::optional<double> uptime_s{};  // nothing while it runs
  MeasuredEnd end = MeasuredEnd::Unknown;
  std::int64_t line = 0;  // of the file, or the row of the database
};

// True if the server itself was revoked.
bool was_revoked(const MeasuredServer& server);

// vm_data.csv: VM_name, Uptime and, in spot runs, Revoked.
Result<std::vector<MeasuredServer>> read_server_table(const std::string& path);

// The database of a campaign: table cluster_status, with or without the column `revoked`. The file
// is not written to.
Result<std::vector<MeasuredServer>> read_cluster_status(const std::string& path);

}  // namespace orrery
