#pragma once

#include <functional>

#include "base/result.h"

namespace CLI {
class App;
}

namespace orrery {

// Adds the hidden command `describe`: it writes the completion of a shell to standard output, or
// man pages into a folder. `app` and `run` must outlive what is chosen.
void add_describe(CLI::App& app, std::function<Status()>& run);

}  // namespace orrery
