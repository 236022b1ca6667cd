#include "experiments/sweep/sweep_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>

namespace orrery {
namespace {

// A record is a line "NAME SIZE HASH", the content and a line end. NAME is the number of the run,
// or `orrery-sweep` for the first one, which has the identity.
constexpr std::string_view kFirst = "orrery-sweep";
constexpr std::size_t kHeadMax = 80;

bool read_number(std::string_view text, int base, std::uint64_t& value) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return read.ec == std::errc() && read.ptr == text.data() + text.size();
}

std::string_view line_of(std::string_view text, std::size_t number) {
  for (; number > 0; --number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// The first line that differs, in words.
std::string difference(std::string_view there, std::string_view here) {
  std::size_t line = 0;
  while (line_of(there, line) == line_of(here, line)) ++line;
  const auto shown = [&](std::string_view text) {
    const std::string_view found = line_of(text, line);
    return found.empty() ? std::string("nothing") : fmt::format("'{}'", found);
  };
  return fmt::format("there {}, here {}", shown(there), shown(here));
}

}  // namespace

std::uint64_t content_hash(std::string_view bytes, std::uint64_t before) {
  for (const char c : bytes) {
    before = (before ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  return before;
}

Result<SweepJournal> SweepJournal::open(const std::string& path, std::string_view identity,
                                        std::size_t runs, Begin begin) {
  Fd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd.ok()) return system_error(path, errno);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error(path, errno);
    return Error{Code::FailedPrecondition,
                 path + ": another sweep is at work in this folder; wait, or name another --out"};
  }
  SweepJournal journal(path, std::move(fd), runs);
  TRY(journal.load(identity, begin));
  return journal;
}

Status SweepJournal::load(std::string_view identity, Begin begin) {
  TRY_ASSIGN(const auto first, next(0));
  struct stat found {};
  if (::fstat(fd_.get(), &found) != 0) return system_error(path_, errno);
  if (!first || first->first != kFirst) {
    // A sweep that was killed in its first moment has less than a record.
    std::array<char, kFirst.size()> begun{};
    const ssize_t size = ::pread(fd_.get(), begun.data(), begun.size(), 0);
    const std::string_view text(begun.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    if (kFirst.starts_with(text)) return start(identity);
    return invalid(path_ + ": is no journal of a sweep; name another --out");
  }
  TRY_ASSIGN(const std::string there, content(first->second));
  if (there != identity) {
    return invalid(
        fmt::format("{}: holds another sweep: {}. Name another --out, or remove that "
                    "folder",
                    path_, difference(there, identity)));
  }
  end_ = first->second.offset + static_cast<std::int64_t>(first->second.size) + 1;
  while (true) {
    TRY_ASSIGN(const auto record, next(end_));
    std::uint64_t run = 0;
    if (!record || !read_number(record->first, 10, run) || run >= records_.size()) break;
    finished_ += !records_[run].has_value();
    records_[run] = record->second;
    end_ = record->second.offset + static_cast<std::int64_t>(record->second.size) + 1;
  }
  cut_off_ = found.st_size - end_;
  if (begin == Begin::Fresh) {
    if (finished_ > 0 && finished_ < records_.size()) {
      return invalid(
          fmt::format("{}: {} of {} runs of this sweep are done; add --resume to go on, "
                      "or remove that folder to begin again",
                      path_, finished_, records_.size()));
    }
    return start(identity);
  }
  if (cut_off_ > 0 && ::ftruncate(fd_.get(), end_) != 0) return system_error(path_, errno);
  return {};
}

Status SweepJournal::start(std::string_view identity) {
  std::ranges::fill(records_, std::nullopt);
  finished_ = 0;
  end_ = 0;
  cut_off_ = 0;
  if (::ftruncate(fd_.get(), 0) != 0) return system_error(path_, errno);
  Place place;
  return write(kFirst, identity, place);
}

// The record there; empty: none that is whole.
Result<std::optional<std::pair<std::string, SweepJournal::Place>>> SweepJournal::next(
    std::int64_t at) const {
  using Found = std::optional<std::pair<std::string, Place>>;
  std::array<char, kHeadMax> head{};
  const ssize_t size = ::pread(fd_.get(), head.data(), head.size(), at);
  if (size < 0) return system_error(path_, errno);
  std::string_view line(head.data(), static_cast<std::size_t>(size));
  const std::size_t end = line.find('\n');
  if (end == std::string_view::npos) return Found();
  line = line.substr(0, end);
  const std::size_t first = line.find(' ');
  const std::size_t second = line.rfind(' ');
  std::uint64_t bytes = 0;
  Place place{.offset = at + static_cast<std::int64_t>(end) + 1};
  if (first == std::string_view::npos || first == second ||
      !read_number(line.substr(first + 1, second - first - 1), 10, bytes) ||
      !read_number(line.substr(second + 1), 16, place.hash)) {
    return Found();
  }
  struct stat file {};
  if (::fstat(fd_.get(), &file) != 0) return system_error(path_, errno);
  if (bytes >= static_cast<std::uint64_t>(file.st_size - place.offset)) return Found();
  place.size = bytes;
  auto text = content(place);
  if (!text.ok() && text.error().code == Code::DataLoss) return Found();
  if (!text.ok()) return std::move(text).error();
  return Found(std::in_place, std::string(line.substr(0, first)), place);
}

Result<std::string> SweepJournal::content(const Place& place) const {
  std::string text(place.size, '\0');
  std::size_t got = 0;
  while (got < text.size()) {
    const ssize_t size = ::pread(fd_.get(), text.data() + got, text.size() - got,
                                 place.offset + static_cast<std::int64_t>(got));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_error(path_, errno);
    if (size == 0) break;
    got += static_cast<std::size_t>(size);
  }
  if (got == text.size() && content_hash(text) == place.hash) return text;
  return Error{Code::DataLoss, path_ + ": has changed while it was read"};
}

Result<std::string> SweepJournal::read(std::size_t run) const { return content(*records_[run]); }

Status SweepJournal::append(std::size_t run, std::string_view text) {
  const std::lock_guard lock(*mutex_);
  Place place;
  TRY(write(fmt::to_string(run), text, place));
  records_[run] = place;
  ++finished_;
  return {};
}

Status SweepJournal::write(std::string_view name, std::string_view text, Place& place) {
  place.hash = content_hash(text);
  place.size = text.size();
  const std::string head = fmt::format("{} {} {:016x}\n", name, text.size(), place.hash);
  place.offset = end_ + static_cast<std::int64_t>(head.size());
  const std::string record = fmt::format("{}{}\n", head, text);
  std::size_t written = 0;
  while (written < record.size()) {
    const ssize_t size = ::pwrite(fd_.get(), record.data() + written, record.size() - written,
                                  end_ + static_cast<std::int64_t>(written));
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const int problem = errno;
      // If even that fails, the half is cut off when the journal is opened again.
      static_cast<void>(::ftruncate(fd_.get(), end_) == 0);
      return system_error(path_, problem);
    }
    written += static_cast<std::size_t>(size);
  }
  end_ += static_cast<std::int64_t>(record.size());
  return {};
}

}  // namespace orrery
