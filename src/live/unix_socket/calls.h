#pragma once

#include <functional>
#include <string>

#include "live/api/api.h"
#include "live/unix_socket/frame.h"

namespace orrery {

// The calls of the Api by their numbers in a frame, which stay what they are. A request's body is
// the message that gRPC would carry; an answer's word is 0 and its body the message, or a Code and
// the text of the error.
enum class UnixSocketCall : std::uint8_t {
  Submit = 1,
  ShowStatus = 2,
  Cancel = 3,
  Logs = 4,
  Nodes = 5,
  Drain = 6,
  SetPolicy = 7,
  SetQuota = 8,
  Quotas = 9,
  Events = 10,
  WhatIf = 11,
  Situation = 12,
  MakeToken = 13,
  Tokens = 14,
  Certificates = 15,
  RemoveNode = 16,
  SetTenant = 17,
  Tenants = 18,
  SetLimits = 19,
  Limits = 20,
};

// Longest wait of a call that waits for something new. Longer ones are cut to it.
inline constexpr Duration kUnixSocketWaitMax = std::chrono::seconds(30);

// `done` is called once, on whatever thread the Api replies on, with the frame of the answer.
using Answered = std::function<void(std::string frame)>;
void answer_frame(Api& api, const Caller& caller, const Frame& request, Answered done);

std::string error_frame(const Error& error);

}  // namespace orrery
