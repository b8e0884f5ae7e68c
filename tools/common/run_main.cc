#include "tools/common/run_main.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "runtime/error.h"

namespace torus::tools {
namespace {

// Prints one line, even if a terminal still shows a progress line.
int Fail(std::string_view name, std::string_view message, int status) {
  const std::string own_tag = fmt::format("[{}] ", name);
  if (message.starts_with(own_tag)) message.remove_prefix(own_tag.size());
  std::fflush(stdout);
  fmt::print(stderr, "{}{}: {}\n", isatty(STDERR_FILENO) ? "\r\x1b[K" : "", name, message);
  return status;
}

}  // namespace

int RunMain(const char* name, const std::function<int()>& body) {
  try {
    return body();
  } catch (const BadInput& error) {
    return Fail(name, error.what(), 2);
  } catch (const std::bad_alloc&) {
    return Fail(name, "out of memory", 1);
  } catch (const std::exception& error) {
    return Fail(name, error.what(), 1);
  }
}

}  // namespace torus::tools
