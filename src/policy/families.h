#pragma once

#include <memory>

#include "policy/policy.h"

namespace orrery {

std::unique_ptr<Policy> make_antman();

}  // namespace orrery
