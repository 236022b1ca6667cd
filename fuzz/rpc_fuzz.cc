#include <orrery/v1/agent.pb.h>
#include <orrery/v1/scheduler.pb.h>

#include <cstdint>
#include <string_view>

#include "base/invariant.h"
#include "live/api/agent_words.h"
#include "live/api/api.h"
#include "live/codec/wire.h"
#include "live/rpc/rest_json.h"

using namespace orrery;

namespace {

// What was read can be sent, and is then the same again.
template <class Value, class Message>
void try_message(const Message& message) {
  const auto value = read_wire<Value>(message);
  if (!value.ok()) {
    INVARIANT(value.error().code == Code::InvalidArgument, value.error().message.c_str());
    return;
  }
  Message sent;
  write_wire(value.value(), sent);
  const auto back = read_wire<Value>(sent);
  INVARIANT(back.ok() && back.value() == value.value(), "what was sent is what arrives");
}

template <class Value, class Message>
void try_bytes(bool json, const std::string& text) {
  Message message;
  if (!json) {
    if (message.ParseFromString(text)) try_message<Value>(message);
    return;
  }
  const Status read = read_json(text, message);
  if (!read.ok()) {
    INVARIANT(read.error().code == Code::InvalidArgument, read.error().message.c_str());
    return;
  }
  Message back;
  const Status again = read_json(write_json(message), back);
  INVARIANT(again.ok(), again.error().message.c_str());
  INVARIANT(back.SerializeAsString() == message.SerializeAsString(), "JSON reads back the same");
  try_message<Value>(message);
}

}  // namespace

// Whatever the bytes are, as a message or as its JSON, they are read or refused. The first byte
// says which message is meant.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool json = data[0] >= '0' && data[0] < '0' + 13;
  switch (data[0] % 13) {
    case 0:
      try_bytes<SubmitRequest, v1::SubmitRequest>(json, text);
      break;
    case 1:
      try_bytes<StatusRequest, v1::StatusRequest>(json, text);
      break;
    case 2:
      try_bytes<WhatIfRequest, v1::WhatIfRequest>(json, text);
      break;
    case 3:
      try_bytes<QuotaRequest, v1::QuotaRequest>(json, text);
      break;
    case 4:
      try_bytes<DrainRequest, v1::DrainRequest>(json, text);
      break;
    case 5:
      try_bytes<TokenRequest, v1::TokenRequest>(json, text);
      break;
    case 6:
      try_bytes<LogsRequest, v1::LogsRequest>(json, text);
      break;
    case 7:
      try_bytes<StatusAnswer, v1::StatusAnswer>(json, text);
      break;
    case 8:
      try_bytes<Report, v1::Report>(json, text);
      break;
    case 9:
      try_bytes<JoinRequest, v1::JoinRequest>(json, text);
      break;
    case 10:
      try_bytes<TokensRequest, v1::TokensRequest>(json, text);
      break;
    case 11:
      try_bytes<CertificatesRequest, v1::CertificatesRequest>(json, text);
      break;
    default:
      try_bytes<Orders, v1::Orders>(json, text);
      break;
  }
  return 0;
}
