#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace orrery {

// The bytes of the messages of proto/orrery/v1 without the library: a program that asks one
// question would spend more time on getting it ready than on all the rest. For the structs of
// api_jobs.h and api_cluster.h. Text is made UTF-8 as write_wire() does.
template <class Value>
void append_plain(const Value& value, std::string& bytes);

// InvalidArgument: this is not the message. Unknown fields are skipped, and an absent one leaves
// the default. For answers of a trusted scheduler: bounds of numbers and
// enumerators are read_wire()'s to check.
template <class Value>
Result<Value> read_plain(std::string_view bytes);

}  // namespace orrery
