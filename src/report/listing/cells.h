#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "report/listing/listing.h"

namespace orrery {

// One value as text without a unit, for CSV and templates; empty: there is none.
std::string plain_value(const nlohmann::ordered_json& value, std::string_view between);

// A column of the table: what stands in each row, in one unit.
std::vector<std::string> cells_of(const ListColumn& column, const Listing& listing);

}  // namespace orrery
