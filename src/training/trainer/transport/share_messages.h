#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "training/colocation/shared_servers.h"
#include "training/trainer/transport/messages.h"

namespace orrery {

// Between a run's head and the servers that it shares. Tasks are numbered: the places for workers
// first, then the shards.
struct JoinServersMessage {
  std::string name{};
  std::vector<TaskRequest> requests{};
};
struct PlacesMessage {
  std::string error{};  // why there are none
  std::int32_t error_code = 0;
  std::int64_t job = 0;
  bool considers = true;
  std::vector<TaskPlace> places{};
};
struct ReportMessage {
  JobReport report{};
};
struct AskModeMessage {
  std::string mode{};  // for the log
  double rate_ratio = 1;
  double time_saved = 0;
};
struct ModeAnswerMessage {
  bool granted = false;
  std::string reason{};
};
struct LimitsMessage {
  std::vector<std::pair<std::int32_t, Load>> limits{};  // by task
};

template <class A>
void fields(A& a, Load& m) {
  a(m.cpu, m.in, m.out);
}
template <class A>
void fields(A& a, TaskRequest& m) {
  a(m.makes_updates, m.limit);
}
template <class A>
void fields(A& a, TaskPlace& m) {
  a(m.server, m.limit);
}
template <class A>
void fields(A& a, JobReport& m) {
  a(m.waits_for_all, m.left_s, m.task_s, m.rate_ratio, m.used);
}
template <class A>
void fields(A& a, JoinServersMessage& m) {
  a(m.name, m.requests);
}
template <class A>
void fields(A& a, PlacesMessage& m) {
  a(m.error, m.error_code, m.job, m.considers, m.places);
}
template <class A>
void fields(A& a, ReportMessage& m) {
  a(m.report);
}
template <class A>
void fields(A& a, AskModeMessage& m) {
  a(m.mode, m.rate_ratio, m.time_saved);
}
template <class A>
void fields(A& a, ModeAnswerMessage& m) {
  a(m.granted, m.reason);
}
template <class A>
void fields(A& a, LimitsMessage& m) {
  a(m.limits);
}

}  // namespace orrery
