#pragma once

#include <google/protobuf/message.h>

#include "live/codec/fields.h"

namespace orrery {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

// The fields of one message by name, through its own description, so that a list that does not fit
// its message stops the first test that uses it; quick when they are asked for in their order.
class WireFields {
 public:
  explicit WireFields(const Message& message) : descriptor_(*message.GetDescriptor()) {}
  const FieldDescriptor& named(const char* name);

 private:
  const google::protobuf::Descriptor& descriptor_;
  int next_ = 0;
};

}  // namespace orrery
