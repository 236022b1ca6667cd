#include "live/store/mark.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>

namespace orrery {
namespace {

constexpr std::size_t kPlace = 64;
constexpr std::string_view kName = "orrery-mark";

std::uint32_t sum_of(std::string_view text) {
  const auto* bytes = reinterpret_cast<const Bytef*>(text.data());
  return static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), bytes, text.size()));
}

// "orrery-mark SEQUENCE CRC JOB SUM", filled up with spaces, and a line's end.
std::string place_text(const MarkWord& word) {
  std::string text = fmt::format("{} {} {:08x} {}", kName, word.sequence, word.crc, word.job);
  text += fmt::format(" {:08x}", sum_of(text));
  text.resize(kPlace - 1, ' ');
  return text + '\n';
}

std::optional<MarkWord> read_place(std::string_view place) {
  if (place.size() != kPlace || place.back() != '\n') return {};
  place.remove_suffix(1);
  place = place.substr(0, place.find_last_not_of(' ') + 1);
  const std::size_t last = place.rfind(' ');
  if (last == place.npos) return {};
  const std::string_view said = place.substr(0, last);
  if (fmt::format("{:08x}", sum_of(said)) != place.substr(last + 1)) return {};
  MarkWord word;
  std::size_t at = kName.size() + 1;
  const auto take = [&](auto& value, int base) {
    const char* end = said.data() + said.size();
    const auto [stop, error] = std::from_chars(said.data() + at, end, value, base);
    at = static_cast<std::size_t>(stop - said.data()) + 1;
    return error == std::errc();
  };
  if (!take(word.sequence, 10) || !take(word.crc, 16) || !take(word.job, 10)) return {};
  return word;
}

}  // namespace

std::int64_t number_after_loss(std::int64_t highest) {
  constexpr std::int64_t kStep = 1'000'000;
  return (std::max<std::int64_t>(highest, 0) / kStep + 1) * kStep + 1;
}

std::string mark_path(const std::string& store) { return store + "-mark"; }

Result<std::optional<MarkWord>> Mark::read(const std::string& path) {
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return std::optional<MarkWord>();
  TRY_ASSIGN(const std::string text, read_file(path));
  std::optional<MarkWord> newest;
  for (std::size_t at = 0; at + kPlace <= text.size(); at += kPlace) {
    const auto word = read_place(std::string_view(text).substr(at, kPlace));
    if (word && (!newest || word->sequence > newest->sequence)) newest = word;
  }
  const bool blank = text.find_first_not_of(std::string_view("\0 \n", 3)) == text.npos;
  if (newest || blank) return newest;
  return Error{Code::DataLoss,
               path +
                   ": is damaged, so it cannot say which records were acknowledged. Remove it "
                   "if the store is known to be whole"};
}

Result<Mark> Mark::open(const std::string& path) {
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!file.ok()) return system_error(path, errno);
  return Mark(path, std::move(file));
}

Status Mark::write(const MarkWord& word) {
  const std::string text = place_text(word);
  const off_t at = second_ ? kPlace : 0;
  second_ = !second_;
  const ssize_t written = ::pwrite(file_.get(), text.data(), text.size(), at);
  if (written == std::ssize(text)) return {};
  return system_error(path_, written < 0 ? errno : ENOSPC);
}

}  // namespace orrery
