#include "cloud/gce/secret_filter.h"

#include <algorithm>
#include <functional>

namespace orrery {
namespace {

constexpr std::size_t kPiece = 16;
constexpr std::size_t kRecent = 64;
constexpr std::string_view kInstead = "(secret)";

std::size_t hash_of(std::string_view piece) { return std::hash<std::string_view>()(piece); }

}  // namespace

void SecretFilter::count(std::string_view secret, int change) {
  for (std::size_t at = 0; at + kPiece <= secret.size(); ++at) {
    const std::size_t piece = hash_of(secret.substr(at, kPiece));
    if ((pieces_[piece] += change) <= 0) pieces_.erase(piece);
  }
}

void SecretFilter::add_for_ever(std::string_view secret) {
  while (!secret.empty()) {
    const std::size_t end = std::min(secret.find('\n'), secret.size());
    const std::string_view line = secret.substr(0, end);
    if (!line.starts_with("-----")) count(line, 1);
    secret.remove_prefix(std::min(end + 1, secret.size()));
  }
}

void SecretFilter::add(const std::string& secret) {
  count(secret, 1);
  recent_.push_back(secret);
  if (recent_.size() <= kRecent) return;
  count(recent_.front(), -1);
  recent_.pop_front();
}

std::string SecretFilter::clean(std::string_view text) const {
  std::string cleaned;
  std::size_t hidden_to = 0;  // characters before it belong to a secret
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (at + kPiece <= text.size() && pieces_.contains(hash_of(text.substr(at, kPiece)))) {
      if (at >= hidden_to) cleaned += kInstead;
      hidden_to = at + kPiece;
    }
    if (at >= hidden_to) cleaned += text[at];
  }
  return cleaned;
}

}  // namespace orrery
