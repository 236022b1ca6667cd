#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"

namespace google::protobuf {
class Message;
}

namespace orrery {

// The messages of proto/orrery/v1 as JSON, in protobuf's own mapping with the names of the .proto
// files: 64-bit numbers are strings (numbers are read as well), bytes are base64.
std::string write_json(const google::protobuf::Message& message);

// Every key must be a field: one that is not is named, with the one it is nearest to.
Status read_json(std::string_view text, google::protobuf::Message& message);

// The same from the part of a URL behind the question mark: from=7&wait=10s. A duration may be
// given with its unit and then lacks the _ns of its field.
Status read_query(const std::multimap<std::string, std::string>& query,
                  google::protobuf::Message& message);

}  // namespace orrery
