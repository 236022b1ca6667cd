#include "live/client/context_commands.h"
#include "report/listing/listing.h"

#include <fmt/format.h>

#include <filesystem>

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

Json or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json json_of(const NamedContext& context, bool current) {
  return {{"name", or_null(context.name)},
          {"current", current},
          {"server", or_null(context.server)},
          {"state", or_null(context.state)},
          {"credentials", or_null(context.credentials)},
          {"user", or_null(context.user)}};
}

Listing listing_of(std::string name) {
  return {.name = std::move(name),
          .columns = {{.title = "name", .field = "name", .least = 12},
                      {"current", "current"},
                      {.title = "server", .field = "server", .least = 12},
                      {.title = "state", .field = "state", .least = 12},
                      {.title = "user", .field = "user", .least = 6},
                      {.title = "credentials", .field = "credentials", .least = 12}},
          .fields = fields_of(json_of({}, false))};
}

// Commands run elsewhere, too.
std::string absolute(const std::string& path, const CommandContext& context) {
  if (path.empty()) return "";
  return (std::filesystem::path(context.directory) / path).lexically_normal().string();
}

// Reads the file, changes it and writes it.
template <class Change>
Status change(const ContextArguments& arguments, const CommandContext& context, Change change_it) {
  TRY_ASSIGN(const std::string file, contexts_file(context.environment));
  Contexts contexts;
  std::string sentence;
  TRY(change_contexts(file, [&](Contexts& kept) -> Status {
    TRY_ASSIGN(sentence, change_it(kept, file));
    contexts = kept;
    return {};
  }));
  const std::string& name = arguments.context.name;
  const NamedContext* kept = contexts.find(name);
  return print_done(
      arguments.json,
      kept == nullptr ? Json{{"removed", name}} : json_of(*kept, contexts.current == name),
      sentence, context);
}

}  // namespace

Status context_list_command(const ListArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const Contexts contexts, read_contexts(context.environment));
  Listing listing = listing_of("contexts");
  listing.none = "no contexts; `orrery join` and `orrery context add` make them\n";
  for (const NamedContext& one : contexts.all) {
    listing.rows.push_back(json_of(one, one.name == contexts.current));
  }
  return print_listing(std::move(listing), arguments, context);
}

Status context_show_command(const ContextShowArguments& arguments, const CommandContext& context) {
  TRY_ASSIGN(const SchedulerChoice choice,
             choose_scheduler(arguments.connection, context.environment));
  Listing listing = listing_of("contexts");
  listing.columns.erase(listing.columns.begin() + 1);
  listing.columns.push_back({.title = "named by", .field = "named_by", .least = 12});
  Json row = json_of(choice.scheduler, false);
  row.erase("current");
  row["named_by"] = choice.source.empty() ? "the command line" : choice.source;
  listing.fields = fields_of(row);
  listing.rows.push_back(std::move(row));
  return print_listing(std::move(listing), arguments.list, context);
}

Status context_use_command(const ContextArguments& arguments, const CommandContext& context) {
  const std::string& name = arguments.context.name;
  return change(arguments, context,
                [&](Contexts& contexts, const std::string& file) -> Result<std::string> {
                  if (contexts.find(name) == nullptr) return no_context(name, contexts, file);
                  contexts.current = name;
                  return fmt::format("commands use {} now\n", name);
                });
}

Status context_add_command(const ContextArguments& arguments, const CommandContext& context) {
  NamedContext added = arguments.context;
  TRY(check_context_name(added.name));
  if (added.server.empty() == added.state.empty()) {
    return invalid("name the scheduler by --server HOST:PORT or by --state DIR");
  }
  if (!added.state.empty() && !added.credentials.empty()) {
    return invalid("--credentials goes with --server HOST:PORT; a state directory has its own");
  }
  if (!added.server.empty()) {
    if (Status checked = check_address(added.server); !checked.ok()) {
      return std::move(checked).error().at("--server");
    }
    TRY_ASSIGN(added.credentials,
               credentials_directory(arguments.context.credentials, context.environment));
  }
  added.state = absolute(added.state, context);
  added.credentials = absolute(added.credentials, context);
  return change(
      arguments, context, [&](Contexts& contexts, const std::string&) -> Result<std::string> {
        const bool was_there = contexts.find(added.name) != nullptr;
        contexts.put(added);
        if (contexts.all.size() == 1) contexts.current = added.name;
        return fmt::format("context {} is {}{}\n", added.name, was_there ? "changed" : "added",
                           contexts.current == added.name ? "; commands use it" : "");
      });
}

Status context_remove_command(const ContextArguments& arguments, const CommandContext& context) {
  const std::string& name = arguments.context.name;
  return change(arguments, context,
                [&](Contexts& contexts, const std::string& file) -> Result<std::string> {
                  const NamedContext* found = contexts.find(name);
                  if (found == nullptr) return no_context(name, contexts, file);
                  const std::string where = found->credentials;
                  contexts.remove(name);
                  return fmt::format("context {} is removed{}\n", name,
                                     where.empty() ? "" : "; its certificate is still in " + where);
                });
}

}  // namespace orrery
