# read_headers_once(<target> rooms|tests|computing_tests)
#
# Most of the time a file takes to compile goes into headers of the library that nearly every file
# includes. With ORRERY_PCH they are compiled once for the rooms and once for the tests. nlohmann/json
# stays out: whatever file sees it instantiates its parser, compiled header or not, for 0.4 s.
#
# Tests run each check once, so they are not optimized: that would be a quarter of their compile time.
# The rooms that they call are. Tests that compute for seconds in code of their own, or in templates
# that they share with the rooms, are optimized a little: matching_test takes 2 s or 17 s.
set(tests_optimization -O0)
if(ORRERY_SANITIZE)
  set(tests_optimization -O1)
endif()
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
    target_link_libraries(tests_headers PRIVATE fmt::fmt GTest::gtest_main)
    target_compile_options(tests_headers PRIVATE ${tests_optimization})
    target_precompile_headers(tests_headers PRIVATE ${common} <gtest/gtest.h>)
  endif()
endif()

function(read_headers_once target kind)
  set(headers ${kind})
  if(kind STREQUAL "tests")
    target_compile_options(${target} PRIVATE ${tests_optimization})
  elseif(kind STREQUAL "computing_tests")
    target_compile_options(${target} PRIVATE -O1)
    set(headers rooms) # those of the tests are for -O0
  endif()
  if(NOT ORRERY_PCH)
    return()
  endif()
  # Where other flags make the compiled headers unfit, they are read as text.
  set_target_properties(${target} PROPERTIES PCH_WARN_INVALID OFF)
  target_precompile_headers(${target} REUSE_FROM ${headers}_headers)
endfunction()
