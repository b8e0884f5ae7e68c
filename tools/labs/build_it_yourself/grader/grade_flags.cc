#include "tools/labs/build_it_yourself/grader/grade_flags.h"

#include <filesystem>

#include "runtime/io/file.h"
#include "runtime/io/replaced_file.h"
#include "tools/common/output.h"
#include "tools/common/user_path.h"

namespace torus::tools::labs {
namespace {

void Write(const std::string& path, const std::string& text) {
  io::OutputFile file(path);
  file.Write(text);
  file.Close(false);
}

// No links: /dev/stdout is one, to a file that another program may hold open.
bool CanBeReplaced(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(UserPath(path), error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

}  // namespace

void AddGradeFlags(CLI::App& app, const std::string& what, GradeFlags& flags) {
  Limits& limits = flags.grade.limits;
  app.option_defaults()->always_capture_default();
  app.add_option("--seed", flags.grade.seed, "Seed for the hidden sizes, ranks and values");
  app.add_option("--json", flags.json, "Write " + what + " to this file as JSON. Default: none");
  app.add_option("--junit", flags.junit,
                 "Write " + what + " to this file as JUnit XML. Default: none");
  app.add_option("--cpu-seconds", limits.cpu_seconds,
                 "Limit for a rank's CPU time in a test, in seconds")
      ->check(CLI::Range(1, 3600));
  app.add_option("--memory", limits.memory_bytes, "Limit for a rank's address space: 1GB, or bytes")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{64} << 20, uint64_t{1} << 40));
  app.add_option("--deadline", limits.deadline, "Seconds after which a test is stopped")
      ->check(CLI::Range(0.1, 3600.0));
}

void CheckGradeOutputs(const std::string& program, const GradeFlags& flags) {
  CheckOutput(program, "--json", UserPath(flags.json));
  CheckOutput(program, "--junit", UserPath(flags.junit));
}

void WriteIfNamed(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  if (CanBeReplaced(path))
    io::ReplaceFile(UserPath(path), [&](const std::string& fresh) { Write(fresh, text); });
  else
    Write(UserPath(path), text);
}

void WriteSoFar(const std::string& path, const std::string& text) {
  if (!path.empty() && CanBeReplaced(path)) WriteIfNamed(path, text);
}

}  // namespace torus::tools::labs
