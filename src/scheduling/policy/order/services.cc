#include "scheduling/policy/order/services.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>

namespace orrery {
namespace {

constexpr double kServiceMax = 1e15;
constexpr std::size_t kLinesMax = 100'000'000;

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\r' || text.back() == ' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

Result<std::vector<double>> parse_services(std::string_view name, std::istream& in) {
  std::vector<double> services;
  std::string line;
  for (std::size_t number = 1; std::getline(in, line) && number < kLinesMax; ++number) {
    std::string_view text = trimmed(line);
    if (number == 1 && text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    if (number == 1) {
      if (text == "duration") continue;
      return invalid(fmt::format("{}:1: expected the header 'duration'", name));
    }
    if (text.empty()) continue;
    double value = 0;
    const auto [rest, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool read = problem == std::errc() && rest == text.data() + text.size();
    if (!read || !(value > 0 && value <= kServiceMax)) {
      return invalid(fmt::format("{}:{}: expected a number of GPU seconds above 0", name, number));
    }
    services.push_back(value);
  }
  if (services.empty()) return invalid(fmt::format("{}: holds no service", name));
  return services;
}

Result<std::vector<double>> read_services(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Error{Code::NotFound, fmt::format("{}: cannot be opened", path)};
  return parse_services(path, in);
}

}  // namespace orrery
