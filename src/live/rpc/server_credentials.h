#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "live/rpc/access.h"

namespace orrery {

// TLS for a gRPC server that reads no byte of gRPC from a caller without a certificate. The
// handshake demands one, proves that the caller has its key, and ends unless the authority has
// signed it and `access.identify` takes it. A caller for which it says any
// other error is connected, and gets that error at its calls.
//
// With `material.files` the server's certificate follows those files: a new one is shown from some
// seconds after it was written.
std::shared_ptr<grpc::ServerCredentials> demanding_credentials(const TlsMaterial& material,
                                                               const Access& access);

}  // namespace orrery
