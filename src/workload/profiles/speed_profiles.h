#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "workload/profiles/sensitivity_profiles.h"

namespace orrery {

// How fast models were measured to be on how many GPUs. A table is either ElasticFlow's (a file
// for each model, a row for each global batch, a column for each GPU count) or our own, which also
// knows GPU types and spread placements; docs/formats/profiles.md describes both.
class SpeedProfiles {
 public:
  struct Entry {
    std::string model;
    int batch_size = 0;
    std::string gpu_type;  // empty: the table does not say, good for any
    SpeedCurve curve;
    std::string place;  // file:line where it begins
  };

  explicit SpeedProfiles(std::string name) : name_(std::move(name)) {}

  // Refuses a curve without a point, and an entry that is there already.
  Status add(Entry entry);

  const std::string& name() const { return name_; }  // the file or folder
  std::span<const Entry> entries() const { return entries_; }
  std::vector<std::string> gpu_types() const;  // rising, each once
  // The type that is meant: `wanted`, or where that is empty the only one there is. The error says
  // what there is to choose from.
  Result<std::string> choose_type(std::string_view wanted) const;

  bool knows(std::string_view model) const;
  // Null: not measured.
  const SpeedCurve* find(std::string_view model, int batch_size, std::string_view gpu_type) const;
  std::vector<int> batches(std::string_view model, std::string_view gpu_type) const;

 private:
  std::string name_;
  std::vector<Entry> entries_;  // by (model, batch, type)
};

// All that --profiles may name: both kinds of table, in one file or a folder.
struct Profiles {
  SpeedProfiles speeds;
  SensitivityProfiles sensitivities;
};

// Reads one table, or every *.csv of a folder. Bad input is InvalidArgument with file and line.
// An empty path has no profiles.
Result<Profiles> read_all_profiles(const std::string& path);
// The speeds alone.
Result<SpeedProfiles> read_profiles(const std::string& path);

// The same from a stream; `name` stands where the path would in messages, and gives the model of a
// table of ElasticFlow's.
Result<SpeedProfiles> parse_profiles(std::string_view name, std::istream& in);

// Gives every job its curve. The GPU type that counts is the job's own, else `gpu_type`, else the
// only one of the profiles. A job that has a curve already keeps it; one of a model the profiles do
// not know stays rigid; one of a known model with a batch or type that was not measured is an
// error. `trace` names the jobs' file in messages.
Status make_elastic(const SpeedProfiles& profiles, std::string_view gpu_type,
                    std::string_view trace, Workload& workload);

// The same, and make_sensitive() with the other kind.
Status attach(const Profiles& profiles, std::string_view gpu_type, std::string_view trace,
              Workload& workload);

}  // namespace orrery
