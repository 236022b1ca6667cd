#pragma once

#include <string>

#include "base/result.h"
#include "training/trainer/checkpoint/checkpoint.h"

namespace orrery {

// A checkpoint's header, everything but the numbers of the model, as JSON.
std::string checkpoint_text(const Checkpoint& checkpoint);
Result<Checkpoint> parse_checkpoint_text(const std::string& text);

}  // namespace orrery
