#include "live/job_runner/launch.h"

#include "live/job_runner/cpu_sets.h"

namespace orrery {
namespace {

bool has_zero(const std::string& text) { return text.find('\0') != text.npos; }

bool absolute(const std::string& path) { return !path.empty() && path.front() == '/'; }

Status check_text(const Launch& launch) {
  if (launch.argv.empty() || launch.argv.front().empty()) return invalid("no program to start");
  for (const std::string& argument : launch.argv) {
    if (has_zero(argument)) return invalid("an argument holds a zero byte");
  }
  for (const auto& [name, value] : launch.environment) {
    if (name.empty() || name.find('=') != name.npos || has_zero(name) || has_zero(value)) {
      return invalid("the environment variable '" + name + "' cannot be set");
    }
  }
  for (const std::string* path : {&launch.directory, &launch.output, &launch.errors, &launch.socket,
                                  &launch.checkpoint_directory, &launch.private_tmp}) {
    const bool may_be_absent = path != &launch.directory;
    if (may_be_absent && path->empty()) continue;
    if (!absolute(*path) || has_zero(*path)) {
      return invalid("'" + *path + "' must be an absolute path");
    }
  }
  if (has_zero(launch.user)) return invalid("a user's name holds a zero byte");
  return {};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

void put(Environment& environment, const std::string& name, std::string value) {
  for (auto& [known, old] : environment) {
    if (known == name) {
      old = std::move(value);
      return;
    }
  }
  environment.emplace_back(name, std::move(value));
}

void put_ranks(Environment& environment, const Gang& gang) {
  const std::pair<int, std::vector<const char*>> numbers[] = {
      {gang.rank, {"ORRERY_RANK", "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}},
      {gang.ranks, {"ORRERY_RANKS", "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}},
      {gang.local_rank,
       {"ORRERY_LOCAL_RANK", "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}},
      {gang.local_ranks,
       {"ORRERY_LOCAL_RANKS", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}},
      {gang.node, {"ORRERY_NODE", "GROUP_RANK", "OMPI_COMM_WORLD_NODE_RANK"}},
      {gang.nodes, {"ORRERY_NODES", "GROUP_WORLD_SIZE"}},
      {gang.master_port, {"ORRERY_MASTER_PORT", "MASTER_PORT"}},
  };
  for (const auto& [number, names] : numbers) {
    for (const char* const name : names) put(environment, name, std::to_string(number));
  }
  put(environment, "ORRERY_MASTER_ADDR", gang.master_address);
  put(environment, "MASTER_ADDR", gang.master_address);
}

}  // namespace

CgroupFolders read_cgroup_others(const Fields& fields) {
  CgroupFolders others;
  for (const char* const controller : {"cpu", "devices", "pids"}) {
    std::string path = fields.text(std::string("cgroup_") + controller);
    if (!path.empty()) others.emplace_back(controller, std::move(path));
  }
  return others;
}

std::string launch_name(const Launch& launch) {
  return std::to_string(static_cast<int>(launch.job)) + "." + std::to_string(launch.epoch) + "." +
         std::to_string(launch.gang.rank);
}

Status check_launch(const Launch& launch) {
  if (launch.job < JobId{0} || launch.epoch < 0) return invalid("a job has an id and an epoch");
  TRY(check_text(launch));
  const Gang& gang = launch.gang;
  if (gang.rank < 0 || gang.rank >= gang.ranks || gang.local_rank < 0 ||
      gang.local_rank >= gang.local_ranks || gang.node < 0 || gang.node >= gang.nodes) {
    return invalid("rank " + std::to_string(gang.rank) + " is not one of its gang");
  }
  if (gang.master_port < 1 || gang.master_port > 65535 || has_zero(gang.master_address)) {
    return invalid("the gang's meeting point is no address and port");
  }
  if (launch.memory_bytes < 0 || launch.grace < Duration::zero()) {
    return invalid("a memory limit or a grace period is negative");
  }
  for (const auto* gpus : {&launch.gpus, &launch.gpus_visible}) {
    for (const std::string& gpu : *gpus) {
      if (gpu.empty() || has_zero(gpu)) return invalid("a GPU without a name");
    }
  }
  if (launch.time_left < Duration::zero() || launch.signal_before < Duration::zero() ||
      launch.signal < 0 || launch.signal > 64) {
    return invalid("the time left or its signal is out of bounds");
  }
  return {};
}

Fields launch_fields(const Launch& launch) {
  Fields fields;
  fields.add("job", static_cast<int>(launch.job));
  fields.add("epoch", launch.epoch);
  fields.add("rank", launch.gang.rank);
  fields.add("ranks", launch.gang.ranks);
  fields.add("local_rank", launch.gang.local_rank);
  fields.add("local_ranks", launch.gang.local_ranks);
  fields.add("node", launch.gang.node);
  fields.add("nodes", launch.gang.nodes);
  fields.add("master_address", launch.gang.master_address);
  fields.add("master_port", launch.gang.master_port);
  for (const std::string& argument : launch.argv) fields.add("argv", argument);
  for (const auto& [name, value] : launch.environment) fields.add("env", name + "=" + value);
  fields.add("directory", launch.directory);
  fields.add("output", launch.output);
  fields.add("errors", launch.errors);
  fields.add("user", launch.user);
  fields.add("cpus", cpu_list_text(launch.cpus));
  for (const std::string& gpu : launch.gpus) fields.add("gpu", gpu);
  for (const std::string& gpu : launch.gpus_visible) fields.add("gpu_visible", gpu);
  fields.add("cpu_milli", launch.cpu_milli);
  fields.add("memory_bytes", launch.memory_bytes);
  fields.add("cgroup_home", launch.cgroup_home.path);
  fields.add("cgroup_version", launch.cgroup_home.version);
  for (const auto& [controller, path] : launch.cgroup_home.others) {
    fields.add("cgroup_" + controller, path);
  }
  fields.add("processes", launch.processes);
  for (const std::string& device : launch.closed_devices) fields.add("closed_device", device);
  fields.add("core_bytes", launch.core_bytes);
  fields.add("private_tmp", launch.private_tmp);
  fields.add("grace_ns", launch.grace.count());
  fields.add("ends_with_lease", launch.ends_with_lease ? 1 : 0);
  fields.add("node_timeout_ns", launch.node_timeout.count());
  fields.add("socket", launch.socket);
  fields.add("checkpoint_directory", launch.checkpoint_directory);
  fields.add("resumed", launch.resumed ? 1 : 0);
  fields.add("time_left_ns", launch.time_left.count());
  fields.add("signal", launch.signal);
  fields.add("signal_before_ns", launch.signal_before.count());
  return fields;
}

Result<Launch> read_launch(const Fields& fields) {
  const auto small = [&](std::string_view key, int otherwise) {
    return static_cast<int>(fields.number(key, otherwise));
  };
  Launch launch;
  launch.job = JobId{small("job", -1)};
  launch.epoch = fields.number("epoch", -1);
  launch.gang = {.rank = small("rank", 0),
                 .ranks = small("ranks", 1),
                 .local_rank = small("local_rank", 0),
                 .local_ranks = small("local_ranks", 1),
                 .node = small("node", 0),
                 .nodes = small("nodes", 1),
                 .master_address = fields.text("master_address"),
                 .master_port = small("master_port", 29500)};
  launch.argv = fields.all("argv");
  for (const std::string& variable : fields.all("env")) {
    const std::size_t equals = variable.find('=');
    if (equals == variable.npos) return Error{Code::DataLoss, "a variable without '='"};
    launch.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  }
  launch.directory = fields.text("directory");
  launch.output = fields.text("output");
  launch.errors = fields.text("errors");
  launch.user = fields.text("user");
  TRY_ASSIGN(launch.cpus, read_cpu_list(fields.text("cpus")));
  launch.gpus = fields.all("gpu");
  launch.gpus_visible = fields.all("gpu_visible");
  launch.cpu_milli = fields.number("cpu_milli");
  launch.memory_bytes = fields.number("memory_bytes");
  launch.cgroup_home = {.path = fields.text("cgroup_home"),
                        .version = small("cgroup_version", 0),
                        .others = read_cgroup_others(fields)};
  launch.processes = fields.number("processes");
  launch.closed_devices = fields.all("closed_device");
  launch.core_bytes = fields.number("core_bytes");
  launch.private_tmp = fields.text("private_tmp");
  launch.grace = Duration(fields.number("grace_ns"));
  launch.ends_with_lease = fields.number("ends_with_lease") != 0;
  launch.node_timeout = Duration(fields.number("node_timeout_ns"));
  launch.socket = fields.text("socket");
  launch.checkpoint_directory = fields.text("checkpoint_directory");
  launch.resumed = fields.number("resumed") != 0;
  launch.time_left = Duration(fields.number("time_left_ns"));
  launch.signal = small("signal", 0);
  launch.signal_before = Duration(fields.number("signal_before_ns"));
  TRY(check_launch(launch));
  return launch;
}

Environment job_environment(const Launch& launch) {
  Environment environment;
  put(environment, "PATH", "/usr/local/bin:/usr/bin:/bin");
  for (const auto& [name, value] : launch.environment) put(environment, name, value);
  put(environment, "ORRERY_JOB_ID", std::to_string(static_cast<int>(launch.job)));
  put(environment, "ORRERY_EPOCH", std::to_string(launch.epoch));
  put(environment, "ORRERY_RESUMED", launch.resumed ? "1" : "0");
  put(environment, "ORRERY_SOCKET", launch.socket);
  put(environment, "ORRERY_CHECKPOINT_DIR", launch.checkpoint_directory);
  put(environment, "ORRERY_CPUS", cpu_list_text(launch.cpus));
  put(environment, "ORRERY_MEMORY_BYTES", std::to_string(launch.memory_bytes));
  put(environment, "ORRERY_GPUS", joined(launch.gpus));
  const auto& visible = launch.gpus_visible.empty() ? launch.gpus : launch.gpus_visible;
  put(environment, "CUDA_VISIBLE_DEVICES", joined(visible));
  // Where devices are named by number, CUDA must count them as the driver does.
  put(environment, "CUDA_DEVICE_ORDER", "PCI_BUS_ID");
  put_ranks(environment, launch.gang);
  return environment;
}

}  // namespace orrery
