#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>

#include "workload/text/line_reader.h"
#include "workload/trace.h"

namespace orrery {
namespace {

struct Case {
  std::string what;
  std::string text;
  std::string place;    // with which the message begins
  std::string message;  // which it contains
};

const std::string kOurs = "job_id,submit_s,gpus,duration_s\n";
const std::string kWork = "job_id,submit_s,gpus,duration_s,iterations,iteration_s\n";
const std::string kMore = "job_id,submit_s,gpus,duration_s,priority,deadline_s,cpus,user\n";
const std::string kStaged = "job_id,submit_s,gpus,duration_s,stages_s,stage_slots\n";
const std::string kSpeedy =
    "job_id,submit_s,gpus,duration_s,deadline_kind,deadline_value,speeds,speed_gpus,speed_nodes\n";
const std::string kHost =
    "job_id,submit_s,gpus,duration_s,host_speeds,host_cpus,host_memory_gb,ideal_cpus,"
    "ideal_memory_gb\n";
const std::string kMuri = "job_id,num_gpu,submit_time,iterations,iteration_time,resource_time_0\n";
const std::string kTiresias = "job_id,num_gpu,submit_time,iterations,duration\n";
const std::string kElasticFlow = "job_id,submit_time,iteration,ddl,num_gpu,duration,best_effort\n";
const std::string kChronus =
    "job_id,num_gpu,submit_time,iterations,duration,expect_time_list,expect_value_list,job_type\n";
const std::string kJson = R"({"job_id":"a","submit_s":0,"gpus":1,"duration_s":5)";

const std::vector<Case> kCases = {
    {"empty file", "", "t:", "is empty"},
    {"blank file", "\n \n\t\n", "t:", "is empty"},
    {"header only", kOurs, "t:", "no jobs"},
    {"binary",
     std::string("\x7f"
                 "ELF\0\0\1",
                 7),
     "t:1:", "looks binary"},
    {"binary later", kOurs + std::string("a,0,1,5\nb\0,1,1,5\n", 17), "t:3:", "looks binary"},
    {"unrecognised", "a,b,c\n1,2,3\n", "t:1:", "tried muri (no column 'job_id'), chronus"},
    {"unrecognised json", "[1,2]\n", "t:1:", "nor a JSON object"},
    {"over-long line", kOurs + std::string(kLineBytesMax + 1, 'a'), "t:2:", "is longer than"},
    {"truncated line", kOurs + "a,0,1,5\nb,0\n", "t:3:", "has 2 fields, but the header names 4"},
    {"extra field", kOurs + "a,0,1,5,6\n", "t:2:", "has 5 fields"},
    {"missing column", "job_id,submit_s,duration_s\n", "t:1:", "no column 'gpus'"},
    {"unknown column", "job_id,submit_s,gpus,size\n", "t:1:", "unknown column 'size'; the known"},
    {"column twice", "job_id,submit_s,gpus,gpus\n", "t:1:", "column 'gpus' comes twice"},
    {"nameless column", "job_id,submit_s,gpus,\n", "t:1:", "unknown column ''"},
    {"open quote", kOurs + "\"a,0,1,5\n", "t:2:", "a quoted field must end"},
    {"text after quote", kOurs + "\"a\"b,0,1,5\n", "t:2:", "a quoted field must end"},
    {"text in a number", kOurs + "a,0,1,5s\n", "t:2:", "column 'duration_s': '5s' is not a num"},
    {"text in a time", kOurs + "a,soon,1,5\n", "t:2:", "column 'submit_s': 'soon' is not a num"},
    {"fraction of a GPU", kOurs + "a,0,1.5,5\n", "t:2:", "'1.5' is not a whole number"},
    {"hexadecimal", kOurs + "a,0,0x10,5\n", "t:2:", "'0x10' is not a whole number"},
    {"plus sign", kOurs + "a,+1,1,5\n", "t:2:", "'+1' is not a number"},
    {"comma as point", kOurs + "a,\"0,5\",1,5\n", "t:2:", "'0,5' is not a number"},
    {"nan", kOurs + "a,0,1,nan\n", "t:2:", "'nan' is not a finite number"},
    {"infinity", kOurs + "a,inf,1,5\n", "t:2:", "'inf' is not a finite number"},
    {"overflow", kOurs + "a,0,1,1e999\n", "t:2:", "'1e999' is outside"},
    {"negative time", kOurs + "a,-1,1,5\n", "t:2:", "column 'submit_s': '-1' is outside 0 to"},
    {"negative duration", kOurs + "a,0,1,-5\n", "t:2:", "'-5' is outside"},
    {"no duration", kOurs + "a,0,1,0\n", "t:2:", "'0' is outside 1e-09 to 3155760000"},
    {"past 100 years", kOurs + "a,3155760001,1,5\n", "t:2:", "'3155760001' is outside"},
    {"too many digits", kOurs + "a,99999999999999999999999,1,5\n", "t:2:", "is outside"},
    {"duration past 100 years", kOurs + "a,0,1,4e9\n", "t:2:", "'4e9' is outside"},
    {"no GPUs", kOurs + "a,0,0,5\n", "t:2:", "column 'gpus': '0' is outside 1 to 1000000"},
    {"negative GPUs", kOurs + "a,0,-2,5\n", "t:2:", "'-2' is outside 1 to 1000000"},
    {"too many GPUs", kOurs + "a,0,1000001,5\n", "t:2:", "'1000001' is outside"},
    {"GPUs past the integers", kOurs + "a,0,99999999999999999999,5\n", "t:2:", "is outside"},
    {"empty id", kOurs + ",0,1,5\n", "t:2:", "column 'job_id': is empty"},
    {"empty GPUs", kOurs + "a,0,,5\n", "t:2:", "column 'gpus': is empty"},
    {"duplicate id", kOurs + "a,0,1,5\nb,0,1,5\na,9,1,5\n", "t:4:", "job_id 'a' was used before"},
    {"control character", kOurs + "a\x01,0,1,5\n", "t:2:", "no control characters"},
    {"broken UTF-8", kOurs + "a\xC3,0,1,5\n", "t:2:", "must be UTF-8"},
    {"long name", kOurs + std::string(2000, 'n') + ",0,1,5\n", "t:2:", "longer than 1024"},
    {"no work", kWork + "a,0,1,,,\n", "t:2:", "the work is not known: give duration_s"},
    {"half the work", kWork + "a,0,1,,10,\n", "t:2:", "the work is not known"},
    {"work disagrees", kWork + "a,0,1,20.3,10,2\n", "t:2:", "20.3 s is not iterations x"},
    {"too many iterations", kWork + "a,0,1,,2e15,1e-7\n", "t:2:", "'2e15' is outside"},
    {"work past 100 years", kWork + "a,0,1,,1e10,1\n", "t:2:", "a duration of 1e+10 s"},
    {"iteration below 1 ns", kWork + "a,0,1,1,1e12,\n", "t:2:", "an iteration of 1e-12 s"},
    {"priority 2", kMore + "a,0,1,5,2,,,\n", "t:2:", "column 'priority': '2' is outside 0 to 1"},
    {"deadline before 0", kMore + "a,9,1,5,,-8,,\n", "t:2:", "column 'deadline_s': '-8' is out"},
    {"deadline kind", kSpeedy + "a,0,1,5,firm,,,,\n",
     "t:2:", "column 'deadline_kind': must be hard or soft"},
    {"deadline value", kSpeedy + "a,0,1,5,,-1,,,\n",
     "t:2:", "column 'deadline_value': '-1' is outside"},
    {"speeds alone", kSpeedy + "a,0,1,5,,,1;2,,\n",
     "t:2:", "column 'speed_gpus': is empty, but speeds is not"},
    {"GPUs of no speeds", kSpeedy + "a,0,1,5,,,,1;2,\n",
     "t:2:", "column 'speed_gpus': is given without speeds"},
    {"few speed GPUs", kSpeedy + "a,0,1,5,,,1;2,1,\n", "t:2:", "has fewer numbers than speeds"},
    {"many speed GPUs", kSpeedy + "a,0,1,5,,,1;2,1;2;4,\n", "t:2:", "has more numbers than speeds"},
    {"speed of no GPUs", kSpeedy + "a,0,1,5,,,1;2,0;2,\n", "t:2:", "'0' is outside 1 to"},
    {"GPUs that fall", kSpeedy + "a,0,1,5,,,1;2,2;1,\n", "t:2:", "column 'speed_gpus': must rise"},
    {"GPUs twice", kSpeedy + "a,0,1,5,,,1;2,2;2,0;0\n", "t:2:", "column 'speed_gpus': must rise"},
    {"negative speed", kSpeedy + "a,0,1,5,,,-1,1,\n", "t:2:", "column 'speeds': '-1' is outside"},
    {"no speed at all", kSpeedy + "a,0,1,5,,,0;0,1;2,\n",
     "t:2:", "column 'speeds': has no GPU count the job can run on"},
    {"host: CPUs alone", kHost + "a,0,1,5,,1,,,\n",
     "t:2:", "column 'host_cpus': is given without host_speeds"},
    {"host: ideal alone", kHost + "a,0,1,5,,,,1,\n", "t:2:", "'ideal_cpus': is given without"},
    {"host: no CPUs", kHost + "a,0,1,5,1,,8,,\n", "t:2:", "'host_cpus': is empty, but host_speeds"},
    {"host: 0 CPUs", kHost + "a,0,1,5,1;1,0;1,8,,\n", "t:2:", "no job runs without a CPU"},
    {"host: CPUs fall", kHost + "a,0,1,5,1;1,2;1,8,,\n", "t:2:", "'host_cpus': must rise"},
    {"host: few speeds", kHost + "a,0,1,5,1;1,1;2,8;9,,\n",
     "t:2:", "has 2 numbers; host_cpus and host_memory_gb make 4"},
    {"host: no speed", kHost + "a,0,1,5,0;1,1;2,8,,\n", "t:2:", "'host_speeds': '0' is outside"},
    {"host: speeds fall", kHost + "a,0,1,5,2;1,1;2,8,,\n", "t:2:", "must not fall with more CPUs"},
    {"host: ideal text", kHost + "a,0,1,5,1;2,1;2,8,x,\n", "t:2:", "'ideal_cpus': 'x' is not"},
    {"negative CPUs", kMore + "a,0,1,5,,,-1,\n", "t:2:", "column 'cpus': '-1' is outside"},
    {"stage without number", kStaged + "a,0,1,5,1;;2,\n", "t:2:", "'' is not a number"},
    {"negative stage", kStaged + "a,0,1,5,1;-2,\n", "t:2:", "'-2' is outside"},
    {"stages of no time", kStaged + "a,0,1,5,0;0,\n", "t:2:", "all stages take no time"},
    {"slots alone", kStaged + "a,0,1,5,,1\n", "t:2:", "is given without stages_s"},
    {"few slots", kStaged + "a,0,1,5,1;2,1\n", "t:2:", "fewer numbers than stages_s"},
    {"many slots", kStaged + "a,0,1,5,1;2,1;1;1\n", "t:2:", "more numbers than stages_s"},
    {"slot 0", kStaged + "a,0,1,5,1;2,1;0\n", "t:2:", "'0' is outside 1 to 16"},
    {"17 stages", kStaged + "a,0,1,5,1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1;1,\n", "t:2:", "than 16"},
    {"muri: no GPUs", kMuri + "a,0,0,1,1,1\n", "t:2:", "column 'num_gpu': '0' is outside"},
    {"muri: stage text", kMuri + "a,1,0,1,1,x\n", "t:2:", "column 'resource_time_0': 'x' is not"},
    {"muri: no iterations", kMuri + "a,1,0,0,1,1\n", "t:2:", "column 'iterations': '0' is out"},
    {"muri: no stage time", kMuri + "a,1,0,1,1,0\n", "t:2:", "all stages take no time"},
    {"muri: duplicate", kMuri + "a,1,0,1,1,1\na,1,0,1,1,1\n", "t:3:", "'a' was used before"},
    {"muri: gap in stages",
     "job_id,num_gpu,submit_time,iterations,iteration_time,resource_time_1\na,1,0,1,1,1\n",
     "t:1:", "'resource_time_1' is there, but not 'resource_time_0'"},
    {"muri: work past 100 years", kMuri + "a,1,0,1e12,1e4,1\n", "t:2:", "a duration of 1e+13 s"},
    {"tiresias: text", kTiresias + "a,1,0,1,x\n", "t:2:", "column 'duration': 'x' is not a num"},
    {"tiresias: duplicate", kTiresias + "a,1,0,1,1\na,1,0,1,1\n", "t:3:", "'a' was used before"},
    {"elasticflow: no GPUs", kElasticFlow + "a,0,1,9,0,5,0\n", "t:2:", "column 'num_gpu': '0' is"},
    {"elasticflow: submitted before 0", kElasticFlow + "a,-1,1,9,1,5,0\n",
     "t:2:", "column 'submit_time': '-1' is outside"},
    {"elasticflow: deadline before 0", kElasticFlow + "a,0,1,-9,1,5,0\n",
     "t:2:", "column 'ddl': '-9' is outside"},
    {"elasticflow: deadline text", kElasticFlow + "a,0,1,soon,1,5,0\n",
     "t:2:", "column 'ddl': 'soon' is not a number"},
    {"elasticflow: no iterations", kElasticFlow + "a,0,0,9,1,5,0\n",
     "t:2:", "column 'iteration': '0' is outside"},
    {"elasticflow: no duration", kElasticFlow + "a,0,1,9,1,0,0\n",
     "t:2:", "column 'duration': '0' is outside"},
    {"elasticflow: flag", kElasticFlow + "a,0,1,9,1,5,2\n",
     "t:2:", "column 'best_effort': '2' is outside 0 to 1"},
    {"elasticflow: duplicate", kElasticFlow + "a,0,1,9,1,5,0\na,0,1,9,1,5,0\n",
     "t:3:", "'a' was used before"},
    {"elasticflow: two spellings", "job_id,submit_time,iteration,ddl,deadline,num_gpu,duration\n",
     "t:1:", "columns 'deadline' and 'ddl' say the same; keep one"},
    {"elasticflow: no submission", "job_id,iteration,num_gpu,duration\n",
     "t:1:", "elasticflow (no column 'submission_time' or 'submit_time')"},
    {"chronus: type", kChronus + "a,1,0,1,5,9,1,late\n",
     "t:2:", "column 'job_type': must be strict, soft or best"},
    {"chronus: no time", kChronus + "a,1,0,1,5,,1,strict\n",
     "t:2:", "column 'expect_time_list': is empty"},
    {"chronus: time text", kChronus + "a,1,0,1,5,9-x,1-1,soft\n",
     "t:2:", "column 'expect_time_list': 'x' is not a number"},
    {"chronus: negative time", kChronus + "a,1,0,1,5,-9,1,strict\n",
     "t:2:", "column 'expect_time_list': '' is not a number"},
    {"chronus: far time", kChronus + "a,1,9,1,5,3155760000,1,strict\n",
     "t:2:", "is more than 100 years later"},
    {"chronus: values", kChronus + "a,1,0,1,5,9-10,1,soft\n",
     "t:2:", "column 'expect_value_list': has 1 values for 2 expected times"},
    {"chronus: duplicate", kChronus + "a,1,0,1,5,9,1,soft\na,1,0,1,5,9,1,soft\n",
     "t:3:", "'a' was used before"},
    {"synergy: unknown model", "0,vgg16,0,10,1\n",
     "t:1:", "column 'model_name': no figures of 'vgg16'; the known models are alexnet, res18"},
    {"synergy: no GPUs", "0,alexnet,0,10,0\n", "t:1:", "column 'gpu_demand': '0' is outside 1"},
    {"synergy: half a GPU", "0,alexnet,0,10,0.5\n", "t:1:", "'0.5' is not a whole number"},
    {"synergy: before 0", "0,alexnet,-1,10,1\n", "t:1:", "column 'arrival_s': '-1' is outside"},
    {"synergy: no iterations", "0,alexnet,0,0,1\n", "t:1:", "column 'total_iterations': '0' is"},
    {"synergy: iterations text", "0,lstm,0,1,1\n1,lstm,0,x,1\n", "t:2:", "'x' is not a number"},
    {"synergy: id text", "0,lstm,0,1,1\na,lstm,0,1,1\n", "t:2:", "column 'job_id': 'a' is not a"},
    {"synergy: short line", "0,lstm,0,1,1\n1,lstm,0\n", "t:2:", "has 3 fields, but a job has 5"},
    {"synergy: long line", "0,lstm,0,1,1\n1,lstm,0,1,1,1\n", "t:2:", "has 6 fields"},
    {"synergy: past 100 years", "0,alexnet,0,1e10,1\n", "t:1:", "a duration of 6e+09 s"},
    {"synergy: duplicate", "7,lstm,0,1,1\n7,lstm,1,1,1\n", "t:2:", "'7' was used before"},
    {"json: truncated", kJson, "t:1:", "is not valid JSON"},
    {"json: second line", kJson + "}\n{]\n", "t:2:", "is not valid JSON"},
    {"json: no object", kJson + "}\n7\n", "t:2:", "is not a JSON object"},
    {"json: unknown", kJson + R"(,"size":1})", "t:1:", "unknown field 'size'; the known ones"},
    {"json: twice", kJson + R"(,"gpus":2})", "t:1:", "field 'gpus' comes twice"},
    {"json: kind", kJson + R"(,"cpus":"2"})", "t:1:", "'cpus' must be a number, not a string"},
    {"json: boolean", kJson + R"(,"user":true})", "t:1:", "'user' must be a string, not true"},
    {"json: nested", kJson + R"(,"user":{}})", "t:1:", "'user' must be a string, not an object"},
    {"json: list", kJson + R"(,"stages_s":[[1]]})", "t:1:", "a list may hold numbers only"},
    {"json: empty list", kJson + R"(,"stages_s":[]})", "t:1:", "'stages_s' is an empty list"},
    {"json: overflow", kJson + R"(,"cpus":1e999})", "t:1:", "is not valid JSON"},
    {"json: NUL", kJson + R"(,"user":"a\u0000"})", "t:1:", "no control characters"},
    {"json: missing", R"({"job_id":"a","submit_s":0})", "t:1:", "column 'gpus': is empty"},
};

TEST(BadTrace, IsRefusedWithFileLineAndFault) {
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

TEST(BadTrace, EveryTruncationOfAGoodFileIsReadOrRefused) {
  const std::string text =
      kStaged + "\"a,\"\"b\",0.25,8,5.5,0.1;0.2,2;1\n" + "\"c\",1,1,7,0.1;0.2,2;1\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    std::istringstream in(text.substr(0, length));
    const auto result = parse_trace("t", in, {});
    if (!result.ok()) {
      EXPECT_EQ(result.error().code, Code::InvalidArgument) << length;
    }
  }
}

std::string fault_of(const std::string& path, const TraceOptions& options = {}) {
  const auto result = read_trace(path, options);
  EXPECT_FALSE(result.ok()) << path;
  if (result.ok()) return "";
  EXPECT_EQ(result.error().code, Code::InvalidArgument);
  return result.error().message;
}

TEST(BadTrace, AMissingFileIsNamed) {
  EXPECT_NE(fault_of("no/such/file.csv").find("no/such/file.csv: cannot be opened: No such file"),
            std::string::npos);
}

TEST(BadTrace, ADirectoryIsNoTrace) {
  const std::string directory = std::filesystem::temp_directory_path().string();
  EXPECT_EQ(fault_of(directory), directory + ": is a directory; name a trace file in it");
}

TEST(BadTrace, OptionsAreChecked) {
  std::istringstream in("job_id,submit_s,gpus,duration_s\na,0,1,5\n");
  const auto format = parse_trace("t", in, {.format = "swf"});
  ASSERT_FALSE(format.ok());
  EXPECT_TRUE(format.error().message.starts_with(
      "unknown trace format 'swf'; the known ones are auto, muri, chronus, tiresias, "
      "elasticflow, orrery"))
      << format.error().message;
  EXPECT_FALSE(parse_trace("t", in, {.limit = -1}).ok());
}

}  // namespace
}  // namespace orrery
