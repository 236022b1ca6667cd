#include "live/job_runner/device_rules.h"

#include <fcntl.h>
#include <linux/bpf.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "base/files.h"

namespace orrery {
namespace {

Status close_by_file(const std::string& cgroup, std::span<const DeviceNumber> closed) {
  for (const DeviceNumber& device : closed) {
    const std::string rule =
        "c " + std::to_string(device.major) + ":" + std::to_string(device.minor) + " rwm";
    TRY(write_control(cgroup + "/devices.deny", rule));
  }
  return {};
}

constexpr std::uint8_t kResult = BPF_REG_0;
constexpr std::uint8_t kContext = BPF_REG_1;
constexpr std::uint8_t kType = BPF_REG_2;
constexpr std::uint8_t kMajor = BPF_REG_3;
constexpr std::uint8_t kMinor = BPF_REG_4;

bpf_insn instruction(int code, std::uint8_t to, std::uint8_t from, std::size_t offset,
                     unsigned value) {
  bpf_insn made{};
  made.code = static_cast<std::uint8_t>(code);
  made.dst_reg = to & 0xf;
  made.src_reg = from & 0xf;
  made.off = static_cast<std::int16_t>(offset);
  made.imm = static_cast<std::int32_t>(value);
  return made;
}

bpf_insn load(std::uint8_t to, std::size_t offset) {
  return instruction(BPF_LDX | BPF_MEM | BPF_W, to, kContext, offset, 0);
}
bpf_insn jump_unless_equal(std::uint8_t left, unsigned value, std::size_t over) {
  return instruction(BPF_JMP | BPF_JNE | BPF_K, left, 0, over, value);
}
bpf_insn set_result(unsigned value) {
  return instruction(BPF_ALU64 | BPF_MOV | BPF_K, kResult, 0, 0, value);
}
bpf_insn leave() { return instruction(BPF_JMP | BPF_EXIT, 0, 0, 0, 0); }

// Answers 0 for one of the devices, and 1 for every other.
std::vector<bpf_insn> program_of(std::span<const DeviceNumber> closed) {
  constexpr std::size_t kForEach = 4;
  std::vector<bpf_insn> program = {
      load(kType, offsetof(bpf_cgroup_dev_ctx, access_type)),
      instruction(BPF_ALU64 | BPF_AND | BPF_K, kType, 0, 0, 0xffff),
      load(kMajor, offsetof(bpf_cgroup_dev_ctx, major)),
      load(kMinor, offsetof(bpf_cgroup_dev_ctx, minor)),
      jump_unless_equal(kType, BPF_DEVCG_DEV_CHAR, kForEach * closed.size())};
  for (const DeviceNumber& device : closed) {
    program.push_back(jump_unless_equal(kMajor, device.major, 3));
    program.push_back(jump_unless_equal(kMinor, device.minor, 2));
    program.push_back(set_result(0));
    program.push_back(leave());
  }
  program.push_back(set_result(1));
  program.push_back(leave());
  return program;
}

int bpf(bpf_cmd command, bpf_attr& attributes) {
  return static_cast<int>(::syscall(SYS_bpf, command, &attributes, sizeof attributes));
}

// The cgroup holds the program from then on.
Status close_by_program(const std::string& cgroup, std::span<const DeviceNumber> closed) {
  const std::vector<bpf_insn> program = program_of(closed);
  const char license[] = "Dual MIT/GPL";
  bpf_attr load{};
  load.prog_type = BPF_PROG_TYPE_CGROUP_DEVICE;
  load.insns = reinterpret_cast<std::uintptr_t>(program.data());
  load.insn_cnt = static_cast<std::uint32_t>(program.size());
  load.license = reinterpret_cast<std::uintptr_t>(license);
  const Fd loaded(bpf(BPF_PROG_LOAD, load));
  if (!loaded.ok()) return system_error("a BPF program that closes devices", errno);
  const Fd directory(::open(cgroup.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.ok()) return system_error(cgroup, errno);
  bpf_attr attach{};
  attach.target_fd = static_cast<std::uint32_t>(directory.get());
  attach.attach_bpf_fd = static_cast<std::uint32_t>(loaded.get());
  attach.attach_type = BPF_CGROUP_DEVICE;
  attach.attach_flags = BPF_F_ALLOW_MULTI;
  if (bpf(BPF_PROG_ATTACH, attach) != 0) return system_error(cgroup, errno);
  return {};
}

}  // namespace

std::optional<DeviceNumber> device_number(const std::string& path) {
  struct stat state {};
  if (::stat(path.c_str(), &state) != 0 || !S_ISCHR(state.st_mode)) return {};
  return DeviceNumber{.major = major(state.st_rdev), .minor = minor(state.st_rdev)};
}

Status close_devices(const std::string& cgroup, int version, std::span<const DeviceNumber> closed) {
  if (closed.empty()) return {};
  return version == 1 ? close_by_file(cgroup, closed) : close_by_program(cgroup, closed);
}

}  // namespace orrery
