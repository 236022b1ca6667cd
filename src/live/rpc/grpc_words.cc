#include "live/rpc/grpc_words.h"

#include <absl/synchronization/mutex.h>
#include <grpc/grpc.h>
#include <grpc/support/log.h>

#include <cstdio>
#include <string_view>

namespace orrery {

Code code_of(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::CANCELLED:
    case grpc::INVALID_ARGUMENT:
    case grpc::DEADLINE_EXCEEDED:
    case grpc::NOT_FOUND:
    case grpc::ALREADY_EXISTS:
    case grpc::PERMISSION_DENIED:
    case grpc::RESOURCE_EXHAUSTED:
    case grpc::FAILED_PRECONDITION:
    case grpc::ABORTED:
    case grpc::UNIMPLEMENTED:
    case grpc::UNAVAILABLE:
    case grpc::DATA_LOSS:
    case grpc::UNAUTHENTICATED:
      return static_cast<Code>(status.error_code());
    default:
      return Code::Internal;
  }
}

void quiet_grpc() {
  // The library ends its threads with its last user and starts them again for the next one. Because
  // this is held for good, a command need not wait for that before it ends.
  static const bool held = (grpc_init(), true);
  static_cast<void>(held);
  // Debian's archive looks for cycles among its locks at every one of them, which is for its
  // authors.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
  gpr_set_log_function([](gpr_log_func_args* said) {
    if (std::string_view(said->message).starts_with("assertion failed")) {
      std::fprintf(stderr, "%s:%d: %s\n", said->file, said->line, said->message);
    }
  });
}

}  // namespace orrery
