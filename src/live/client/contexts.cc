#include "live/client/contexts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/logins.h"
#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "base/state_folder.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFile = "contexts.json";

std::string user_directory(const Variables& environment, const char* name, const char* below_home) {
  const std::string set = variable(environment, name);
  if (set.starts_with('/')) return (fs::path(set) / "orrery").string();
  const std::string home = variable(environment, "HOME");
  return home.empty() ? "" : (fs::path(home) / below_home / "orrery").string();
}

// The members of a context, by their names in the file.
constexpr std::pair<const char*, std::string NamedContext::*> kMembers[] = {
    {"name", &NamedContext::name},
    {"server", &NamedContext::server},
    {"state", &NamedContext::state},
    {"credentials", &NamedContext::credentials},
    {"user", &NamedContext::user}};

Result<NamedContext> read_context(const Json& json) {
  NamedContext context;
  if (!json.is_object()) return invalid("a context is no object");
  for (const auto& [key, value] : json.items()) {
    const auto member =
        std::ranges::find(kMembers, key, [](const auto& one) { return std::string(one.first); });
    if (member == std::end(kMembers) || !value.is_string()) {
      return invalid(fmt::format("a context has a '{}' that is not known", plain_text(key)));
    }
    context.*member->second = value.get<std::string>();
  }
  TRY(check_context_name(context.name));
  if (context.server.empty() == context.state.empty()) {
    return invalid(fmt::format("context {} needs a server or a state directory", context.name));
  }
  return context;
}

Result<Contexts> parse(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  const auto all = json.is_object() ? json.find("contexts") : json.end();
  if (all == json.end() || !all->is_array()) return invalid("holds no contexts");
  Contexts contexts;
  for (const Json& one : *all) {
    TRY_ASSIGN(NamedContext context, read_context(one));
    contexts.put(std::move(context));
  }
  const auto current = json.find("current");
  if (current != json.end() && current->is_string()) contexts.current = current->get<std::string>();
  return contexts;
}

std::string json_text(const Contexts& contexts) {
  Json json;
  json["current"] = contexts.current.empty() ? Json() : Json(contexts.current);
  json["contexts"] = Json::array();
  for (const NamedContext& context : contexts.all) {
    Json one = Json::object();
    for (const auto& [key, member] : kMembers) {
      if (!(context.*member).empty()) one[key] = context.*member;
    }
    json["contexts"].push_back(std::move(one));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace

std::string variable(const Variables& environment, const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

const NamedContext* Contexts::find(const std::string& name) const {
  const auto found = std::ranges::find(all, name, &NamedContext::name);
  return found == all.end() ? nullptr : &*found;
}

const NamedContext* Contexts::of_server(const std::string& server) const {
  const auto found = std::ranges::find(all, server, &NamedContext::server);
  return found == all.end() ? nullptr : &*found;
}

void Contexts::put(NamedContext context) {
  const auto found = std::ranges::find(all, context.name, &NamedContext::name);
  if (found == all.end()) {
    all.push_back(std::move(context));
  } else {
    *found = std::move(context);
  }
}

bool Contexts::remove(const std::string& name) {
  if (current == name) current.clear();
  return std::erase_if(all, [&](const NamedContext& one) { return one.name == name; }) > 0;
}

std::string config_directory(const Variables& environment) {
  return user_directory(environment, "XDG_CONFIG_HOME", ".config");
}

std::string default_state_directory(const Variables& environment) {
  return user_directory(environment, "XDG_STATE_HOME", ".local/state");
}

Result<std::string> contexts_file(const Variables& environment) {
  const std::string directory = config_directory(environment);
  if (directory.empty()) return invalid("HOME is not set; contexts are kept in ~/.config/orrery");
  return (fs::path(directory) / kFile).string();
}

Result<Contexts> read_contexts(const std::string& file) {
  Result<std::string> text = read_file(file);
  if (!text.ok() && text.error().code == Code::NotFound) return Contexts();
  if (!text.ok()) return std::move(text).error();
  Result<Contexts> contexts = parse(text.value());
  if (contexts.ok()) return contexts;
  return Error{Code::FailedPrecondition,
               fmt::format("{}: {}; mend it, or remove it and add the contexts again", file,
                           contexts.error().message)};
}

Result<Contexts> read_contexts(const Variables& environment) {
  const Result<std::string> file = contexts_file(environment);
  return file.ok() ? read_contexts(file.value()) : Contexts();
}

Status change_contexts(const std::string& file, const std::function<Status(Contexts&)>& change) {
  const std::string folder = fs::path(file).parent_path().string();
  TRY(make_state_folder(folder, Passage::None));
  TRY_ASSIGN(const Fd lock, lock_state_folder(folder));
  TRY_ASSIGN(Contexts contexts, read_contexts(file));
  TRY(change(contexts));
  return write_file_atomically(file, json_text(contexts));
}

Status check_context_name(const std::string& name) {
  if (is_plain_name(name)) return {};
  return invalid(fmt::format("'{}' is no name of a context; use letters, digits and . _ - @",
                             plain_text(name.substr(0, 100))));
}

Error no_context(const std::string& name, const Contexts& contexts, const std::string& file) {
  std::vector<std::string_view> known;
  for (const NamedContext& one : contexts.all) known.push_back(one.name);
  if (known.empty()) {
    return invalid(
        fmt::format("there is no context '{}': {} has none; `orrery join` and `orrery "
                    "context add` make them",
                    plain_text(name), file));
  }
  return invalid(
      fmt::format("there is no context '{}' in {}; did you mean {}? `orrery context` "
                  "lists them",
                  plain_text(name), file, nearest_word(name, known)));
}

}  // namespace orrery
