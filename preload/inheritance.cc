// SPDX-License-Identifier: Apache-2.0
#include "inheritance.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "runtime.h"

namespace nvmemu::preload {
namespace {

constexpr char kPreload[] = "LD_PRELOAD=";
constexpr char kPrefix[] = "NVMEMU_";
constexpr char kPolicy[] = "NVMEMU_TASK_POLICY=";
constexpr std::size_t kPolicyCharacters = sizeof kPolicy + EmulatedNodes::kLongestTaskPolicy;
constexpr std::size_t kOwnVariables = 3;  // these two, and the null at the end
constexpr std::size_t kMostVariables = 48;
constexpr std::size_t kMostCharacters = 8192;

// Copies: the program may overwrite what it was given.
struct Remembered {
  char library[2048];  // as LD_PRELOAD has it
  char characters[kMostCharacters];
  const char* variables[kMostVariables];
  std::size_t count;
} remembered;

bool starts_with(const char* text, const char* start) {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}

// As far as the '=', and with it.
std::size_t name_length(const char* variable) {
  const char* end = std::strchr(variable, '=');
  return end == nullptr ? std::strlen(variable) : static_cast<std::size_t>(end - variable) + 1;
}

char* const* find_variable(char* const environment[], const char* variable) {
  const std::size_t length = name_length(variable);
  char* const* at = environment;
  while (*at != nullptr && std::strncmp(*at, variable, length) != 0) ++at;
  return at;
}

std::size_t length_of(char* const environment[]) {
  std::size_t length = 0;
  while (environment[length] != nullptr) ++length;
  return length;
}

bool preloads(const char* preload) { return std::strstr(preload, remembered.library) != nullptr; }

}  // namespace

void remember_inheritance(std::string_view beside) noexcept {
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&remember_inheritance), &library) == 0) return;
  const std::string_view path = library.dli_fname;
  const std::string_view folder = path.substr(0, beside.empty() ? 0 : path.rfind('/') + 1);
  std::snprintf(remembered.library, sizeof remembered.library, "%s%s%.*s%.*s", library.dli_fname,
                beside.empty() ? "" : ":", static_cast<int>(folder.size()), folder.data(),
                static_cast<int>(beside.size()), beside.data());
  std::size_t used = 0;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::size_t bytes = std::strlen(*variable) + 1;
    if (!starts_with(*variable, kPrefix) || starts_with(*variable, kPolicy) ||
        remembered.count == kMostVariables || used + bytes > kMostCharacters)
      continue;
    char* copy = remembered.characters + used;
    std::memcpy(copy, *variable, bytes);
    remembered.variables[remembered.count++] = copy;
    used += bytes;
  }
}

void set_in_environment(const char* name, const char* value) noexcept {
  const std::size_t count = length_of(environ);
  const std::size_t bytes = std::strlen(name) + std::strlen(value) + sizeof "=";
  char* const text = new (std::nothrow) char[bytes];
  char** const variables = new (std::nothrow) char*[count + 2];
  if (text == nullptr || variables == nullptr) return;
  std::snprintf(text, bytes, "%s=%s", name, value);
  const auto at = static_cast<std::size_t>(find_variable(environ, text) - environ);
  std::copy_n(environ, count, variables);
  variables[at] = text;
  variables[std::max(at + 1, count)] = nullptr;
  environ = variables;
}

EnvironmentRoom room_for(char* const environment[]) noexcept {
  const std::size_t own = remembered.count + kOwnVariables;
  const std::size_t characters = sizeof kPreload + std::strlen(remembered.library) + kPolicyCharacters;
  if (environment == nullptr) return {own, characters};
  const char* preload = *find_variable(environment, kPreload);
  return {length_of(environment) + own, characters + 1 + (preload == nullptr ? 0 : std::strlen(preload))};
}

// Of the variable, the other libraries are left, each behind a colon that nobody minds.
char* const* without_library(char* const environment[], char** pointers, char* characters) noexcept {
  if (environment == nullptr || remembered.library[0] == '\0') return environment;
  char* const* const preload = find_variable(environment, kPreload);
  const char* const own = *preload == nullptr ? nullptr : std::strstr(*preload, remembered.library);
  if (own == nullptr) return environment;
  std::copy_n(environment, length_of(environment) + 1, pointers);
  pointers[preload - environment] = characters;
  characters = stpncpy(characters, *preload, static_cast<std::size_t>(own - *preload));
  std::strcpy(characters, own + std::strlen(remembered.library));
  return pointers;
}

char* const* complete_environment(char* const environment[], char** pointers, char* characters) noexcept {
  if (remembered.library[0] == '\0') return environment;
  char* const none[] = {nullptr};
  char* const* given = environment == nullptr ? none : environment;  // as the kernel takes it
  std::size_t count = length_of(given);
  std::memcpy(pointers, given, count * sizeof *pointers);
  bool complete = true;
  for (std::size_t i = 0; i < remembered.count; ++i) {
    if (*find_variable(given, remembered.variables[i]) != nullptr) continue;
    pointers[count++] = const_cast<char*>(remembered.variables[i]);
    complete = false;
  }
  // Where `variable` goes, which may be there already.
  const auto place_of = [&](const char* variable) {
    char* const* found = find_variable(given, variable);
    complete = false;
    return *found == nullptr ? count++ : static_cast<std::size_t>(found - given);
  };
  char* const* preload = find_variable(given, kPreload);
  if (*preload == nullptr || !preloads(*preload)) {
    const char* const others = *preload;
    pointers[place_of(kPreload)] = characters;
    characters = stpcpy(stpcpy(characters, kPreload), remembered.library);
    if (others != nullptr) characters = stpcpy(stpcpy(characters, ":"), others + std::strlen(kPreload));
    ++characters;
  }
  if (const EmulatedNodes& nodes = Runtime::get().nodes(); nodes.are_there()) {
    pointers[place_of(kPolicy)] = characters;
    nodes.task_policy(stpcpy(characters, kPolicy));
  }
  pointers[count] = nullptr;
  return complete ? environment : pointers;
}

}  // namespace nvmemu::preload
