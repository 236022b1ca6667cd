#pragma once

#include "base/result.h"

namespace google::protobuf {
class Message;
}

namespace orrery {

// Our values and the messages of proto/orrery/v1, both ways. For every struct of api_jobs.h,
// api_cluster.h, agent_words.h and what they are made of; the message is the one of the same name.
// Text that is not UTF-8 is made so on its way out, since the wire refuses it; bytes stay bytes.
template <class Value>
void write_wire(const Value& value, google::protobuf::Message& message);

// Trusts nothing: a number out of its bounds, a value that is no enumerator and a list that is too
// long are InvalidArgument, and the message names the field: "job.array: ...". A field that is
// absent leaves the usual value.
template <class Value>
Result<Value> read_wire(const google::protobuf::Message& message);

}  // namespace orrery
