#include "training/emulation/owner.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <sstream>

#include "base/files.h"

namespace orrery {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr std::uint64_t kBase = kDigits.size();
constexpr std::string_view kPrefix = "orrery-";
constexpr std::size_t kPidDigits = 5, kStartDigits = 5;

// The lowest digits: what is above them is cut off.
std::string digits(std::uint64_t value, std::size_t count) {
  std::string text(count, '0');
  for (std::size_t i = count; i-- > 0; value /= kBase) text[i] = kDigits[value % kBase];
  return text;
}

}  // namespace

std::optional<std::uint64_t> start_while_alive(pid_t pid) {
  const std::string line = read_word("/proc/" + std::to_string(pid) + "/stat");
  // The command's name is in brackets and may hold anything; the start is the 22nd field.
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(bracket + 1));
  std::string state, skipped;
  fields >> state;
  for (int i = 0; i < 18; ++i) fields >> skipped;
  std::uint64_t start = 0;
  if (!(fields >> start) || state == "Z" || state == "X") return std::nullopt;
  return start;
}

std::string new_owner_tag() {
  static std::atomic<std::uint64_t> count = 0;
  const pid_t self = ::getpid();
  return digits(static_cast<std::uint64_t>(self), kPidDigits) +
         digits(start_while_alive(self).value_or(0), kStartDigits) + digits(count++, 1);
}

bool is_owner_tag(std::string_view tag) {
  return tag.size() == kOwnerTagSize && std::all_of(tag.begin(), tag.end(), [](char letter) {
           return kDigits.find(letter) != std::string_view::npos;
         });
}

bool owner_runs(std::string_view tag) {
  pid_t pid = 0;
  for (const char letter : tag.substr(0, kPidDigits)) {
    pid = pid * static_cast<pid_t>(kBase) + static_cast<pid_t>(kDigits.find(letter));
  }
  const auto start = start_while_alive(pid);
  return start && digits(*start, kStartDigits) == tag.substr(kPidDigits, kStartDigits);
}

std::string server_name(std::string_view tag, int server) {
  return std::string(kPrefix) + std::string(tag) + "-" + std::to_string(server);
}

std::optional<std::string> tag_of_server_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::string_view tag = name.substr(0, kOwnerTagSize);
  if (!is_owner_tag(tag)) return std::nullopt;
  const std::string_view rest = name.substr(kOwnerTagSize);
  if (rest.size() < 2 || rest[0] != '-') return std::nullopt;
  if (!std::all_of(rest.begin() + 1, rest.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    return std::nullopt;
  }
  return std::string(tag);
}

std::string short_number(int number) { return digits(static_cast<std::uint64_t>(number), 2); }

}  // namespace orrery
