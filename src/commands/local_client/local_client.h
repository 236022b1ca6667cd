#pragma once

namespace orrery {

// The `orrery` program as far as it asks a scheduler on this machine, which is what has to be
// quick. Gives its exit code; whatever else is asked, and all that the socket of the state
// directory has no answer to, is for the whole program: `run_whole` takes the words as they are and
// does not come back.
int run_local_client(int argc, char** argv, void (*run_whole)(char** argv));

// Replaces this process by our program NAME; exits with 1 if there is none.
[[noreturn]] void exec_sibling(const char* name, char** argv);

}  // namespace orrery
