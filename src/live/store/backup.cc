#include "live/store/backup.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "live/store/mark.h"
#include "live/store/store.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

constexpr int kTries = 20;
// Magic number, page size, number of the log and its salts: new ones each time it begins again.
constexpr std::size_t kLogHeader = 32;

Error failed(const std::string& path, const std::error_code& why) {
  return {Code::Unavailable, path + ": " + why.message()};
}

// Empty where there is no log.
std::string log_header(const std::string& store) {
  std::ifstream file(store + "-wal", std::ios::binary);
  std::string header(kLogHeader, '\0');
  file.read(header.data(), static_cast<std::streamsize>(header.size()));
  header.resize(static_cast<std::size_t>(file.gcount()));
  return header;
}

void remove_copy(const std::string& path) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(path + end, ignored);
}

// True if the copy is one state.
Result<bool> copy(const std::string& from, const std::string& to) {
  remove_copy(to);
  const std::string before = log_header(from);
  std::error_code why;
  fs::copy_file(from, to, why);
  if (why) return failed(fmt::format("{} to {}", from, to), why);
  if (before.empty()) return log_header(from).empty();
  fs::copy_file(from + "-wal", to + "-wal", why);
  if (why) return false;
  return log_header(from) == before;
}

Result<BackedUp> check_copy(const std::string& path, std::int64_t least) {
  TRY_ASSIGN(Store store, Store::open(path, {.keeps_mark = false}));
  TRY(store.read(store.first(), [](const Record&) { return Status(); }));
  TRY(store.latest_snapshot());
  if (store.last() >= least) return BackedUp{.first = store.first(), .last = store.last()};
  return Error{Code::DataLoss, fmt::format("it ends with record {}, and record {} was acknowledged",
                                           store.last(), least)};
}

}  // namespace

Result<BackedUp> back_up(const std::string& from, const std::string& to) {
  std::error_code none;
  if (!fs::exists(from, none)) return Error{Code::NotFound, from + ": there is no such store"};
  if (fs::exists(to, none)) {
    return Error{Code::AlreadyExists, to + ": exists; name a file that does not"};
  }
  TRY_ASSIGN(const auto word, Mark::read(mark_path(from)));
  for (int tries = 0; tries < kTries; ++tries) {
    auto whole = copy(from, to);
    if (!whole.ok()) {
      remove_copy(to);
      return std::move(whole).error();
    }
    if (!whole.value()) continue;
    auto checked = check_copy(to, word ? word->sequence : 0);
    if (!checked.ok()) remove_copy(to);
    return checked;
  }
  remove_copy(to);
  return Error{Code::Unavailable,
               from + ": is written to so fast that no copy is one state; try again later"};
}

Status check_not_held(const std::string& path) {
  std::error_code none;
  if (!fs::exists(path, none)) return {};
  auto opened = Database::open(path, "");
  if (!opened.ok()) return {};
  Database database = std::move(opened).value();
  database.leave_log();
  const Status locked = database.run("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; ROLLBACK");
  if (locked.ok() || locked.error().code != Code::Unavailable) return {};
  return locked;
}

}  // namespace orrery
