#include "training/network.h"

#include <unistd.h>

#include <cstdlib>

namespace orrery {

TestNetwork::TestNetwork(int machines) : machines_(machines) {
  if (geteuid() != 0) {
    missing_ = "network namespaces need root";
    return;
  }
  bool good = run("ip netns add " + hub()) && run("ip -n " + hub() + " link add br0 type bridge") &&
              run("ip -n " + hub() + " link set br0 up");
  for (int machine = 0; good && machine < machines; ++machine) {
    const std::string own = name(machine), port = "p" + std::to_string(machine);
    good =
        run("ip netns add " + own) && run("ip -n " + own + " link set lo up") &&
        run("ip link add eth0 netns " + own + " type veth peer name " + port + " netns " + hub()) &&
        run("ip -n " + hub() + " link set " + port + " master br0 up") &&
        run("ip -n " + own + " addr add " + address(machine) + "/24 dev eth0") &&
        run("ip -n " + own + " link set eth0 up");
  }
  if (!good) missing_ = "the kernel or iproute2 makes no network namespaces here";
}

TestNetwork::~TestNetwork() {
  if (geteuid() != 0) return;
  for (int machine = 0; machine < machines_; ++machine) run("ip netns del " + name(machine));
  run("ip netns del " + hub());
}

bool TestNetwork::add_unreachable(int machine, const std::string& address) {
  return run("ip -n " + name(machine) + " addr add " + address + "/32 dev lo");
}

std::string TestNetwork::address(int machine) { return "10.77.0." + std::to_string(machine + 1); }

std::vector<std::string> TestNetwork::on(int machine) const {
  return {"ip", "netns", "exec", name(machine)};
}

bool TestNetwork::run(const std::string& command) {
  return std::system((command + " 2>/dev/null").c_str()) == 0;
}

std::string TestNetwork::name(int machine) const {
  return "orrery" + std::to_string(getpid()) + "-" + std::to_string(machine);
}

std::string TestNetwork::hub() const { return "orrery" + std::to_string(getpid()) + "-hub"; }

}  // namespace orrery
