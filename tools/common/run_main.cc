#include "tools/common/run_main.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/one_line.h"
#include "tools/common/lines_below.h"
#include "tools/common/stop_signal.h"

namespace torus::tools {
namespace {

// Prints one line, even if a terminal still shows a progress line.
int Fail(std::string_view name, std::string_view message, int status) {
  const std::string own_tag = fmt::format("[{}] ", name);
  if (message.starts_with(own_tag)) message.remove_prefix(own_tag.size());
  std::fflush(stdout);
  fmt::print(stderr, "{}{}: {}\n", isatty(STDERR_FILENO) ? "\r\x1b[K" : "", name, OneLine(message));
  return status;
}

int Fail(std::string_view name, const std::exception& error, int status) {
  Fail(name, error.what(), status);
  if (const auto* const below = dynamic_cast<const LinesBelow*>(&error))
    fmt::print(stderr, "{}", below->lines);
  return status;
}

// What waits in the buffer is written after main, where nobody hears that a disk is full.
void FlushOutput(const char* name) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  Throw<BrokenEnvironment>(name, "cannot write all of its output: {}",
                           std::generic_category().message(errno));
}

// An ordinary end would wait for the thread.
[[noreturn]] void EndAtOnce(const std::string& message) {
  const std::string line = "torus: " + OneLine(message) + "\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  std::_Exit(1);
}

}  // namespace

int RunMain(const char* name, const std::function<int()>& body) {
  parallel::OnStuckRank(EndAtOnce);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  try {
    const int status = body();
    FlushOutput(name);
    return status;
  } catch (const BadInput& error) {
    return Fail(name, error, 2);
  } catch (const std::filesystem::filesystem_error& error) {
    return Fail(
        name,
        fmt::format("[{}] cannot be reached: {}", error.path1().string(), error.code().message()),
        1);
  } catch (const Stopped& stopped) {
    return Fail(name, stopped.what(), 128 + StopSignal());
  } catch (const std::bad_alloc&) {
    return Fail(name, "out of memory", 1);
  } catch (const std::exception& error) {
    return Fail(name, error, 1);
  }
}

}  // namespace torus::tools
