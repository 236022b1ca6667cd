#include <cstdint>
#include <string>

#include "base/invariant.h"
#include "training/trainer/run_folder/window_log.h"

using namespace orrery;

// Whatever the bytes are, they are read or refused; what was read is finite, and is written as it
// was read.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto windows = parse_windows(std::string(reinterpret_cast<const char*>(data), size));
  if (!windows.ok()) {
    INVARIANT(windows.error().code == Code::InvalidArgument, windows.error().message.c_str());
    return 0;
  }
  std::string text = window_columns() + "\n";
  for (const SelectorSample& window : windows.value()) {
    INVARIANT(is_finite(window), "every number is one");
    text += window_line(window) + "\n";
  }
  const auto again = parse_windows(text);
  INVARIANT(again.ok() && again.value().size() == windows.value().size(), "it is read again");
  return 0;
}
