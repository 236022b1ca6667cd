#include "base/database/database.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/state_folder.h"

namespace orrery {
namespace {

struct Meaning {
  Code code;
  const char* advice;
};

Meaning meaning_of(int answer) {
  switch (answer & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Code::Unavailable,
              "another process holds this store: stop it first, or use another file"};
    case SQLITE_FULL:
      return {Code::ResourceExhausted,
              "the disk is full: free some of it, then open the store again"};
    case SQLITE_NOMEM:
      return {Code::ResourceExhausted, "out of memory"};
    case SQLITE_IOERR:
      return {Code::Unavailable,
              "the disk failed: see the system's log, then open the store again"};
    case SQLITE_CORRUPT:
      return {Code::DataLoss, "the file is damaged: put back a copy of it"};
    case SQLITE_NOTADB:
      return {Code::InvalidArgument,
              "this is no SQLite file: give the path of a store or a new one"};
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
    case SQLITE_READONLY:
      return {Code::FailedPrecondition,
              "the file and its folder must exist and be writable by this user"};
    case SQLITE_TOOBIG:
      return {Code::InvalidArgument, "SQLite does not take that many bytes at once"};
    default:
      return {Code::Internal, "this is a bug in Orrery"};
  }
}

Error failure(sqlite3* connection, const std::string& path) {
  const int answer = sqlite3_extended_errcode(connection);
  const Meaning meaning = meaning_of(answer);
  const int system = sqlite3_system_errno(connection);
  const bool has_cause = (answer & 0xff) == SQLITE_IOERR || (answer & 0xff) == SQLITE_CANTOPEN;
  return {meaning.code,
          fmt::format("{}: {} (SQLite {}: {}{}{})", path, meaning.advice, answer,
                      sqlite3_errmsg(connection), has_cause && system != 0 ? ", " : "",
                      has_cause && system != 0 ? std::strerror(system) : "")};
}

// What SQLite would only call "unable to open".
Status check_path(const std::string& path) {
  if (path.empty()) return invalid("the store needs the path of a file");
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (std::filesystem::is_directory(status)) {
    return invalid(path + ": is a folder; give the path of a file in it, such as " +
                   (std::filesystem::path(path) / "orrery.db").string());
  }
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return invalid(path + ": is neither a file nor new; give the path of a file");
  }
  const auto folder = std::filesystem::absolute(path, problem).parent_path();
  if (!std::filesystem::is_directory(folder, problem)) {
    return Error{Code::NotFound,
                 path + ": there is no folder " + folder.string() + "; make it first"};
  }
  return {};
}

}  // namespace

void Statement::Free::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::bind(int place, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), place, number);
}

void Statement::bind_real(int place, double number) {
  sqlite3_bind_double(statement_.get(), place, number);
}

void Statement::bind_nothing(int place) { sqlite3_bind_null(statement_.get(), place); }

