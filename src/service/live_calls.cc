#include "service/live_calls.h"

#include "ctl/live_variants.h"

namespace orrery {
namespace {

ConnectionArguments connection(const LiveArguments& live) {
  return {.state = live.state, .server = live.server, .credentials = live.credentials};
}

}  // namespace

Status whatif_live(const WhatifArguments& arguments, const Surroundings& around) {
  return live_whatif({.connection = connection(arguments.live),
                      .job = arguments.job,
                      .job_file = arguments.job_file,
                      .policy = arguments.policy,
                      .nodes_more = arguments.nodes_more,
                      .json = arguments.json},
                     around);
}

Status record_live(const RecordArguments& arguments, const Surroundings& around) {
  return live_record({.connection = connection(arguments.live), .output = arguments.output},
                     around);
}

}  // namespace orrery
