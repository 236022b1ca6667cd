#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "commands/programs/commands.h"
#include "experiments/runs/output.h"
#include "live/client/command_context.h"
#include "live/daemon/log/recovery.h"
#include "live/daemon/server/clock.h"
#include "live/store/backup.h"
#include "live/store/mark.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

std::string log_path(const std::string& state) { return state + "/orrery.db"; }

bool is_empty_or_missing(const std::string& path) {
  std::error_code none;
  const auto size = fs::file_size(path, none);
  return none || size == 0;
}

// 0: nothing is known.
std::int64_t highest_acknowledged(const std::string& state) {
  const auto word = Mark::read(mark_path(log_path(state)));
  return word.ok() && word.value() ? word.value()->job : 0;
}

// What is there stays beside it, under another name: it may be all there is.
Status rename_all(const std::string& path, const std::string& suffix) {
  for (const char* end : {"", "-wal", "-mark"}) {
    std::error_code why;
    if (!fs::exists(path + end, why)) continue;
    fs::rename(path + end, path + suffix + end, why);
    if (why) return Error{Code::Unavailable, path + end + ": " + why.message()};
  }
  return {};
}

struct Prepared {
  std::int64_t last = 0;
  JobNumber next = 0;
};

// Appends what makes this log go on as another one, beyond all that may have come after it.
Result<Prepared> mark_as_restored(const std::string& path, std::int64_t highest) {
  TRY_ASSIGN(Recovered found, recover(path, {}, {.keeps_mark = false}));
  const Book& book = found.core->book();
  Prepared prepared{.last = found.store.last(),
                    .next = number_after_loss(std::max(highest, book.next_number() - 1))};
  const LogNamed entry{.first = prepared.next,
                       .epoch_floor = Clock::unix_ns() / 1'000'000'000,
                       .restored = true,
                       .by = std::to_string(::getuid())};
  Record record = to_record(entry, book.time());
  record.sequence = prepared.last + 1;
  TRY(found.store.append({&record, 1}));
  return prepared;
}

}  // namespace

Status check_log_is_there(const std::string& state, bool new_log) {
  const std::string path = log_path(state);
  const bool missing = is_empty_or_missing(path);
  if (new_log && !missing) {
    return invalid(
        fmt::format("--new-log: {} is there; leave the option out to go on with it", path));
  }
  std::error_code none;
  if (new_log || !missing || !fs::exists(state + "/trust/authority.pem", none)) {
    return new_log ? rename_all(path, fmt::format(".lost-{}", Clock::unix_ns() / 1'000'000'000))
                   : Status();
  }
  return Error{Code::DataLoss,
               fmt::format("{0}: is {1}, although a scheduler has run in {2}. Put back a backup: "
                           "`orrery restore --state {2} BACKUP`; or begin a new log without the "
                           "jobs there were: `orrery serve --state {2} --new-log`",
                           path, fs::exists(path, none) ? "empty" : "missing", state)};
}

JobNumber first_number_of_new_log(const std::string& state) {
  std::error_code none;
  if (!fs::exists(state + "/trust/authority.pem", none)) return 1;
  return number_after_loss(highest_acknowledged(state));
}

Status backup_command(const BackupArguments& arguments) {
  TRY_ASSIGN(const std::string state, state_directory(arguments.state, process_environment()));
  TRY_ASSIGN(const BackedUp made, back_up(log_path(state), arguments.output));
  if (arguments.json) {
    return print_text(
        json_line({{"file", arguments.output}, {"first", made.first}, {"last", made.last}}));
  }
  return print_text(fmt::format("{}: records {} to {}\n", arguments.output, made.first, made.last));
}

Status restore_command(const RestoreArguments& said) {
  RestoreArguments arguments = said;
  TRY_ASSIGN(arguments.state, state_directory(said.state, process_environment()));
  if (arguments.backup.empty() && !arguments.as_is) {
    return invalid("restore: name the backup, or say --as-is");
  }
  const std::string path = log_path(arguments.state);
  const std::string suffix = fmt::format(".before-{}", Clock::unix_ns() / 1'000'000'000);
  TRY(check_not_held(path));
  const std::int64_t highest = highest_acknowledged(arguments.state);
  const std::string draft = path + ".restoring";
  std::error_code ignored;
  fs::remove(draft, ignored);
  if (arguments.as_is) {
    std::error_code why;
    for (const char* end : {"", "-wal"}) {
      if (!fs::exists(path + end, ignored)) continue;
      fs::copy_file(path + end, draft + end, fs::copy_options::overwrite_existing, why);
      if (why) return Error{Code::Unavailable, path + end + ": " + why.message()};
    }
    if (is_empty_or_missing(draft)) {
      return Error{Code::NotFound, path + ": there is no log to go on with; name a backup"};
    }
  } else {
    TRY(back_up(arguments.backup, draft));
  }
  TRY_ASSIGN(const Prepared prepared, mark_as_restored(draft, highest));
  TRY(rename_all(path, suffix));
  std::error_code why;
  fs::rename(draft, path, why);
  if (why) return Error{Code::Unavailable, path + ": " + why.message()};
  if (arguments.json) {
    return print_text(json_line({{"log", path},
                                 {"last", prepared.last},
                                 {"next_job", prepared.next},
                                 {"before", path + suffix}}));
  }
  return print_text(fmt::format(
      "{0}: goes on after record {1}; new jobs have numbers from {2}. What was there is {0}{3}\n"
      "Jobs go on once each node has been heard of: `orrery nodes` names those that were not\n",
      path, prepared.last, prepared.next, suffix));
}

}  // namespace orrery
