// Two GPUs, as the driver's library would report them. The second does not know its memory.
#include <cstdint>
#include <cstdio>

struct FakeMemory {
  unsigned long long total, free, used;
};

extern "C" {
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device);
int nvmlDeviceGetName(void* device, char* name, unsigned length);
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length);
int nvmlDeviceGetMemoryInfo(void* device, FakeMemory* memory);

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index + 1));
  return 0;
}
int nvmlDeviceGetName(void*, char* name, unsigned length) {
  std::snprintf(name, length, "Fake 9000");
  return 0;
}
int nvmlDeviceGetUUID(void* device, char* uuid, unsigned length) {
  std::snprintf(uuid, length, "GPU-%u",
                static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device)));
  return 0;
}
int nvmlDeviceGetMemoryInfo(void* device, FakeMemory* memory) {
  if (reinterpret_cast<std::uintptr_t>(device) == 2) return 3;
  *memory = {.total = 16ULL << 30, .free = 0, .used = 0};
  return 0;
}
// Not the index: files are numbered as the driver found the cards.
int nvmlDeviceGetMinorNumber(void* device, unsigned* minor) {
  *minor = 7 - static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device));
  return 0;
}
}
