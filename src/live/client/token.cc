#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "live/client/roles.h"
#include "live/client/trust_commands.h"
#include "model/duration_text.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

// Never on the command line, where every login could read it.
Result<std::string> read_token(const std::string& path, const CommandContext& context) {
  std::string text;
  if (path.empty()) {
    TRY_ASSIGN(text, context.read_input());
  } else {
    std::ifstream file(path);
    if (!std::getline(file, text)) return invalid(fmt::format("{}: holds no token", path));
  }
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string::npos) {
    return invalid(
        "there is no token; name its file by --token-file, or hand it over on standard "
        "input");
  }
  return text.substr(begin, text.find_last_not_of(kBlanks) + 1 - begin);
}

std::string host_of(const std::string& server) {
  std::string host = server.substr(0, server.rfind(':'));
  std::erase_if(host, [](char c) { return c == '[' || c == ']'; });
  std::ranges::replace(host, ':', '.');
  return host;
}

// The name of a server's context: the one said, the one that it has, its host, or its address where
// another server of that host has the name.
std::string context_name(const std::string& said, const std::string& server,
                         const Contexts& contexts) {
  if (!said.empty()) return said;
  if (const NamedContext* kept = contexts.of_server(server); kept != nullptr) return kept->name;
  const std::string host = host_of(server);
  return contexts.find(host) == nullptr
             ? host
             : fmt::format("{}-{}", host, server.substr(server.rfind(':') + 1));
}

// Where a user's certificate is kept if that is not said: that of the context before, the config
// directory, or a folder of its own below it where the certificate of another server is.
Result<std::string> credentials_of(const JoinArguments& arguments, const std::string& name,
                                   const Contexts& contexts, const Variables& environment) {
  TRY_ASSIGN(std::string usual, credentials_directory(arguments.credentials, environment));
  if (!arguments.credentials.empty() || !variable(environment, "ORRERY_CREDENTIALS").empty()) {
    return usual;
  }
  const NamedContext* kept = contexts.find(name);
  if (kept != nullptr && kept->server == arguments.server) return std::string(kept->credentials);
  namespace fs = std::filesystem;
  std::error_code problem;
  const fs::path certificate = fs::path(usual) / (std::string(kJoinedCertificate) + ".pem");
  if (!fs::exists(certificate, problem)) return usual;
  return (fs::path(usual) / name).string();
}

// Users call commands; agents and scrapers do not.
bool calls_commands(Caller::Role role) {
  return role == Caller::Role::User || role == Caller::Role::Operator;
}

// Under its name in the file of contexts; the first one becomes the current one. Answers what to
// say about it.
Result<std::string> keep_context(const JoinOrder& order, const std::string& name,
                                 const std::string& server, const Variables& environment) {
  TRY_ASSIGN(const std::string file, contexts_file(environment));
  std::error_code problem;
  const auto folder = std::filesystem::absolute(order.credentials, problem);
  bool current = false;
  TRY(change_contexts(file, [&](Contexts& contexts) -> Status {
    if (contexts.all.empty()) contexts.current = name;
    contexts.put({.name = name,
                  .server = server,
                  .credentials = problem ? order.credentials : folder.lexically_normal().string(),
                  .user = order.name});
    current = contexts.current == name;
    return {};
  }));
  if (current) return fmt::format("commands use it now, as context {}", name);
  return fmt::format("it is context {}: write --context {} or `orrery context use {}`", name, name,
                     name);
}

}  // namespace

Status token_command(const TokenArguments& arguments, const CommandContext& context) {
  TokenRequest request{.name = arguments.name, .uses = arguments.uses};
  TRY_ASSIGN(request.role, parse_role(arguments.role, kJoinRoles));
  Result<Duration> valid = parse_duration(arguments.valid);
  if (!valid.ok()) return std::move(valid).error().at("--valid");
  request.valid = valid.value();
  if (request.valid <= Duration::zero()) return invalid("--valid: it would be over at once");
  if (request.role != Caller::Role::Agent && request.name.empty()) {
    return invalid(
        fmt::format("--name: name the {}; only agents may choose a name", arguments.role));
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  TRY_ASSIGN(const TokenAnswer answer, client->make_token(request));
  return print_done(arguments.json, {{"token", answer.token}}, answer.token + '\n', context);
}

Status join_command(const JoinArguments& arguments, const CommandContext& context) {
  if (Status checked = check_address(arguments.server); !checked.ok()) {
    return std::move(checked).error().at("--server");
  }
  JoinOrder order{.server = arguments.server, .name = arguments.name};
  TRY_ASSIGN(order.role, parse_role(arguments.role, kJoinRoles));
  const bool agent = order.role == Caller::Role::Agent;
  if (order.name.empty()) {
    const auto user = context.environment.find("USER");
    order.name = agent ? context.host : user == context.environment.end() ? "" : user->second;
    if (order.name.empty()) return invalid("--name: write the name to join as");
  }
  order.certificate = agent ? kAgentCertificate : kJoinedCertificate;
  // Those who say where the certificate goes name it in each command, as scripts do.
  const bool keeps =
      calls_commands(order.role) && (arguments.credentials.empty() || !arguments.context.empty());
  if (!calls_commands(order.role) && !arguments.context.empty()) {
    return invalid("--context: agents and scrapers call no commands; leave it out");
  }
  std::string kept_as;
  if (keeps) {
    TRY_ASSIGN(const Contexts contexts, read_contexts(context.environment));
    kept_as = context_name(arguments.context, order.server, contexts);
    TRY(check_context_name(kept_as));
    TRY_ASSIGN(order.credentials,
               credentials_of(arguments, kept_as, contexts, context.environment));
  } else {
    TRY_ASSIGN(order.credentials,
               credentials_directory(arguments.credentials, context.environment));
  }
  TRY_ASSIGN(order.token, read_token(arguments.token_file, context));
  if (!context.join) {
    return Error{Code::Unimplemented,
                 fmt::format("{}: this program was built without the wire", order.server)};
  }
  TRY_ASSIGN(const std::string server, context.join(order));
  std::string sentence = fmt::format("{} is known to {} now; the certificate is in {}\n",
                                     order.name, server, order.credentials);
  if (keeps) {
    const auto kept = keep_context(order, kept_as, server, context.environment);
    // The certificate is there and the token used up, so this is no failure.
    if (!kept.ok()) {
      kept_as.clear();
      context.print_error("warning: it is no context: " + kept.error().message);
    } else {
      sentence += kept.value() + '\n';
    }
  }
  return print_done(
      arguments.json,
      {{"name", order.name},
       {"server", server},
       {"credentials", order.credentials},
       {"context", kept_as.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(kept_as)}},
      sentence, context);
}

}  // namespace orrery
