#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "live/client/job_texts.h"
#include "live/client/rights_commands.h"
#include "report/listing/listing.h"

namespace orrery {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kCountMax = 1'000'000'000;
constexpr std::array<const char*, 4> kScopes = {"user", "tenant", "users", "tenants"};

const char* word(LimitScope scope) { return kScopes[static_cast<std::size_t>(scope)]; }

Json json_of(const LimitsStatus& each) {
  const auto count = [](const std::optional<std::int64_t>& limit) {
    return !limit || *limit == kNoLimit ? Json() : Json(*limit);
  };
  return {{"of", word(each.scope)},
          {"name", each.name.empty() ? Json() : Json(each.name)},
          {"priority", each.limits.priority ? Json(*each.limits.priority) : Json()},
          {"gpus", count(each.limits.gpus)},
          {"gpus_held", each.gpus_held},
          {"pending", count(each.limits.pending)},
          {"pending_now", each.pending_now},
          {"submissions_per_minute", count(each.limits.submissions)}};
}

Listing listing_of(const LimitsAnswer& answer) {
  constexpr auto kCount = ColumnKind::Count;
  Listing listing{
      .name = "limits",
      .columns = {{"of", "of"},
                  {.title = "name", .field = "name", .none = "(each)", .least = 12},
                  {"priority", "priority", kCount},
                  {.title = "gpus", .field = "gpus", .kind = kCount, .none = "none"},
                  {.title = "held", .field = "gpus_held", .kind = kCount, .drop_rank = 3},
                  {.title = "pending", .field = "pending", .kind = kCount, .none = "none"},
                  {.title = "waiting", .field = "pending_now", .kind = kCount, .drop_rank = 2},
                  {.title = "submissions/min",
                   .field = "submissions_per_minute",
                   .kind = kCount,
                   .none = "none",
                   .drop_rank = 1}},
      .fields = fields_of(json_of({})),
      .none = "no such limits\n"};
  for (const LimitsStatus& each : answer.limits) listing.rows.push_back(json_of(each));
  return listing;
}

// One option of the command: what it sets, or that it goes back to the default.
Status read_limit(const char* name, const std::string& text, LimitsRequest& request,
                  std::optional<std::int64_t>& limit) {
  if (text.empty()) return {};
  if (text == "default") {
    request.inherit.emplace_back(name);
    return {};
  }
  if (text == "none") {
    limit = kNoLimit;
    return {};
  }
  const auto count = parse_whole(text, 0, kCountMax);
  if (!count.ok()) {
    return invalid(fmt::format("--{}: '{}': write a number, none or default", name, text));
  }
  limit = count.value();
  return {};
}

Result<LimitsRequest> request_of(const LimitsArguments& arguments) {
  LimitsRequest request{.name = arguments.name};
  const auto scope = std::ranges::find(kScopes, arguments.scope);
  if (scope == kScopes.end()) {
    return invalid(fmt::format("'{}' has no limits; write user NAME, tenant NAME, users or tenants",
                               arguments.scope));
  }
  request.scope = static_cast<LimitScope>(scope - kScopes.begin());
  const bool of_one = request.scope == LimitScope::User || request.scope == LimitScope::Tenant;
  if (of_one == arguments.name.empty()) {
    return invalid(of_one ? fmt::format("name the {0}, as in `orrery limits {0} NAME`", *scope)
                          : fmt::format("{} takes no name", *scope));
  }
  if (arguments.priority == "default") {
    request.inherit.emplace_back("priority");
  } else if (!arguments.priority.empty()) {
    const auto priority = parse_whole(arguments.priority, -kPriorityMax, kPriorityMax);
    if (!priority.ok()) {
      return invalid(fmt::format("--priority: '{}': write a number from -{} to {}, or default",
                                 arguments.priority, kPriorityMax, kPriorityMax));
    }
    request.limits.priority = priority.value();
  }
  TRY(read_limit("gpus", arguments.gpus, request, request.limits.gpus));
  TRY(read_limit("pending", arguments.pending, request, request.limits.pending));
  TRY(read_limit("submissions", arguments.submissions, request, request.limits.submissions));
  return request;
}

}  // namespace

Status limits_command(const LimitsArguments& arguments, const CommandContext& context) {
  TRY(check_output(arguments.list));
  LimitsRequest request;
  const bool changes = !arguments.priority.empty() || !arguments.gpus.empty() ||
                       !arguments.pending.empty() || !arguments.submissions.empty();
  if (!arguments.scope.empty()) {
    TRY_ASSIGN(request, request_of(arguments));
  } else if (changes) {
    return invalid(
        "name a user or tenant, as in `orrery limits user ann --gpus 8` or `orrery limits users`");
  }
  TRY_ASSIGN(const std::unique_ptr<Client> client, connect(arguments.connection, context));
  if (changes) TRY(client->set_limits(request));
  TRY_ASSIGN(LimitsAnswer answer, client->limits());
  std::erase_if(answer.limits, [&](const LimitsStatus& each) {
    return !arguments.scope.empty() && (each.scope != request.scope || each.name != request.name);
  });
  return print_listing(listing_of(answer), arguments.list, context);
}

}  // namespace orrery
