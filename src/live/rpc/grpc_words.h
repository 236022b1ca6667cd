#pragma once

#include <grpcpp/grpcpp.h>

#include <string>

#include "base/result.h"

// What server and clients both say to gRPC.

namespace orrery {

// Our codes are gRPC's numbers.
inline grpc::Status grpc_status(const Error& error) {
  return {static_cast<grpc::StatusCode>(error.code), error.message};
}

// A code that we do not have is Internal.
Code code_of(const grpc::Status& status);

// Everything the library has to say about a call it also says in the call's status; its own log
// would only mix with ours. What makes it abort is still printed.
void quiet_grpc();

}  // namespace orrery
