#include "live/client/job_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>

#include "base/nearest_word.h"
#include "base/plain_text.h"
#include "base/toml_table.h"
#include "live/client/job_texts.h"

namespace orrery {
namespace {

constexpr std::size_t kJobsMax = 10'000;
constexpr std::size_t kFileBytesMax = std::size_t{16} << 20;

std::string shown(std::string_view word) { return plain_text(word.substr(0, 60)); }

std::optional<std::string> value_text(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto whole = node.value_exact<std::int64_t>()) return fmt::format("{}", *whole);
  if (const auto number = node.value_exact<double>()) return fmt::format("{}", *number);
  if (const auto flag = node.value_exact<bool>()) return *flag ? "true" : "false";
  return {};
}

// Reads the tables of one file into drafts.
class JobFile {
 public:
  explicit JobFile(std::string_view file) : file_(file) {}

  Result<std::vector<JobDraft>> read(std::string_view text) {
    TRY_ASSIGN(const toml::table document, parse_toml(file_, text));
    const toml::node* jobs = document.get("job");
    JobDraft common;
    TRY(read_table(document, common));
    if (jobs == nullptr) {
      if (!common.after_names.empty()) {
        return wrong(*document.get("after"),
                     fmt::format("after: there is no other job '{}' in this file; write the "
                                 "numbers of jobs that are submitted already",
                                 shown(common.after_names.front())));
      }
      return std::vector<JobDraft>{std::move(common)};
    }
    return read_jobs(*jobs, document, common);
  }

 private:
  Error wrong(const toml::node& where, std::string_view what) const {
    return toml_error(file_, where, what);
  }

  Result<std::vector<JobDraft>> read_jobs(const toml::node& jobs, const toml::table& document,
                                          const JobDraft& common) {
    for (const char* key : {"name", "after"}) {
      if (const toml::node* node = document.get(key)) {
        return wrong(*node, fmt::format("{}: belongs into a [[job]]", key));
      }
    }
    const toml::array* list = jobs.as_array();
    if (list == nullptr) return wrong(jobs, "job: write each as [[job]]");
    if (list->size() > kJobsMax) {
      return wrong(jobs, fmt::format("{} jobs; at most {} to a file", list->size(), kJobsMax));
    }
    std::vector<JobDraft> drafts;
    std::vector<const toml::table*> tables;
    for (const toml::node& entry : *list) {
      const toml::table* table = entry.as_table();
      if (table == nullptr) return wrong(entry, "job: write each as [[job]]");
      if (const toml::node* inner = table->get("job")) return wrong(*inner, "a job within a job");
      drafts.push_back(common);
      tables.push_back(table);
      TRY(read_table(*table, drafts.back()));
    }
    if (drafts.empty()) return wrong(jobs, "there is no job in it");
    return in_order(std::move(drafts), tables);
  }

  Status read_table(const toml::table& table, JobDraft& draft) {
    for (const auto& [key, value] : table) TRY(read_value(key.str(), value, draft));
    return {};
  }

  Status read_value(std::string_view key, const toml::node& value, JobDraft& draft) {
    if (key == "job") return {};
    if (key == "command") return read_command(value, draft);
    if (key == "env") return read_variables(value, draft);
    if (key == "after") return read_after(value, draft);
    const JobSetting* setting = find_setting(key);
    if (setting == nullptr) {
      std::vector<std::string_view> names = {"command", "env", "job"};
      for (const JobSetting& known : job_settings()) names.push_back(known.name);
      const std::string name = shown(key);
      return wrong(value, fmt::format("there is no '{}'; did you mean '{}'?", name,
                                      nearest_word(name, names)));
    }
    const auto text = value_text(value);
    if (!text) return wrong(value, fmt::format("{}: write a word in quotes or a number", key));
    if (Status set = setting->set(draft, *text); !set.ok()) {
      return wrong(value, fmt::format("{}: {}", key, set.error().message));
    }
    return {};
  }

  Status read_command(const toml::node& value, JobDraft& draft) {
    const toml::array* words = value.as_array();
    draft.request.argv.clear();
    for (std::size_t i = 0; words != nullptr && i < words->size(); ++i) {
      const auto word = (*words)[i].value_exact<std::string>();
      if (!word) return wrong((*words)[i], "command: every argument is a string in quotes");
      draft.request.argv.push_back(*word);
    }
    if (!draft.request.argv.empty()) return {};
    return wrong(value,
                 "command: write the program and its arguments, such as [\"python3\", "
                 "\"train.py\"]");
  }

