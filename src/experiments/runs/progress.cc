#include "experiments/runs/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "report/table.h"

namespace orrery {
namespace {

using namespace std::chrono_literals;

constexpr auto kQuietAtFirst = 1s;
constexpr auto kBarEvery = 200ms;
constexpr auto kLineEvery = 5s;
constexpr int kBarWidth = 30;

}  // namespace

ProgressBar::ProgressBar(std::string what, std::int64_t total,
                         const std::atomic<std::int64_t>& done, bool enabled)
    : what_(std::move(what)), total_(std::max<std::int64_t>(total, 1)), done_(done) {
  if (enabled) thread_ = std::jthread([this] { watch(); });
}

ProgressBar::~ProgressBar() {
  const std::lock_guard lock(mutex_);
  over_ = true;
  wake_.notify_all();
}

void ProgressBar::watch() {
  const bool terminal = isatty(STDERR_FILENO) == 1;
  const auto begin = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  bool shown = false;
  auto pause = std::chrono::milliseconds(kQuietAtFirst);
  while (!wake_.wait_for(lock, pause, [this] { return over_; })) {
    show(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), terminal);
    shown = true;
    pause = terminal ? kBarEvery : std::chrono::milliseconds(kLineEvery);
  }
  if (shown && terminal) std::fputs("\r\033[K", stderr);
}

void ProgressBar::show(double elapsed_s, bool terminal) const {
  const double part =
      std::min(1.0, static_cast<double>(done_.load()) / static_cast<double>(total_));
  const std::string left =
      part > 0.001 ? human_duration(elapsed_s * (1 - part) / part) + " left" : "";
  if (!terminal) {
    std::fputs(fmt::format("{}: {:.0f} % {}\n", what_, part * 100, left).c_str(), stderr);
    return;
  }
  const auto filled = static_cast<std::size_t>(part * kBarWidth);
  std::fputs(fmt::format("\r\033[K{} [{}{}] {:3.0f} % {}", what_, std::string(filled, '#'),
                         std::string(kBarWidth - filled, '.'), part * 100, left)
                 .c_str(),
             stderr);
}

}  // namespace orrery
