#include "workload/text/line_reader.h"

#include <fmt/format.h>

#include <cstring>

namespace orrery {
namespace {

constexpr std::size_t kChunk = 1 << 16;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

Error LineReader::wrong(std::string what) const {
  return invalid(fmt::format("{}:{}: {}", name_, number_, what));
}

Error LineReader::wrong_file(std::string what) const {
  return invalid(fmt::format("{}: {}", name_, what));
}

Result<bool> LineReader::next() {
  if (held_) {
    held_ = false;
    return true;
  }
  while (true) {
    TRY_ASSIGN(const bool more, next_raw());
    if (!more) return false;
    if (line_.find_first_not_of(" \t") != std::string_view::npos) return true;
  }
}

Result<std::string_view> LineReader::peek() {
  while (end_ - begin_ < kChunk && !ended_) TRY(fill());
  return std::string_view(window_.data() + begin_, end_ - begin_);
}

Result<std::string_view> LineReader::next_bytes() {
  if (begin_ == end_ && !ended_) TRY(fill());
  const std::string_view bytes(window_.data() + begin_, end_ - begin_);
  begin_ = end_;
  return bytes;
}

// A compressed file is named as what it is; its bytes would otherwise fail one check or another.
Status LineReader::check_start(std::string_view bytes) const {
  using namespace std::string_view_literals;
  struct Packed {
    std::string_view magic;
    std::string_view name;
    std::string_view unpack;
  };
  static constexpr Packed kPacked[] = {{"\x1F\x8B"sv, "gzip", "gunzip -c"},
                                       {"\x28\xB5\x2F\xFD"sv, "zstd", "zstd -dc"},
                                       {"\xFD"
                                        "7zXZ"sv,
                                        "xz", "xz -dc"},
                                       {"BZh"sv, "bzip2", "bzip2 -dc"},
                                       {"PK\x03\x04"sv, "zip", "unzip -p"}};
  for (const Packed& packed : kPacked) {
    if (!bytes.starts_with(packed.magic)) continue;
    return wrong_file(
        fmt::format("is compressed with {}; unpack it, for example: {} {} | orrery traces -",
                    packed.name, packed.unpack, name_));
  }
  return {};
}

Status LineReader::fill() {
  if (begin_ > 0) {
    std::memmove(window_.data(), window_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (window_.size() < end_ + kChunk) window_.resize(2 * (end_ + kChunk));
  in_.read(window_.data() + end_, static_cast<std::streamsize>(window_.size() - end_));
  const auto got = static_cast<std::size_t>(in_.gcount());
  if (!started_) {
    started_ = true;
    TRY(check_start({window_.data() + end_, got}));
  }
  holds_nul_ = holds_nul_ || std::memchr(window_.data() + end_, '\0', got) != nullptr;
  end_ += got;
  if (in_.bad()) {
    return Error{Code::DataLoss, fmt::format("{}: reading stopped with an input error", name_)};
  }
  ended_ = in_.eof() || got == 0;
  return {};
}

Result<bool> LineReader::next_raw() {
  std::size_t searched = 0;
  std::size_t length = 0;
  ++number_;
  while (true) {
    const char* text = window_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const void* found =
        size > searched ? std::memchr(text + searched, '\n', size - searched) : nullptr;
    length =
        found != nullptr ? static_cast<std::size_t>(static_cast<const char*>(found) - text) : size;
    if (found != nullptr || length > kLineBytesMax || ended_) break;
    searched = size;
    TRY(fill());
  }
  if (length == 0 && begin_ == end_) return false;
  line_ = {window_.data() + begin_, length};
  begin_ += std::min(length + 1, end_ - begin_);
  if (holds_nul_ && line_.find('\0') != std::string_view::npos) {
    return wrong("holds a NUL byte and looks binary; a trace is a text file (CSV or JSON Lines)");
  }
  if (length > kLineBytesMax) {
    return wrong(fmt::format("is longer than {} bytes, the most a line may have", kLineBytesMax));
  }
  if (number_ == 1 && line_.starts_with(kByteOrderMark)) {
    line_.remove_prefix(kByteOrderMark.size());
  }
  if (line_.ends_with('\r')) line_.remove_suffix(1);
  return true;
}

}  // namespace orrery
