#pragma once

#include <string_view>

#include "base/result.h"

namespace orrery {

// To standard output; fails when that is closed or full. A reader that has gone away, as `head`
// does, has what it wanted: that is no failure, and the work goes on.
Status print_text(std::string_view text);

// The same for output without end: there it is worth stopping when the reader has gone away, with
// an error that exit_code() takes for success.
Status print_stream(std::string_view text);
Error reader_gone();
bool is_reader_gone(const Error& error);

// False if standard output is a pipe that no process reads.
bool output_has_reader();

// The width of the terminal. Output to a file or a pipe is wider than any table: nothing is cut.
int terminal_width();
bool terminal_has_colour();

}  // namespace orrery
