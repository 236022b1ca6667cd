#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>
#include <sstream>

#include "workload/text/json_stream.h"
#include "workload/trace.h"

namespace orrery {
namespace {

struct Case {
  std::string what;
  std::string text;
  std::string place;    // with which the message begins
  std::string message;  // which it contains
};

const std::string kRaw = "job_id,submission_time,duration,num_gpu\n";
const std::string kHelios = "job_id,user,vc,gpu_num,cpu_num,submit_time,start_time,end_time\n";
const std::string kDates = "2021-03-01 09:00:00,2021-03-01 09:00:30,2021-03-01 10:00:30\n";
const std::string kAcme =
    "job_id,user,node_num,gpu_num,cpu_num,mem_per_pod_GB,type,submit_time,start_time,end_time,"
    "gpu_time\n";
const std::string kZoned =
    "2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,2023-05-17 11:01:16+00:00,0\n";
const std::string kOpenb =
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,"
    "scheduled_time\n";
const std::string kDlrm =
    "instance_sn,gpu_request,cpu_request,memory_request,creation_time,scheduled_time,"
    "deletion_time\n";
const std::string kPai =
    "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,plan_gpu,gpu_type\n";
const std::string kGavel = "LM (batch size 10)\tpython\tlm\t--steps\t1\t";
const std::string kOldGavel = "LM (batch size 10)\tpython\t--steps\t1\t";
const std::string kSia = "name,time,application,num_replicas,batch_size\n";
const std::string kGen = "u_id,user,gpu_num,cpu_num,interval,run_time\n";
const std::string kSlurm = "JobID|Submit|Start|End|Elapsed|ReqTRES|ReqMem\n";
const std::string kTimes = "2024-02-01T10:00:00|2024-02-01T10:00:05|2024-02-01T10:00:15|";

std::string philly(const std::string& members) {
  return R"([{"jobid":"a","submitted_time":"2017-10-07 01:11:39")" + members + "}]";
}

std::string attempt(const std::string& start, const std::string& end, const std::string& detail) {
  return philly(R"(,"attempts":[{"start_time":)" + start + R"(,"end_time":)" + end +
                R"(,"detail":)" + detail + "}]");
}

const std::vector<Case> kCases = {
    {"raw: no jobs", kRaw, "t:", "no jobs"},
    {"raw: nothing ran", kRaw + "a,0,0,1\n",
     "t:", "no job that can be run: 1 that ran for no time"},
    {"raw: text", kRaw + "a,0,x,1\n", "t:2:", "column 'duration': 'x' is not a number"},
    {"raw: negative", kRaw + "a,-1,5,1\n", "t:2:", "column 'submission_time': '-1' is outside"},
    {"raw: GPUs", kRaw + "a,0,5,1.5\n", "t:2:", "column 'num_gpu': is not a whole number"},
    {"raw: absurd", kRaw + "a,0,1e300,1\n", "t:2:", "column 'duration': '1e300' is outside"},
    {"raw: fields", kRaw + "a,0\n", "t:2:", "has 2 fields, but the header names 4"},
    {"raw: other column", "job_id,submission_time,duration,num_gpu,x\n", "t:1:", "column 'x'"},
    {"helios: no id", kHelios + ",u,v,1,1," + kDates, "t:2:", "column 'job_id': is empty"},
    {"helios: date", kHelios + "a,u,v,1,1,soon,2021-03-01 09:00:30,2021-03-01 10:00:30\n",
     "t:2:", "column 'submit_time': 'soon' is not a date such as"},
    {"helios: day", kHelios + "a,u,v,1,1,2021-02-29 09:00:00,None,None\n",
     "t:2:", "'2021-02-29 09:00:00' is not a date"},
    {"helios: GPUs", kHelios + "a,u,v,-1,1," + kDates, "t:2:", "column 'gpu_num': '-1' is outside"},
    {"helios: CPUs", kHelios + "a,u,v,1,x," + kDates, "t:2:", "column 'cpu_num': 'x' is not"},
    {"helios: user", kHelios + "a,u\x01,v,1,1," + kDates, "t:2:", "no control characters"},
    {"helios: fields", kHelios + "a,u\n", "t:2:", "has 2 fields"},
    {"helios: no column", "job_id,vc,gpu_num,submit_time,start_time\n",
     "t:1:", "helios (no column 'end_time')"},
    {"acme: date", kAcme + "a,u,1,8,1,1,Other,x," + kZoned.substr(26),
     "t:2:", "column 'submit_time': 'x' is not a date"},
    {"acme: memory", kAcme + "a,u,1,8,1,lots,Other," + kZoned,
     "t:2:", "column 'mem_per_pod_GB': 'lots' is not a number"},
    {"acme: much memory", kAcme + "a,u,1000,8,1,100000,Other," + kZoned,
     "t:2:", "times node_num is more than"},
    {"acme: GPUs", kAcme + "a,u,1,x,1,1,Other," + kZoned, "t:2:", "column 'gpu_num': 'x' is not"},
    {"openb: GPUs", kOpenb + "a,1,1,x,1000,,0,5,0\n", "t:2:", "column 'num_gpu': 'x' is not"},
    {"openb: part", kOpenb + "a,1,1,1,1001,,0,5,0\n", "t:2:", "column 'gpu_milli': '1001' is out"},
    {"openb: time", kOpenb + "a,1,1,1,1000,,x,5,0\n", "t:2:", "column 'creation_time': 'x' is not"},
    {"openb: types", kOpenb + "a,1,1,1,1000,A|\x01,0,5,0\n", "t:2:", "no control characters"},
    {"openb: memory", kOpenb + "a,1,1e9,1,1000,,0,5,0\n", "t:2:", "column 'memory_mib': '1e9' is"},
    {"openb: some times", "name,num_gpu,gpu_milli,creation_time\na,1,1000,0\n",
     "t:1:", "give all three, or none"},
    {"philly-csv: date", "timestamp,duration,num_gpus\nsoon,5,1\n", "t:2:", "column 'timestamp'"},
    {"philly-csv: duration", "timestamp,duration,num_gpus\n2017-10-09 07:01:55,-5,1\n",
     "t:2:", "column 'duration': '-5' is out"},
    {"dlrm: GPUs", kDlrm + "a,x,1,1,0,0,5\n", "t:2:", "column 'gpu_request': 'x' is not"},
    {"dlrm: CPUs", kDlrm + "a,1,-1,1,0,0,5\n", "t:2:", "column 'cpu_request': '-1' is out"},
    {"dlrm: memory", kDlrm + "a,1,1,nan,0,0,5\n", "t:2:", "column 'memory_request'"},
    {"durations: text", "duration\nlong\n", "t:2:", "column 'duration': 'long' is not"},
    {"gzip", "\x1F\x8B\x08 rest", "t:", "is compressed with gzip; unpack it"},
    {"zstd", "\x28\xB5\x2F\xFD rest", "t:", "is compressed with zstd; unpack it"},
    {"semicolons", "job_id;submit_s;gpus;duration_s\na;0;1;5\n",
     "t:1:", "separates its columns by ';'"},
    {"pai: instances", kPai + "a,t,x,Failed,0,1,1,1,1,T4\n",
     "t:2:", "column 'inst_num': 'x' is not"},
    {"pai: share", kPai + "a,t,1,Failed,0,1,1,1,-50,T4\n",
     "t:2:", "column 'plan_gpu': '-50' is out"},
    {"pai: no name", kPai + ",t,1,Failed,0,1,1,1,50,T4\n", "t:2:", "column 'job_name': is empty"},
    {"pai: fields", "a,t,1.0,Failed,0,1,1,1,50,T4\nb,t\n",
     "t:2:", "has 2 fields, but the format has 10 columns"},
    {"pai: sum", kPai + "a,t,1000000,Failed,0,1,1,1,200,T4\n", "t:", "job 'a', first at line 2"},
    {"pai: table of jobs", "a,i,u,Failed,0,1\n", "t:1:", "this is the table of jobs"},
    {"gavel: workers", kGavel + "500\t0\t1\t-1\t0\n", "t:1:", "column 'scale_factor': '0' is out"},
    {"gavel: steps", kGavel + "x\t1\t1\t-1\t0\n", "t:1:", "column 'total_steps': 'x' is not"},
    {"gavel: SLO", kGavel + "500\t1\t1\tsoon\t0\n", "t:1:", "column 'SLO': 'soon' is not"},
    {"gavel: far SLO", kGavel + "5e9\t1\t1\t1e6\t0\n", "t:1:", "is more than 100 years later"},
    {"gavel: arrival", kGavel + "500\t1\t1\t-1\t-5\n",
     "t:1:", "column 'arrival_time': '-5' is out"},
    {"gavel: batch", "LM (batch size x)\tp\tl\t-s\t1\t5\t1\t1\t-1\t0\n",
     "t:1:", "column 'job_type': 'x' is not a whole number"},
    {"gavel: bracket", "LM (batch size 5\tp\tl\t-s\t1\t5\t1\t1\t-1\t0\n",
     "t:1:", "has no ) after the batch size"},
    {"gavel: fields", kGavel + "500\t1\t1\t-1\t0\na\tb\n",
     "t:2:", "has 2 fields, but the format has 10 columns"},
    {"gavel: old workers", kOldGavel + "500\t0.0\tx\n",
     "t:1:", "column 'scale_factor': 'x' is not"},
    {"gavel: old time", kOldGavel + "500\tx\t1\n", "t:1:", "column 'arrival_time': 'x' is not"},
    {"sia: time", kSia + "a,x,bert,1,1\n", "t:2:", "column 'time': 'x' is not a number"},
    {"sia: replicas", kSia + "a,0,bert,-1,1\n", "t:2:", "column 'num_replicas': '-1' is outside"},
    {"sia: no application", kSia + "a,0,,1,1\n", "t:2:", "column 'application': is empty"},
    {"gen-parallel: interval", kGen + "a,u,1,0,-5,9\n", "t:2:", "column 'interval': '-5' is out"},
    {"gen-parallel: run time", kGen + "a,u,1,0,5,x\n", "t:2:", "column 'run_time': 'x' is not"},
    {"gen-parallel: sum", kGen + "a,u,1,0,3e9,9\nb,u,1,0,3e9,9\n", "t:3:", "more than 100 years"},
    {"slurm: no GPUs", "JobID|Submit|Elapsed\n1|2|3\n", "t:1:", "let sacct print ReqTRES"},
    {"slurm: no times", "JobID|Elapsed|ReqTRES\n", "t:1:", "let sacct print Submit"},
    {"slurm: no length", "JobID|Submit|ReqTRES\n", "t:1:", "let sacct print Elapsed"},
    {"slurm: date", kSlurm + "1|now|Unknown|Unknown|00:00:01|cpu=1|\n",
     "t:2:", "column 'Submit': 'now' is not a date"},
    {"slurm: elapsed", kSlurm + "1|" + kTimes + "long|gres/gpu=1|\n",
     "t:2:", "column 'Elapsed': 'long' is not a length of time"},
    {"slurm: resources", kSlurm + "1|" + kTimes + "00:00:10|gres/gpu=x|\n",
     "t:2:", "column 'ReqTRES': 'x' is not a whole number"},
    {"slurm: memory", kSlurm + "1|" + kTimes + "00:00:10|gres/gpu=1|lots\n",
     "t:2:", "column 'ReqMem': 'lots' is not a number"},
    {"slurm: fields", kSlurm + "1|x\n", "t:2:", "has 2 fields"},
    {"philly: empty list", "[]", "t:1:", "philly (no list of objects in JSON)"},
    {"philly: cut off", "[{", "t:1:", "the file ends inside the JSON text"},
    {"philly: no id", R"([{"user":"a"}])", "t:1:", "a job has no 'jobid'"},
    {"philly: number", R"([{"jobid":5}])", "t:1:", "'jobid' is not a string"},
    {"philly: name", "[{\"jobid\":\"a\\u0001\"}]", "t:1:", "'jobid': a name may hold no control"},
    {"philly: later",
     R"([{"jobid":"a"},)"
     "\n7]",
     "t:2:", "holds something that is no object"},
    {"philly: attempts", philly(R"(,"attempts":7)"), "t:1:", "'attempts' is not a list"},
    {"philly: date", attempt("\"soon\"", "\"None\"", "[]"), "t:1:", "'start_time': 'soon' is not"},
    {"philly: detail", attempt("null", "null", "[7]"), "t:1:", "'detail' holds something"},
    {"philly: GPUs", attempt("null", "null", R"([{"gpus":"all"}])"),
     "t:1:", "'gpus' is not a list"},
    {"philly: long string", philly(",\"x\":\"" + std::string(1 << 20, 'x') + "\""),
     "t:1:", "a text is longer than 4096 bytes"},
    {"philly: deep", philly(",\"x\":" + std::string(1 << 20, '[')),
     "t:1:", "nested deeper than 64"},
    {"philly: after it", philly("") + " x", "t:1:", "something follows the end"},
};

TEST(BadPublicTrace, IsRefusedWithFileLineAndFault) {
  for (const Case& bad : kCases) {
    std::istringstream in(bad.text);
    const auto result = parse_trace("t", in, {});
    ASSERT_FALSE(result.ok()) << bad.what;
    EXPECT_EQ(result.error().code, Code::InvalidArgument) << bad.what;
    EXPECT_TRUE(result.error().message.starts_with(bad.place))
        << bad.what << ": " << result.error().message;
    EXPECT_NE(result.error().message.find(bad.message), std::string::npos)
        << bad.what << ": " << result.error().message;
  }
}

TEST(BadPublicTrace, EveryTruncationOfASampleIsReadOrRefused) {
  for (const char* file :
       {"helios.csv", "acme-kalos.csv", "acme-seren.csv", "openb-pods.csv",
        "pai2020/pai_task_table.csv", "gavel.trace", "gavel-old.trace", "sia.csv",
        "elasticflow-raw.csv", "gen-parallel.csv", "sacct.txt", "philly.json", "philly-table.csv",
        "dlrm2025.csv", "durations.csv", "openb-pods-snapshot.csv"}) {
    std::ifstream in(std::string(ORRERY_SOURCE) + "/data/samples/" + file);
    std::stringstream whole;
    whole << in.rdbuf();
    const std::string text = whole.str();
    ASSERT_FALSE(text.empty()) << file;
    for (std::size_t length = 0; length < text.size(); ++length) {
      std::istringstream cut(text.substr(0, length));
      const auto result = parse_trace("t", cut, {});
      if (!result.ok()) {
        EXPECT_EQ(result.error().code, Code::InvalidArgument) << file << " " << length;
      }
    }
  }
}

// Gives `count` bytes of a text that repeats after a beginning, without holding them.
class Endless : public std::streambuf {
 public:
  Endless(std::string begin, std::string repeated, std::size_t count)
      : now_(std::move(begin)), repeated_(std::move(repeated)), left_(count) {
    setg(now_.data(), now_.data(), now_.data() + now_.size());
  }

