#include "live/rpc/rest_json.h"

#include <fmt/format.h>
#include <google/protobuf/message.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "model/duration_text.h"

namespace orrery {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using nlohmann::json;

// Letters to change, add or leave out to make one word of the other.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = corner + (a[i] == b[j] ? 0 : 1);
      corner = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, corner + 1});
    }
  }
  return row.back();
}

Error unknown_key(const Descriptor& message, const std::string& path, const std::string& key) {
  const std::string known = key.substr(0, 64);
  std::string nearest;
  std::size_t least = 1000;
  for (int i = 0; i < message.field_count(); ++i) {
    const std::string& name = message.field(i)->name();
    if (const std::size_t far = distance(known, name); far < least) {
      least = far;
      nearest = name;
    }
  }
  const std::string printed = json(known).dump(-1, ' ', true, json::error_handler_t::replace);
  if (nearest.empty()) return invalid(fmt::format("{}{}: no key is known here", path, printed));
  return invalid(
      fmt::format("{}{}: there is no such key; the nearest is \"{}\"", path, printed, nearest));
}

Status check_keys(const Descriptor& message, const json& object, const std::string& path);

Status check_value(const FieldDescriptor& field, const json& value, const std::string& path) {
  if (field.message_type() != nullptr) return check_keys(*field.message_type(), value, path);
  if (value.is_structured()) return invalid(path + "write a single value");
  return {};
}

// Looks at everything: what is deeper than the messages is refused here, before a library that
// calls itself for every level gets to see it.
Status check_keys(const Descriptor& message, const json& object, const std::string& path) {
  if (!object.is_object()) return invalid(path + "write a JSON object");
  for (const auto& [key, value] : object.items()) {
    const FieldDescriptor* const field = message.FindFieldByName(key);
    if (field == nullptr) return unknown_key(message, path, key);
    if (value.is_null()) continue;
    const std::string below = path + key + ": ";
    if (field->is_map() ? !value.is_object() : field->is_repeated() && !value.is_array()) {
      return invalid(below + (field->is_map() ? "write a JSON object" : "write a list"));
    }
    if (!field->is_repeated()) TRY(check_value(*field, value, below));
    if (!field->is_repeated()) continue;
    for (const json& entry : value) {
      TRY(check_value(field->is_map() ? *field->message_type()->map_value() : *field, entry,
                      below));
    }
  }
  return {};
}

Status read_checked(const json& object, google::protobuf::Message& message) {
  TRY(check_keys(*message.GetDescriptor(), object, ""));
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  const auto status = google::protobuf::util::JsonStringToMessage(object.dump(), &message, options);
  if (!status.ok()) return invalid(std::string(status.message()));
  return {};
}

// As the JSON of this field would have it.
Result<json> query_value(const FieldDescriptor& field, const std::string& text) {
  if (field.type() != FieldDescriptor::TYPE_BOOL) return json(text);
  if (text == "true" || text == "1" || text.empty()) return json(true);
  if (text == "false" || text == "0") return json(false);
  return invalid(fmt::format("{}: write true or false", field.name()));
}

}  // namespace

std::string write_json(const google::protobuf::Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  options.always_print_primitive_fields = true;
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(message, &text, options);
  INVARIANT(status.ok(), "our messages hold nothing that JSON cannot say");
  return text;
}

Status read_json(std::string_view text, google::protobuf::Message& message) {
  message.Clear();
  try {
    return read_checked(json::parse(text), message);
  } catch (const json::exception& error) {
    return invalid(error.what());
  }
}

Status read_query(const std::multimap<std::string, std::string>& query,
                  google::protobuf::Message& message) {
  message.Clear();
  const Descriptor& descriptor = *message.GetDescriptor();
  try {
    json object = json::object();
    for (const auto& [key, text] : query) {
      if (const FieldDescriptor* const field = descriptor.FindFieldByName(key)) {
        TRY_ASSIGN(json value, query_value(*field, text));
        if (field->is_repeated()) {
          object[key].push_back(std::move(value));
        } else {
          object[key] = std::move(value);
        }
      } else if (descriptor.FindFieldByName(key + "_ns") != nullptr) {
        auto duration = parse_duration(text);
        if (!duration.ok()) return std::move(duration).error().at(key);
        object[key + "_ns"] = duration.value().count();
      } else {
        return unknown_key(descriptor, "", key);
      }
    }
    return read_checked(object, message);
  } catch (const json::exception& error) {
    return invalid(error.what());
  }
}

}  // namespace orrery
