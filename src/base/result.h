#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/invariant.h"

namespace orrery {

// Why an operation gave no value. The numbers equal gRPC's status codes, so an error crosses a wire
// without a translation table.
enum class Code : int {
  Cancelled = 1,
  InvalidArgument = 3,
  DeadlineExceeded = 4,
  NotFound = 5,
  AlreadyExists = 6,
  PermissionDenied = 7,
  ResourceExhausted = 8,
  FailedPrecondition = 9,
  Aborted = 10,
  Unimplemented = 12,
  Internal = 13,
  Unavailable = 14,
  DataLoss = 15,
  Unauthenticated = 16,
};

struct Error {
  Code code;
  std::string message;

  // Adds the place, outermost first: "jobs.csv:17: negative duration".
  Error at(std::string_view place) && {
    message.insert(0, std::string(place) + ": ");
    return std::move(*this);
  }
};

inline Error invalid(std::string message) { return {Code::InvalidArgument, std::move(message)}; }

// A value, or the Error that explains its absence. Reading the side that is not there is a bug and
// stops the process.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)  // NOLINT(google-explicit-constructor): `return value;` is the whole point.
      : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }

  const T& value() const& {
    INVARIANT(ok(), "value() of a failed Result");
    return *std::get_if<0>(&state_);
  }
  T value() && {
    INVARIANT(ok(), "value() of a failed Result");
    return std::move(*std::get_if<0>(&state_));
  }
  Error error() && {
    INVARIANT(!ok(), "error() of a good Result");
    return std::move(*std::get_if<1>(&state_));
  }
  const Error& error() const& {
    INVARIANT(!ok(), "error() of a good Result");
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error)  // NOLINT(google-explicit-constructor)
      : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  Error error() && {
    INVARIANT(!ok(), "error() of a good Status");
    return *std::move(error_);
  }
  const Error& error() const& {
    INVARIANT(!ok(), "error() of a good Status");
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace orrery

// TRY(save(job));
#define TRY(expression)                                     \
  do {                                                      \
    if (auto try_status = (expression); !try_status.ok()) { \
      return std::move(try_status).error();                 \
    }                                                       \
  } while (false)

// TRY_ASSIGN(auto jobs, read_trace(path));
#define TRY_ASSIGN(declaration, expression) \
  TRY_ASSIGN_NAMED(TRY_JOIN(try_result_, __LINE__), declaration, expression)
#define TRY_ASSIGN_NAMED(name, declaration, expression) \
  auto name = (expression);                             \
  if (!name.ok()) return std::move(name).error();       \
  declaration = std::move(name).value()
#define TRY_JOIN(a, b) TRY_JOIN_EXPANDED(a, b)
#define TRY_JOIN_EXPANDED(a, b) a##b
