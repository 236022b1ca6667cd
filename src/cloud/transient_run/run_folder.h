#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cloud/transient_run/followed_file.h"

namespace orrery {

// How a run with members stands, by its folder (docs/formats/training-run.md).
struct RunStanding {
  std::int64_t epoch = 0;  // of its chief; 0: none has led it yet
  std::string chief{};
  bool training = false;
  double at_s = 0;  // of training time
  std::int64_t gradients = 0, samples = 0;
  int workers = 0;
  double rate_factor = 1;
  std::optional<double> accuracy{};
};

struct MembershipRow {
  double at_s = 0;
  std::int64_t epoch = 0;
  int workers = 0;
  double rate_factor = 1;
};

struct SavedRow {
  double at_s = 0;
  std::int64_t version = 0, gradients = 0, bytes = 0;
  double save_s = 0;
};

// The folder that the members of a run share, seen from outside. Tables are read on from where the
// last call ended.
class RunFolder {
 public:
  explicit RunFolder(std::string path)
      : path_(std::move(path)),
        memberships_(path_ + "/membership.csv"),
        checkpoints_(path_ + "/checkpoints.csv") {}
  const std::string& path() const { return path_; }

  // Nothing: no chief has written it yet.
  std::optional<RunStanding> standing() const;
  std::vector<MembershipRow> new_memberships();
  std::vector<SavedRow> new_checkpoints();
  // How often a chief went on from a checkpoint, and how often from the shards.
  struct Resumptions {
    int from_checkpoint = 0, from_shards = 0;
  };
  Resumptions resumptions() const;

  // The result of the whole run, JSON; nothing: it goes on.
  std::optional<std::string> result() const;
  // What members and chief are to do.
  Status order(std::int64_t saves, bool stop) const;

 private:
  std::string path_;
  FollowedFile memberships_, checkpoints_;
};

}  // namespace orrery