  Status read_variables(const toml::node& value, JobDraft& draft) {
    if (const toml::table* table = value.as_table()) {
      for (const auto& [name, node] : *table) {
        const auto text = value_text(node);
        if (!text) return wrong(node, "env: write NAME = \"value\"");
        if (name.str().find('=') != std::string_view::npos) {
          return wrong(node, fmt::format("env: '{}' is no name", shown(name.str())));
        }
        draft.variables.push_back(fmt::format("{}={}", name.str(), *text));
      }
      return {};
    }
    const toml::array* list = value.as_array();
    if (list == nullptr) {
      return wrong(value,
                   "env: write { NAME = \"value\" } or [\"NAME\"] to take it from the "
                   "caller's environment");
    }
    for (const toml::node& entry : *list) {
      const auto text = entry.value_exact<std::string>();
      if (!text) return wrong(entry, "env: write [\"NAME\", \"OTHER=value\"]");
      draft.variables.push_back(*text);
    }
    return {};
  }

  Status read_after(const toml::node& value, JobDraft& draft) {
    draft.request.after.clear();
    draft.after_names.clear();
    if (const toml::array* list = value.as_array()) {
      for (const toml::node& entry : *list) TRY(read_one_before(entry, draft));
      return {};
    }
    return read_one_before(value, draft);
  }

  Status read_one_before(const toml::node& node, JobDraft& draft) {
    if (const auto number = node.value_exact<std::int64_t>(); number && *number > 0) {
      draft.request.after.push_back(*number);
      return {};
    }
    const auto name = node.value_exact<std::string>();
    if (!name || name->empty()) {
      return wrong(node, "after: write numbers of jobs, or names of jobs in this file");
    }
    draft.after_names.push_back(*name);
    return {};
  }

  // Earlier ones first, otherwise as they stand.
  Result<std::vector<JobDraft>> in_order(std::vector<JobDraft> drafts,
                                         const std::vector<const toml::table*>& tables) {
    std::map<std::string, std::size_t> by_name;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      const std::string& name = drafts[i].request.name;
      if (!name.empty() && !by_name.emplace(name, i).second) {
        return wrong(*tables[i], fmt::format("two jobs are called '{}'", shown(name)));
      }
    }
    std::vector<std::size_t> waits(drafts.size());
    std::vector<std::vector<std::size_t>> followers(drafts.size());
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      for (const std::string& name : drafts[i].after_names) {
        const auto found = by_name.find(name);
        if (found == by_name.end()) {
          return wrong(*tables[i]->get("after"),
                       fmt::format("after: there is no job '{}' in this file", shown(name)));
        }
        ++waits[i];
        followers[found->second].push_back(i);
      }
    }
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < drafts.size(); ++i) {
      if (waits[i] == 0) order.push_back(i);
    }
    for (std::size_t done = 0; done < order.size(); ++done) {
      for (const std::size_t next : followers[order[done]]) {
        if (--waits[next] == 0) order.push_back(next);
      }
    }
    if (order.size() < drafts.size()) {
      const auto stuck = static_cast<std::size_t>(
          std::ranges::find_if(waits, [](std::size_t left) { return left > 0; }) - waits.begin());
      return wrong(*tables[stuck], "after: these jobs wait for each other in a circle");
    }
    std::vector<JobDraft> sorted;
    for (const std::size_t i : order) sorted.push_back(std::move(drafts[i]));
    return sorted;
  }

  std::string_view file_;
};

}  // namespace

Result<std::vector<JobDraft>> parse_job_file(std::string_view file, std::string_view text) {
  return JobFile(file).read(text);
}

Result<std::vector<JobDraft>> read_job_file(
    const std::string& path, const std::function<Result<std::string>()>& read_input) {
  if (path == "-") {
    TRY_ASSIGN(const std::string said, read_input());
    return parse_job_file("standard input", said);
  }
  std::ifstream in(path, std::ios::binary);
  std::string text;
  if (in) {
    for (char c = 0; text.size() <= kFileBytesMax && in.get(c);) text += c;
  }
  if (!in.is_open() || in.bad()) return invalid(fmt::format("{}: cannot be read", path));
  if (text.size() > kFileBytesMax) {
    return invalid(
        fmt::format("{}: more than {} MiB; this is no job file", path, kFileBytesMax >> 20));
  }
  return parse_job_file(path, text);
}

}  // namespace orrery
