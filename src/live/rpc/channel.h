#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "live/rpc/client.h"

namespace orrery {

// A connection of its own, made when it is first used.
std::shared_ptr<grpc::Channel> open_channel(const ClientOptions& options);

// What a failed call means to its caller.
Error error_of(const grpc::Status& status, const std::string& address);

}  // namespace orrery