void Statement::bind_text(int place, std::string_view text) {
  // No address would mean NULL.
  sqlite3_bind_text64(statement_.get(), place, text.empty() ? "" : text.data(), text.size(),
                      SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::bind_bytes(int place, std::string_view bytes) {
  // No address would mean NULL.
  sqlite3_bind_blob64(statement_.get(), place, bytes.empty() ? "" : bytes.data(), bytes.size(),
                      SQLITE_STATIC);
}

Result<bool> Statement::step() {
  const int answer = sqlite3_step(statement_.get());
  if (answer == SQLITE_ROW) return true;
  if (answer == SQLITE_DONE) return false;
  sqlite3* connection = sqlite3_db_handle(statement_.get());
  return failure(connection, sqlite3_db_filename(connection, "main"));
}

// The answer repeats that of the last step, which was reported.
void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::number(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

bool Statement::is_nothing(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return data == nullptr
             ? std::string_view()
             : std::string_view(static_cast<const char*>(data), static_cast<std::size_t>(size));
}

void Database::Close::operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }

Database::Database(std::string path, sqlite3* connection)
    : path_(std::move(path)), connection_(connection) {}

Result<Database> Database::open(const std::string& path, const std::string& disk) {
  TRY(check_path(path));
  // Before SQLite, which would make it by the umask; it gives the files beside it the same mode.
  // SQLite reports better what is wrong with a file that is there, or with the folder.
  static_cast<void>(make_private_file(path).ok());
  sqlite3* connection = nullptr;
  const int answer = sqlite3_open_v2(
      path.c_str(), &connection,
      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      disk.empty() ? nullptr : disk.c_str());
  if (connection == nullptr) return Error{Code::ResourceExhausted, path + ": out of memory"};
  Database database(path, connection);
  if (answer != SQLITE_OK) return failure(connection, path);
  // SQLite opens what it may not write for reading, and would say so at the first record only.
  if (sqlite3_db_readonly(connection, "main") == 1) {
    return Error{Code::FailedPrecondition,
                 path + ": may not be written by this user: change its owner or permissions"};
  }
  return database;
}

Result<Database> Database::open_to_follow(const std::string& path) {
  TRY(check_path(path));
  std::error_code problem;
  if (!std::filesystem::exists(path, problem)) {
    return Error{Code::NotFound, path + ": there is no such file"};
  }
  sqlite3* connection = nullptr;
  const int answer =
      sqlite3_open_v2(path.c_str(), &connection,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (connection == nullptr) return Error{Code::ResourceExhausted, path + ": out of memory"};
  Database database(path, connection);
  if (answer != SQLITE_OK) return failure(connection, path);
  return database;
}

Result<Database> Database::open_to_read(const std::string& path) {
  TRY(check_path(path));
  // An address says that the file does not change, so that a folder without permission will do.
  std::string address = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const bool mark = c == '%' || c == '?' || c == '#';
    address += mark ? fmt::format("%{:02x}", static_cast<unsigned char>(c)) : std::string(1, c);
  }
  address += "?immutable=1";
  sqlite3* connection = nullptr;
  const int answer = sqlite3_open_v2(
      address.c_str(), &connection,
      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
      nullptr);
  if (connection == nullptr) return Error{Code::ResourceExhausted, path + ": out of memory"};
  Database database(path, connection);
  if (answer != SQLITE_OK) return failure(connection, path);
  return database;
}

Status Database::run(const std::string& sql) {
  if (sqlite3_exec(connection_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return failure(connection_.get(), path_);
  }
  return {};
}

Result<Statement> Database::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()), &statement,
                         nullptr) != SQLITE_OK) {
    return failure(connection_.get(), path_);
  }
  return Statement(statement);
}

Result<std::int64_t> Database::number(std::string_view sql) {
  TRY_ASSIGN(Statement question, prepare(sql));
  TRY_ASSIGN(const bool found, question.step());
  if (!found) return Error{Code::DataLoss, fmt::format("{}: nothing for \"{}\"", path_, sql)};
  return question.number(0);
}

Result<std::string> Database::text(std::string_view sql) {
  TRY_ASSIGN(Statement question, prepare(sql));
  TRY_ASSIGN(const bool found, question.step());
  if (!found) return Error{Code::DataLoss, fmt::format("{}: nothing for \"{}\"", path_, sql)};
  return std::string(question.bytes(0));
}

Status Database::transaction(const std::function<Status()>& work) {
  TRY(run("BEGIN IMMEDIATE"));
  Status done = work();
  if (done.ok()) done = run("COMMIT");
  // SQLite may have rolled back by itself; then there is nothing left to do.
  if (!done.ok() && sqlite3_get_autocommit(connection_.get()) == 0) {
    sqlite3_exec(connection_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
  return done;
}

Status Database::checkpoint() {
  if (sqlite3_wal_checkpoint_v2(connection_.get(), "main", SQLITE_CHECKPOINT_TRUNCATE, nullptr,
                                nullptr) != SQLITE_OK) {
    return failure(connection_.get(), path_);
  }
  return {};
}

void Database::leave_log() {
  sqlite3_db_config(connection_.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
}

Status Database::reserve_log(std::size_t bytes) {
  sqlite3_file* log = nullptr;
  sqlite3_file_control(connection_.get(), "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
  if (log == nullptr || log->pMethods == nullptr) return {};
  const std::vector<char> zeros(std::min(bytes, std::size_t{256} << 10));
  const auto sync = [&] { return log->pMethods->xSync(log, SQLITE_SYNC_NORMAL) == SQLITE_OK; };
  // That it is empty comes first: the front of the old log with zeros behind it would be taken for
  // a log whose end was lost.
  const bool synced = sync();
  for (std::size_t done = 0; synced && done < bytes; done += zeros.size()) {
    const auto piece = static_cast<int>(std::min(zeros.size(), bytes - done));
    const auto offset = static_cast<sqlite3_int64>(done);
    // On a full disk it is slower without, and no more.
    if (log->pMethods->xWrite(log, zeros.data(), piece, offset) != SQLITE_OK) break;
  }
  if (synced && sync()) return {};
  return Error{Code::Unavailable,
               path_ + "-wal: the disk failed: see the system's log, then open the store again"};
}

}  // namespace orrery
