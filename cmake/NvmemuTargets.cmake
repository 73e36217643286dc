# SPDX-License-Identifier: Apache-2.0
# One function per kind of target, so that warnings, sanitizers and the layers' include rules are said once.

add_library(nvmemu_options INTERFACE)
target_compile_options(nvmemu_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                -Wno-sign-conversion -Werror=return-type)
# GCC 12 takes std::string's own memcpy() for one that overlaps (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(nvmemu_options INTERFACE -Wno-restrict)
endif()
if(NVMEMU_WERROR)
  target_compile_options(nvmemu_options INTERFACE -Werror)
endif()
if(NVMEMU_SANITIZE)
  target_compile_options(nvmemu_options INTERFACE -fsanitize=${NVMEMU_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(nvmemu_options INTERFACE -fsanitize=${NVMEMU_SANITIZE})
endif()

# nvmemu_compile_together(TARGET ...): their files are compiled eight at a time, which takes a third of the time where most of
# it goes into what they include; names that are a file's own are to differ within a target. What is walked or measured, or
# must take in nothing of other files, is compiled apart. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON: each file by itself.
function(nvmemu_compile_together)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${ARGN} PROPERTIES UNITY_BUILD ON)
  endif()
endfunction()

# nvmemu_compile_apart(SOURCE ...): of a target whose files are compiled together, those that stay by themselves.
function(nvmemu_compile_apart)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# nvmemu_compile_quickly(TARGET ...): command lines, and what is read, printed and written once a run. Nobody waits for them, but
# whoever compiles them, who waits a third to a half less.
function(nvmemu_compile_quickly)
  if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
    foreach(target ${ARGN})
      target_compile_options(${target} PRIVATE -Og)
    endforeach()
  endif()
endfunction()

# nvmemu_share_headers(TARGET ...): of those that link fmt. What nearly all of them include, of fmt, JSON and the standard library,
# is compiled once for libraries and once for programs (whose code need not move).
add_executable(nvmemu_program_headers EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/no_program.cc)
add_library(nvmemu_library_headers STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/no_program.cc)
foreach(headers nvmemu_program_headers nvmemu_library_headers)
  target_link_libraries(${headers} PRIVATE fmt::fmt nvmemu_json nvmemu_options)
  target_precompile_headers(${headers} PRIVATE ${CMAKE_CURRENT_LIST_DIR}/common_headers.h)
endforeach()
function(nvmemu_share_headers)
  if(NVMEMU_FUZZERS)  # a fuzzer's libraries have flags of their own
    return()
  endif()
  foreach(target ${ARGN})
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "EXECUTABLE")
      target_precompile_headers(${target} REUSE_FROM nvmemu_program_headers)
    else()
      target_precompile_headers(${target} REUSE_FROM nvmemu_library_headers)
    endif()
  endforeach()
endfunction()

