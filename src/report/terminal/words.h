#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What every program of ours does with its words and with what became of them.

namespace orrery {

// On standard error, if it can be said: that may be closed.
void complain(std::string_view message);

// 0 done, 1 the work failed, 2 the call was wrong; the error is printed.
int exit_code(const Status& status);

// The words before --. Those after it are a program with its arguments, for the commands that take
// one, and its own business: CLI11 would take "[1,2]" for a list.
std::span<char*> split_program(std::span<char*> words, std::span<const std::string> takers,
                               std::vector<std::string>& program);

}  // namespace orrery
