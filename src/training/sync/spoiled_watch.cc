#include "training/sync/spoiled_watch.h"

#include <array>
#include <cstdio>

namespace orrery {
namespace {

std::string number_text(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%g", number);
  return text.data();
}

std::string reason(const SpoiledWatch::Spoiled& first, int count, bool of_one) {
  const std::string worker = std::to_string(static_cast<int>(first.worker));
  std::string text = std::to_string(count) + " gradients in a row ";
  text += of_one ? "of worker " + worker + " " : "";
  text += "could not be used, the first ";
  text += of_one ? "" : "of worker " + worker + " ";
  text += "at version " + std::to_string(first.version) + " of the parameters and a rate of " +
          number_text(first.rate) + ": " + first.why;
  if (first.why == "not finite") text += "; lower --rate, or look at the data";
  return text;
}

}  // namespace

void SpoiledWatch::extend(Row& row, const Spoiled& gradient) {
  if (row.count == 0) row.first = gradient;
  ++row.count;
}

void SpoiledWatch::used(WorkerId worker) {
  all_.count = 0;
  of_worker_.erase(worker);
}

std::optional<std::string> SpoiledWatch::spoiled(const Spoiled& gradient) {
  if (most_ <= 0) return std::nullopt;
  Row& own = of_worker_[gradient.worker];
  extend(all_, gradient);
  extend(own, gradient);
  if (all_.count >= most_) return reason(all_.first, all_.count, false);
  if (own.count >= most_) return reason(own.first, own.count, true);
  return std::nullopt;
}

}  // namespace orrery
