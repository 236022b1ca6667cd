#include "training/trainer/head/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace orrery {
namespace {

constexpr auto kLineEvery = std::chrono::seconds(5);
constexpr int kBarWidth = 24;

std::string bar(double share) {
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
}

}  // namespace

ProgressLine::ProgressLine(bool enabled)
    : enabled_(enabled),
      terminal_(isatty(STDERR_FILENO) == 1),
      last_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const ProgressState& state) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || (!terminal_ && now - last_ < kLineEvery)) return;
  last_ = now;
  shown_ = true;
  const std::string text = progress_text(state);
  if (!terminal_) {
    std::fputs(fmt::format("training: {}\n", text).c_str(), stderr);
    return;
  }
  const std::string done = state.share ? bar(*state.share) : "";
  std::fputs(fmt::format("\r\033[K{}{}", done, text).c_str(), stderr);
}

void ProgressLine::say(const std::string& message) {
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
  std::fputs(fmt::format("orrery-train: {}\n", message).c_str(), stderr);
}

}  // namespace orrery
