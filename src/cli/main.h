#pragma once

namespace orrery {

// The `orrery` program. Answers its exit code: 0 done, 1 the work failed, 2 the call was wrong.
int run(int argc, char** argv);

}  // namespace orrery