# nvmemu_add_layer(NAME SOURCES ... [DEPENDS lower layers ...] [LIBRARIES ...])
#
# A layer's headers are reachable, as "NAME/header.h", only through its target: its include path holds one link,
# to its own folder. A layer that includes another without depending on it does not compile.
function(nvmemu_add_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  set(include_root ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${include_root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${include_root}/${name} SYMBOLIC)
  add_library(nvmemu_${name} STATIC ${ARG_SOURCES})
  target_include_directories(nvmemu_${name} PUBLIC ${include_root})
  list(TRANSFORM ARG_DEPENDS PREPEND nvmemu_)
  foreach(lower ${ARG_DEPENDS})
    if(NOT TARGET ${lower})
      message(FATAL_ERROR "layer ${name} depends on ${lower}, which is not below it")
    endif()
  endforeach()
  target_link_libraries(nvmemu_${name} PUBLIC ${ARG_DEPENDS} ${ARG_LIBRARIES} PRIVATE nvmemu_options)
endfunction()

# How tests are compiled: what they test is optimised, they themselves hardly; and what nearly all of them include, of
# GoogleTest and the standard library, is compiled once. -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON: each file takes its own
# includes.
if(NVMEMU_TESTS)
  add_library(nvmemu_test_options INTERFACE)
  target_link_libraries(nvmemu_test_options INTERFACE GTest::gtest GTest::gmock nvmemu_options)
  if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo)$")
    target_compile_options(nvmemu_test_options INTERFACE -Og)
  endif()
  add_executable(nvmemu_test_headers ${CMAKE_CURRENT_LIST_DIR}/no_program.cc)
  target_link_libraries(nvmemu_test_headers PRIVATE nvmemu_test_options)
  target_precompile_headers(nvmemu_test_headers PRIVATE ${CMAKE_CURRENT_LIST_DIR}/test_headers.h)
endif()

# nvmemu_add_test(NAME SOURCES ... LINK ... [HARDWARE PATTERN ...] [SERIAL]): one GoogleTest program, each of its tests
# known to ctest. HARDWARE: those of its tests that measure this machine, its caches, memory or clocks, and may differ
# where neighbours do; they have the label `hardware`, and no other test of the program has. SERIAL: while one of them
# runs, no other test does.
function(nvmemu_add_test name)
  if(NOT NVMEMU_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "SERIAL" "" "SOURCES;LINK;HARDWARE" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest_main nvmemu_test_options)
  target_precompile_headers(${name} REUSE_FROM nvmemu_test_headers)
  nvmemu_compile_together(${name})
  include(GoogleTest)
  if(ARG_HARDWARE)
    list(JOIN ARG_HARDWARE ":" hardware)
    gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST TEST_FILTER ${hardware}
                         PROPERTIES TIMEOUT 120 RUN_SERIAL ${ARG_SERIAL} LABELS hardware)
    set(others TEST_FILTER -${hardware})
  endif()
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST ${others}
                       PROPERTIES TIMEOUT 120 RUN_SERIAL ${ARG_SERIAL})
endfunction()

# nvmemu_add_benchmark(NAME SOURCES ... LINK ...): one Google Benchmark program.
function(nvmemu_add_benchmark name)
  if(NOT NVMEMU_BENCHMARKS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  find_package(benchmark REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark nvmemu_options)
endfunction()

# nvmemu_add_fuzzer(NAME SOURCES ... LINK ...): a libFuzzer program (clang only), of the target `fuzzers`: the library to
# preload does not link with clang's sanitizers.
function(nvmemu_add_fuzzer name)
  if(NOT NVMEMU_FUZZERS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_compile_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} nvmemu_options)
  if(NOT TARGET fuzzers)
    add_custom_target(fuzzers)
  endif()
  add_dependencies(fuzzers ${name})
endfunction()

# nvmemu_header_library(NAME FOLDER HEADER): a library that is headers only, in /usr/include/FOLDER. Reached by a link in a
# folder of its own, so that a cross build does not search the host's /usr/include, and only what links the target gets it.
function(nvmemu_header_library name folder header)
  find_path(NVMEMU_${name}_DIR NAMES ${header} PATHS /usr/include/${folder} NO_DEFAULT_PATH REQUIRED
            NO_CMAKE_FIND_ROOT_PATH)
  set(include_root ${PROJECT_BINARY_DIR}/third_party/${name})
  file(MAKE_DIRECTORY ${include_root})
  file(CREATE_LINK ${NVMEMU_${name}_DIR} ${include_root}/${folder} SYMBOLIC)
  add_library(nvmemu_${name} INTERFACE)
  target_include_directories(nvmemu_${name} SYSTEM INTERFACE ${include_root})
endfunction()

nvmemu_header_library(expected tl expected.hpp)
nvmemu_header_library(toml toml++ toml.h)
target_compile_definitions(nvmemu_toml INTERFACE TOML_EXCEPTIONS=0)
nvmemu_header_library(json nlohmann json.hpp)
# fmt without its library, for what is also loaded into other processes.
nvmemu_header_library(fmt_headers fmt core.h)
target_compile_definitions(nvmemu_fmt_headers INTERFACE FMT_HEADER_ONLY=1)
