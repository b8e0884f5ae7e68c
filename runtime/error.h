// Errors of Torus: three kinds of exceptions, by who can fix the cause.
//
// A message names the operation or file in brackets, what was required and what was found:
//   [matmul] inner sizes differ: (2, 3) x (4, 5)
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace torus {

// Base class of all exceptions that Torus throws deliberately.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's arguments, flags or files are wrong; the caller can fix it.
class BadInput : public Error {
 public:
  using Error::Error;
};

// The machine or a peer failed: disk full, out of memory, a rank that died or stopped.
class BrokenEnvironment : public Error {
 public:
  using Error::Error;
};

// A bug in Torus.
class InternalError : public Error {
 public:
  using Error::Error;
};

// Throws `Kind` with "[where] formatted message".
template <class Kind, class... Args>
[[noreturn]] void Throw(std::string_view where, fmt::format_string<Args...> format,
                        Args&&... args) {
  throw Kind(fmt::format("[{}] {}", where, fmt::format(format, std::forward<Args>(args)...)));
}

// Throws BadInput unless `ok`. The message is formatted only if it is thrown, so pass shapes,
// tensors and devices themselves, not their text.
template <class... Args>
void Require(bool ok, std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  if (!ok) [[unlikely]]
    Throw<BadInput>(where, format, std::forward<Args>(args)...);
}

namespace internal {
[[noreturn]] void FailCheck(const char* condition, const char* file, int line,
                            const std::string& message);
}  // namespace internal

// Throws InternalError with file and line unless `condition` holds. For Torus' own invariants.
#define TORUS_CHECK(condition, ...)                                                                \
  do {                                                                                             \
    if (!(condition)) [[unlikely]]                                                                 \
      ::torus::internal::FailCheck(#condition, __FILE__, __LINE__, ::fmt::format("" __VA_ARGS__)); \
  } while (false)

}  // namespace torus
