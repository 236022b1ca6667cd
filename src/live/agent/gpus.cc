#include "live/agent/gpus.h"

#include <dlfcn.h>

#include <memory>

namespace orrery {
namespace {

constexpr int kOk = 0;
constexpr int kDriverNotLoaded = 9;
constexpr unsigned kTextLength = 96;  // the library's own bound

struct NvmlMemory {
  unsigned long long total, free, used;
};

struct CloseLibrary {
  void operator()(void* library) const { dlclose(library); }
};
using Library = std::unique_ptr<void, CloseLibrary>;

template <class Function>
Status find(const Library& library, const char* name, Function*& found) {
  found = reinterpret_cast<Function*>(dlsym(library.get(), name));
  if (!found) return Error{Code::FailedPrecondition, std::string("has no ") + name};
  return {};
}

Status checked(int status, const char* call) {
  if (status == kOk) return {};
  return Error{Code::Unavailable, std::string(call) + " failed with " + std::to_string(status)};
}

struct Shutdown {
  int (*shutdown)();
  ~Shutdown() { shutdown(); }
};

Result<std::vector<Gpu>> ask(const Library& library) {
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*count_of)(unsigned*) = nullptr;
  int (*handle_of)(unsigned, void**) = nullptr;
  int (*name_of)(void*, char*, unsigned) = nullptr;
  int (*uuid_of)(void*, char*, unsigned) = nullptr;
  int (*memory_of)(void*, NvmlMemory*) = nullptr;
  int (*minor_of)(void*, unsigned*) = nullptr;
  TRY(find(library, "nvmlInit_v2", init));
  TRY(find(library, "nvmlShutdown", shutdown));
  TRY(find(library, "nvmlDeviceGetCount_v2", count_of));
  TRY(find(library, "nvmlDeviceGetHandleByIndex_v2", handle_of));
  TRY(find(library, "nvmlDeviceGetName", name_of));
  TRY(find(library, "nvmlDeviceGetUUID", uuid_of));
  TRY(find(library, "nvmlDeviceGetMemoryInfo", memory_of));

  // Without it the device files stay open to every job.
  static_cast<void>(find(library, "nvmlDeviceGetMinorNumber", minor_of).ok());

  const int status = init();
  if (status == kDriverNotLoaded) return std::vector<Gpu>{};
  TRY(checked(status, "nvmlInit_v2"));
  const Shutdown at_end{shutdown};
  unsigned count = 0;
  TRY(checked(count_of(&count), "nvmlDeviceGetCount_v2"));
  std::vector<Gpu> gpus;
  for (unsigned i = 0; i < count; ++i) {
    void* device = nullptr;
    TRY(checked(handle_of(i, &device), "nvmlDeviceGetHandleByIndex_v2"));
    char name[kTextLength] = "";
    char uuid[kTextLength] = "";
    TRY(checked(name_of(device, name, kTextLength), "nvmlDeviceGetName"));
    TRY(checked(uuid_of(device, uuid, kTextLength), "nvmlDeviceGetUUID"));
    NvmlMemory memory{};
    // Some devices share the host's memory and have none of their own to report.
    const bool known = memory_of(device, &memory) == kOk;
    unsigned minor = 0;
    const bool has_file = minor_of != nullptr && minor_of(device, &minor) == kOk;
    gpus.push_back({.index = static_cast<int>(i),
                    .name = name,
                    .uuid = uuid,
                    .memory_bytes = known ? static_cast<std::int64_t>(memory.total) : 0,
                    .device = has_file ? "/dev/nvidia" + std::to_string(minor) : ""});
  }
  return gpus;
}

}  // namespace

Result<std::vector<Gpu>> detect_gpus(const std::string& nvml_library) {
  const Library library(dlopen(nvml_library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library) return std::vector<Gpu>{};
  auto gpus = ask(library);
  if (!gpus.ok()) {
    Error error = std::move(gpus).error().at(nvml_library);
    error.message += "; declare the GPUs with --gpus N, or repair the driver";
    return error;
  }
  return gpus;
}

std::vector<Gpu> declared_gpus(int count) {
  std::vector<Gpu> gpus;
  for (int i = 0; i < count; ++i) gpus.push_back({.index = i, .name = "declared"});
  return gpus;
}

}  // namespace orrery
