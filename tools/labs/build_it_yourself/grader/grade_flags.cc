#include "tools/labs/build_it_yourself/grader/grade_flags.h"

#include "runtime/io/file.h"
#include "tools/common/user_path.h"

namespace torus::tools::labs {

void AddGradeFlags(CLI::App& app, const std::string& what, GradeFlags& flags) {
  Limits& limits = flags.grade.limits;
  app.option_defaults()->always_capture_default();
  app.add_option("--seed", flags.grade.seed, "Seed for the hidden sizes, ranks and values");
  app.add_option("--json", flags.json, "Write " + what + " to this file as JSON")->default_str("");
  app.add_option("--junit", flags.junit, "Write " + what + " to this file as JUnit XML")
      ->default_str("");
  app.add_option("--cpu-seconds", limits.cpu_seconds,
                 "Limit for a rank's CPU time in a test, in seconds")
      ->check(CLI::Range(1, 3600));
  app.add_option("--memory", limits.memory_bytes, "Limit for a rank's address space: 1GB, or bytes")
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(uint64_t{64} << 20, uint64_t{1} << 40));
  app.add_option("--deadline", limits.deadline, "Seconds after which a test is stopped")
      ->check(CLI::Range(0.1, 3600.0));
}

void WriteIfNamed(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  io::OutputFile file(UserPath(path));
  file.Write(text);
  file.Close(false);
}

}  // namespace torus::tools::labs
