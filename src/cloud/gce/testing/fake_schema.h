#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace orrery {

// What is wrong with the body of a bulkInsert, as the service would say it; empty if nothing is.
// Unknown fields, wrong types and combinations that the service refuses are faults.
std::string bulk_insert_fault(const nlohmann::json& body);

}  // namespace orrery
