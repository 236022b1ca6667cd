#include "report/terminal/standard_output.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "base/files.h"

namespace orrery {
namespace {

constexpr std::string_view kReaderGone = "the reader of standard output has gone away";

}  // namespace

int terminal_width() {
  constexpr int kUnknown = 120;
  constexpr int kNoTerminal = 100'000;
  if (isatty(STDOUT_FILENO) != 1) return kNoTerminal;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : kUnknown;
}

bool terminal_has_colour() {
  return isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
}

Status print_stream(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return {};
  if (errno == EPIPE) return reader_gone();
  return system_error("standard output cannot be written", errno);
}

Status print_text(std::string_view text) {
  Status printed = print_stream(text);
  return !printed.ok() && is_reader_gone(printed.error()) ? Status() : printed;
}

Error reader_gone() { return {Code::Cancelled, std::string(kReaderGone)}; }

bool is_reader_gone(const Error& error) {
  return error.code == Code::Cancelled && error.message == kReaderGone;
}

bool output_has_reader() {
  pollfd output{.fd = STDOUT_FILENO, .events = POLLOUT, .revents = 0};
  return ::poll(&output, 1, 0) <= 0 || (output.revents & POLLERR) == 0;
}

}  // namespace orrery
