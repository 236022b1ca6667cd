#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "live/api/job_request.h"
#include "live/client/connection.h"

namespace orrery {

// Which variables of the caller a job gets, after `sbatch --export`.
struct Export {
  bool all = false;
  std::vector<std::string> variables{};  // NAME=VALUE, or NAME
};

// A job as it is being written: from a file, from the command line, or from both.
struct JobDraft {
  JobRequest request{.directory = {}};
  std::vector<std::string> variables{};    // NAME=VALUE, or NAME: as the caller has it
  std::optional<Export> exported{};        // none: what is passed on always
  std::vector<std::string> after_names{};  // of jobs in the same file
  bool gpus_said = false;
};

// What can be said about a job in a word or a number: by the same name --NAME on the command line,
// NAME = in a job file and NAME= in `whatif --job`.
struct JobSetting {
  std::string_view name;
  std::string_view what;  // for --help
  bool flag = false;      // true or false; on the command line it stands alone
  Status (*set)(JobDraft& draft, std::string_view text);
};
std::span<const JobSetting> job_settings();

// nullptr: there is none.
const JobSetting* find_setting(std::string_view name);

// "gpus=4,time=2h,deadline=5h". Values with commas are for files.
Status set_all(JobDraft& draft, std::string_view pairs);

// Fills in what depends on where the command is called: relative paths, and the environment, which
// is PATH, HOME, USER, LANG and LC_*, or what is exported, and then the variables that the draft
// names. What comes out passes check(), but
// for the program where `needs_program` is false.
struct Calling {
  const Variables& environment;
  const std::string& directory;
  bool needs_program = true;
};
Result<JobRequest> finish(JobDraft draft, const Calling& calling);

}  // namespace orrery
