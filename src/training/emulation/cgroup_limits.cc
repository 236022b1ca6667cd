#include "training/emulation/cpu_limits.h"
#include "training/emulation/owner.h"

namespace orrery {
namespace {

class CgroupLimits final : public CpuLimits {
 public:
  explicit CgroupLimits(int version) : version_(version) {}
  ~CgroupLimits() override {
    for (const ServerCgroup& server : servers_) server.release();
  }

  Status make(const CgroupTree& tree, const std::string& name, double cores) {
    const ServerCgroup server(tree, name);
    TRY(server.make());
    servers_.push_back(server);
    return server.set(cores);
  }

  std::string means() const override { return version_ == 1 ? "cgroup-v1" : "cgroup-v2"; }
  Status add(int server, pid_t pid) override { return at(server).add(pid); }
  Status set(int server, double cores) override { return at(server).set(cores); }
  Result<CpuUse> use(int server) override { return at(server).use(); }
  Result<double> starved_s(int server) override { return at(server).starved_s(); }

 private:
  ServerCgroup& at(int server) { return servers_[static_cast<std::size_t>(server)]; }

  int version_;
  std::vector<ServerCgroup> servers_{};
};

}  // namespace

Result<std::unique_ptr<CpuLimits>> make_cgroup_limits(const CgroupTree& tree,
                                                      const std::string& tag,
                                                      const std::vector<double>& cores) {
  auto limits = std::make_unique<CgroupLimits>(tree.version);
  for (std::size_t i = 0; i < cores.size(); ++i) {
    TRY(limits->make(tree, server_name(tag, static_cast<int>(i)), cores[i]));
  }
  return std::unique_ptr<CpuLimits>(std::move(limits));
}

}  // namespace orrery
