#include "training/trainer/worker/gang.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace orrery {
namespace {

Result<int> number(const Variables& variable, const char* ours, const char* common, int least,
                   int most, int otherwise) {
  const char* const name = variable(ours).empty() ? common : ours;
  const std::string text = variable(name);
  if (text.empty()) return otherwise;
  int value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = read.ec == std::errc() && read.ptr == text.data() + text.size();
  if (!whole || value < least || value > most) {
    return invalid(fmt::format("{}={}: a number from {} to {} is needed", name, text, least, most));
  }
  return value;
}

}  // namespace

int GangPlace::workers_of(int rank, int ranks, int workers) {
  const int all = std::max(workers, ranks);
  return all / ranks + (rank < all % ranks ? 1 : 0);
}

Result<std::optional<GangPlace>> read_gang(const Variables& variable) {
  constexpr int kRanksMost = 1 << 20;
  GangPlace place;
  TRY_ASSIGN(place.ranks, number(variable, "ORRERY_RANKS", "WORLD_SIZE", 1, kRanksMost, 1));
  if (place.ranks == 1) return std::optional<GangPlace>();
  TRY_ASSIGN(place.rank, number(variable, "ORRERY_RANK", "RANK", 0, place.ranks - 1, -1));
  TRY_ASSIGN(const int port, number(variable, "ORRERY_MASTER_PORT", "MASTER_PORT", 1, 65535, 0));
  place.port = static_cast<std::uint16_t>(port);
  place.address = variable("ORRERY_MASTER_ADDR");
  if (place.address.empty()) place.address = variable("MASTER_ADDR");
  if (place.rank < 0 || port == 0 || place.address.empty()) {
    return invalid(fmt::format(
        "this process is one of {} ranks, so it needs RANK, MASTER_ADDR and MASTER_PORT",
        place.ranks));
  }
  constexpr std::size_t kDigits = 32;
  const std::string secret = variable("ORRERY_GANG_SECRET");
  auto token = parse_token(std::string_view(secret).substr(0, kDigits));
  if (!token.ok()) {
    return invalid(fmt::format(
        "this process is one of {} ranks: set ORRERY_GANG_SECRET to {} hexadecimal digits, the "
        "same for all of them (the scheduler does so), or unset WORLD_SIZE and ORRERY_RANKS to "
        "train alone",
        place.ranks, kDigits));
  }
  place.token = token.value();
  return std::optional<GangPlace>(place);
}

Result<std::optional<GangPlace>> read_gang() {
  return read_gang([](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value != nullptr ? value : "");
  });
}

}  // namespace orrery
