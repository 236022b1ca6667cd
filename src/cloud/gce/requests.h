#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cloud/gce/answers.h"
#include "cloud/provider/server.h"

namespace orrery {

// How servers are made, besides what their specs say.
struct GceMachines {
  std::string fleet = "orrery";  // a label that all servers of one provider carry
  std::string image = "projects/debian-cloud/global/images/family/debian-12";
  int disk_gib = 100;
  std::string disk_type = "pd-balanced";
  std::string network = "global/networks/default";
  std::string subnetwork{};
  bool external_address = true;   // True if servers get an address outside the network
  std::string service_account{};  // that programs on the servers act as; empty: none
};

// Specs that differ in name, index and role only: one call makes them.
struct BulkGroup {
  std::vector<ServerSpec> specs{};
  std::size_t min = 1;
  std::string request_id{};  // follows from names and identities of the specs
};

inline constexpr std::string_view kFleetLabel = "orrery-fleet";
inline constexpr std::string_view kRequestLabel = "orrery-request";

// InvalidArgument says which spec cannot be asked for, why, and what to write.
Status check_specs(const std::vector<ServerSpec>& specs, std::size_t min);

// In the order in which they are first needed. `min` is of all groups together.
std::vector<BulkGroup> bulk_groups(const std::vector<ServerSpec>& specs, std::size_t min);

// The body of instances.bulkInsert.
std::string bulk_body(const BulkGroup& group, const GceMachines& machines,
                      std::string_view image_link);

// The spec of an instance that an earlier process made, from its metadata. `offers` give the price.
// Nothing if it was not made by a provider of this kind.
std::optional<ServerSpec> spec_of(const GceInstance& instance, const std::vector<Offer>& offers);

}  // namespace orrery
