#pragma once

#include <string>

#include "base/result.h"

namespace orrery {

// How the caller wants it.
struct ListArguments {
  std::string output{};  // table, wide, json, csv or template=TEXT
  std::string sort{};    // fields or titles with commas; -FIELD: from the largest
  bool json = false;     // the same as json for `output`

  bool is_json() const { return json || output == "json"; }
};

// Refuses what is no output or says two things.
Status check_output(const ListArguments& arguments);

}  // namespace orrery
