#include "workload/clusters/worker_list.h"

#include <gtest/gtest.h>

#include <sstream>

#include "workload/clusters/cluster_spec.h"

namespace orrery {
namespace {

std::vector<Worker> parse(const std::string& text) {
  std::istringstream in(text);
  auto result = parse_workers("w", in);
  EXPECT_TRUE(result.ok()) << result.error().message;
  return result.ok() ? std::move(result).value() : std::vector<Worker>();
}

TEST(WorkerList, ALineIsAServer) {
  EXPECT_EQ(parse("10.0.0.7,16000,0,0,1\r\n\n gpu-2.lab , 16001 ,4,12,0\n::1,9,0,0,0"),
            (std::vector<Worker>{{"10.0.0.7", 16000, 0, 0, true},
                                 {"gpu-2.lab", 16001, 4, 12, false},
                                 {"::1", 9, 0, 0, false}}));
}

TEST(WorkerList, OneMachineMayStandForSeveralServers) {
  EXPECT_EQ(parse("localhost,16000,0,0,0\nlocalhost,16001,4,12,0\n").size(), 2u);
}

TEST(WorkerList, MustHaveALineForEachServer) {
  const std::vector<Worker> workers = parse("a,1,0,0,0\nb,1,0,0,0\n");
  EXPECT_TRUE(check_workers("w", workers, read_cluster("2x8").value()).ok());
  EXPECT_EQ(check_workers("w", workers, read_cluster("4x8").value()).error().message,
            "w: has 2 workers, but 4x8 has 4 servers; write a line for each");
}

TEST(BadWorkerList, IsRefusedWithFileLineAndFault) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "w: is empty; write a line for each server"},
      {"10.0.0.7,16000,0,0\n", "w:1: has 4 fields, but a worker has 5: IP,port,start_gpu_id"},
      {"10.0.0.7,16000,0,0,1,\n", "w:1: has 6 fields"},
      {",16000,0,0,1\n", "w:1: column 'IP': is empty"},
      {"10.0.0.256,16000,0,0,1\n", "w:1: column 'IP': '10.0.0.256' is no IP address, nor a host"},
      {"10.0.0,16000,0,0,1\n", "w:1: column 'IP': '10.0.0' is no IP"},
      {"a b,16000,0,0,1\n", "w:1: column 'IP': 'a b' is no IP"},
      {"a..b,16000,0,0,1\n", "w:1: column 'IP': 'a..b' is no IP"},
      {"-a,16000,0,0,1\n", "w:1: column 'IP': '-a' is no IP"},
      {"a,0,0,0,1\n", "w:1: column 'port': '0' is outside 1 to 65535"},
      {"a,65536,0,0,1\n", "w:1: column 'port': '65536' is outside"},
      {"a,http,0,0,1\n", "w:1: column 'port': 'http' is not a whole number"},
      {"a,1,-1,0,1\n", "w:1: column 'start_gpu_id': '-1' is outside"},
      {"a,1,0,x,1\n", "w:1: column 'start_cpu_id': 'x' is not a whole number"},
      {"a,1,0,0,2\n", "w:1: column 'needs_numa_aware_alloc': '2' is outside 0 to 1"},
      {"a,1,0,0,0\na,1,4,0,0\n", "w:2: a port 1 was given before, in line 1"},
  };
  for (const auto& [text, message] : cases) {
    std::istringstream in(text);
    const auto result = parse_workers("w", in);
    ASSERT_FALSE(result.ok()) << text;
    EXPECT_EQ(result.error().code, Code::InvalidArgument) << text;
    EXPECT_TRUE(result.error().message.starts_with(message)) << result.error().message;
  }
  EXPECT_TRUE(read_workers("no/such").error().message.starts_with("no/such: cannot be opened"));
}

}  // namespace
}  // namespace orrery
