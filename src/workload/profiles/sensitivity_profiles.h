#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/job.h"
#include "workload/text/line_reader.h"

namespace orrery {

// How fast models were measured to be with how many CPUs and how much memory for each GPU;
// docs/formats/sensitivity.md describes the table.
class SensitivityProfiles {
 public:
  struct Entry {
    std::string model;
    int batch_size = 0;      // 0: good for any
    std::string gpu_type;    // empty: good for any
    double iteration_s = 0;  // at speed 1
    Sensitivity sensitivity;
    std::string place;  // file:line where it begins
  };

  // Refuses an entry that is there already.
  Status add(Entry entry);

  std::span<const Entry> entries() const { return entries_; }

  // What is known of the model; null: nothing. An entry for that very batch and type comes before
  // one that is good for any; a batch of 0 or an empty type stands for the only one there is. Where
  // the model is known, but not so, or where several entries would do, the error says which.
  Result<const Entry*> find(std::string_view model, int batch_size,
                            std::string_view gpu_type) const;

 private:
  std::vector<Entry> entries_;  // by (model, batch, type)
};

// True if the header of a table says that it is one of these.
bool is_sensitivity_table(std::string_view header);

// Adds what a table has. Bad input is InvalidArgument with file and line.
Status read_sensitivity_table(std::string_view name, LineReader& lines,
                              SensitivityProfiles& profiles);

// The same from a stream.
Result<SensitivityProfiles> parse_sensitivities(std::string_view name, std::istream& in);

// Gives every job its sensitivity to CPUs and memory. Its GPU type is its own, else `gpu_type`. A
// job that has a sensitivity already keeps it; one of a model the profiles do not know has none.
// Its iteration time is taken to be that at speed 1. `trace` names the jobs' file in messages.
Status make_sensitive(const SensitivityProfiles& profiles, std::string_view gpu_type,
                      std::string_view trace, Workload& workload);

}  // namespace orrery
