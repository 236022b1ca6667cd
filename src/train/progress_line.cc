#include "train/progress_line.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace orrery {
namespace {

constexpr auto kLineEvery = std::chrono::seconds(5);
constexpr int kBarWidth = 24;

std::string time_text(double seconds) {
  const auto whole = static_cast<long>(seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  return fmt::format("{}m{:02}s", whole / 60, whole % 60);
}

}  // namespace

ProgressLine::ProgressLine(bool enabled)
    : enabled_(enabled),
      terminal_(isatty(STDERR_FILENO) == 1),
      last_(std::chrono::steady_clock::now()) {}

ProgressLine::~ProgressLine() {
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::show(const State& state) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || (!terminal_ && now - last_ < kLineEvery)) return;
  last_ = now;
  shown_ = true;
  const double share = std::clamp(state.share, 0.0, 1.0);
  std::string text = fmt::format("{}, {} updates", state.mode, state.updates);
  if (state.accuracy >= 0) text += fmt::format(", accuracy {:.3f}", state.accuracy);
  if (share > 0.001) {
    text += fmt::format(", {} left", time_text(state.elapsed_s * (1 - share) / share));
  }
  if (!terminal_) {
    std::fputs(fmt::format("training: {:.0f} %, {}\n", share * 100, text).c_str(), stderr);
    return;
  }
  const auto filled = static_cast<std::size_t>(share * kBarWidth);
  std::fputs(fmt::format("\r\033[K[{}{}] {:3.0f} % {}", std::string(filled, '#'),
                         std::string(kBarWidth - filled, '.'), share * 100, text)
                 .c_str(),
             stderr);
}

void ProgressLine::say(const std::string& message) {
  if (shown_ && terminal_) std::fputs("\r\033[K", stderr);
  std::fputs(fmt::format("orrery-train: {}\n", message).c_str(), stderr);
}

}  // namespace orrery
