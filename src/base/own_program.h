#pragma once

#include <string>
#include <string_view>

namespace orrery {

// The path of another program of Orrery: beside this one, as in a build folder, or where an
// installed tree has it, in bin/ or libexec/orrery/. Both are found from the place of this program,
// so a tree can be installed under any prefix and moved. If there is none, the path beside this
// program, for a message.
std::string own_program(std::string_view name);

// The same for a program in the folder `here`.
std::string own_program(std::string_view name, const std::string& here);

}  // namespace orrery
