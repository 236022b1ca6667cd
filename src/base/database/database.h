#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace orrery {

// A prepared statement. Ends before its Database does.
class Statement {
 public:
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Places count from 1. Bytes that are bound stay where they are until reset().
  void bind(int place, std::int64_t number);
  void bind_real(int place, double number);
  void bind_nothing(int place);
  void bind_text(int place, std::string_view text);
  void bind_bytes(int place, std::string_view bytes);

  // True: there is a row. False: done.
  Result<bool> step();
  void reset();

  // Of the row that step() found, from 0.
  std::int64_t number(int column) const;
  double real(int column) const;
  bool is_nothing(int column) const;
  std::string_view bytes(int column) const;  // until the next step

 private:
  struct Free {
    void operator()(sqlite3_stmt* statement) const;
  };
  std::unique_ptr<sqlite3_stmt, Free> statement_;
};

// One connection to an SQLite file: what SQLite answers, as Result, with advice. For one thread at
// a time.
class Database {
 public:
  // Makes the file if there is none. `disk` names the SQLite VFS; empty: the system's own.
  static Result<Database> open(const std::string& path, const std::string& disk);
  // To read a file that another process may write to meanwhile. NotFound: there is none.
  static Result<Database> open_to_follow(const std::string& path);
  // A file of another program that nothing writes to meanwhile. Nothing is written, neither to it
  // nor beside it.
  static Result<Database> open_to_read(const std::string& path);

  Status run(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  // The only value of a question that has one.
  Result<std::int64_t> number(std::string_view sql);
  Result<std::string> text(std::string_view sql);

  // All of `work` or nothing.
  Status transaction(const std::function<Status()>& work);

  // Moves what the write-ahead log holds into the file, waits until it is on disk, and empties the
  // log.
  Status checkpoint();
  // Writes zeros to an empty log, so that what is committed later goes where blocks are already: a
  // file that grows costs the file system a commit of its own each time. SQLite begins a new
  // log at its front, and takes nothing in it for its own that does not fit its checksums.
  Status reserve_log(std::size_t bytes);

  // The log stays as it is when the connection ends: it is evidence of a fault.
  void leave_log();

  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* connection) const;
  };
  Database(std::string path, sqlite3* connection);

  std::string path_;
  std::unique_ptr<sqlite3, Close> connection_;
};

}  // namespace orrery
