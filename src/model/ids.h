#pragma once

#include <cstddef>
#include <cstdint>

namespace orrery {

// Ids are dense: the first job, node or profile is 0, so a table of them is a plain vector.
enum class JobId : std::int32_t {};
enum class NodeId : std::int32_t {};
enum class GroupId : std::int32_t {};    // an interleaving group; numbers start again in each plan
enum class ProfileId : std::int32_t {};  // stage times, in Workload::profiles
enum class CurveId : std::int32_t {};    // speed over GPU counts, in Workload::curves
enum class SensitivityId : std::int32_t {};  // speed over CPUs and memory, in the workload
enum class NameId : std::int32_t {};         // a model, user or GPU type, in Workload::names

enum class ShapeId : std::int32_t {};  // what a job asks of the machines, in the packer

inline constexpr JobId kNoJob{-1};
inline constexpr GroupId kNoGroup{-1};
inline constexpr ProfileId kNoProfile{-1};
inline constexpr CurveId kNoCurve{-1};
inline constexpr SensitivityId kNoSensitivity{-1};
inline constexpr NameId kNoName{-1};

template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace orrery
