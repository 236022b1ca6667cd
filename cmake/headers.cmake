# read_headers_once(<target> rooms|tests)
#
# Most of the time a file takes to compile goes into headers of the library that nearly every file
# includes. With ORRERY_PCH they are compiled once for the rooms and once for the tests.
if(ORRERY_PCH)
  file(WRITE ${PROJECT_BINARY_DIR}/headers.cc "")
  set(common
      <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <cstdint> <cstdio> <deque>
      <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random>
      <ranges> <set> <span> <sstream> <string> <string_view> <thread> <tuple> <unordered_map>
      <utility> <variant> <vector> <fmt/format.h>)
  add_library(rooms_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cc)
  target_link_libraries(rooms_headers PRIVATE fmt::fmt)
  target_precompile_headers(rooms_headers PRIVATE ${common})
  if(ORRERY_TESTS)
    add_library(tests_headers OBJECT ${PROJECT_BINARY_DIR}/headers.cc)
    target_link_libraries(tests_headers PRIVATE fmt::fmt nlohmann_json::nlohmann_json
                                                GTest::gtest_main)
    target_precompile_headers(tests_headers PRIVATE ${common} <nlohmann/json.hpp> <gtest/gtest.h>)
  endif()
endif()

function(read_headers_once target kind)
  if(NOT ORRERY_PCH)
    return()
  endif()
  # Where other flags make the compiled headers unfit, they are read as text.
  set_target_properties(${target} PROPERTIES PCH_WARN_INVALID OFF)
  target_precompile_headers(${target} REUSE_FROM ${kind}_headers)
  # What is left of a test's time is optimizing checks that run once.
  if(kind STREQUAL "tests")
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()
