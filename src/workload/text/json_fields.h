#pragma once

#include "workload/text/json_stream.h"

namespace orrery {

// Calls use(key) for each key of the object that has just begun; it must take the value.
template <class Use>
Status each_key(JsonStream& json, Use use) {
  while (true) {
    TRY_ASSIGN(const JsonStream::Token token, json.next());
    if (token == JsonStream::Token::EndObject) return {};
    TRY(use(json.text()));
  }
}

// Passes over the value of the key that was just given.
inline Status skip_value(JsonStream& json) {
  TRY_ASSIGN(const JsonStream::Token token, json.next());
  return json.skip(token);
}

}  // namespace orrery