 protected:
  int_type underflow() override {
    if (left_ < repeated_.size()) return traits_type::eof();
    left_ -= repeated_.size();
    now_ = repeated_;
    setg(now_.data(), now_.data(), now_.data() + now_.size());
    return traits_type::to_int_type(now_[0]);
  }

 private:
  std::string now_;
  std::string repeated_;
  std::size_t left_;
};

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

TEST(Philly, OneJobWithVeryManyAttemptsOrGpusIsReadInTheMemoryOfOne) {
  constexpr std::size_t kBytes = 250'000'000;
  const double before_mb = peak_mb();
  const std::string one =
      R"({"start_time":"2017-10-07 01:12:09","end_time":"2017-10-07 01:12:10","detail":[]},)";
  Endless text(R"([{"jobid":"a","attempts":[)", one, kBytes);
  std::istream in(&text);
  const auto result = parse_trace("t", in, {});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().message.find("the file ends inside the JSON text"), std::string::npos);
  Endless gpus(R"([{"jobid":"a","attempts":[{"detail":[{"gpus":[)", "\"gpu0\",", kBytes);
  std::istream gpus_in(&gpus);
  const auto many = parse_trace("t", gpus_in, {});
  ASSERT_FALSE(many.ok());
  EXPECT_NE(many.error().message.find("the file ends inside"), std::string::npos);
  EXPECT_LT(peak_mb() - before_mb, 100);
}

}  // namespace
}  // namespace orrery
