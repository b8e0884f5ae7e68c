#include "tools/labs/build_it_yourself/grader/grade.h"

#include <exception>

#include "runtime/error.h"
#include "tools/common/stop_signal.h"

namespace torus::tools::labs {
namespace {

constexpr int kMostTimeouts = 2;
constexpr char kStopped[] = "not graded: the grader was stopped";

// Each test has its own seed, so that its result does not depend on which other tests run.
uint64_t SeedOf(uint64_t seed, size_t test) { return Dice(seed + 1000003 * (test + 1)).Next(); }

int Sum(const std::vector<TestResult>& tests, int TestResult::*what) {
  int sum = 0;
  for (const TestResult& test : tests) sum += test.*what;
  return sum;
}

// Why the test gives no points; empty if it does. A rank can report what no driver would, which the
// test then does not find or understand. A broken machine is nobody's fault.
std::string ReasonOf(const TestCase& test, Bench& bench) {
  try {
    test.run(bench);
  } catch (const TestFailed& failed) {
    return failed.reason;
  } catch (const BrokenEnvironment&) {
    throw;
  } catch (const Stopped&) {
    throw;
  } catch (const std::exception& error) {
    return fmt::format("the ranks reported what this test cannot read: {}", error.what());
  }
  return "";
}

}  // namespace

int Grade::points() const { return Sum(tests, &TestResult::points); }
int Grade::of() const { return Sum(tests, &TestResult::of); }

Grade GradeFile(Compiler& compiler, const Exercise& exercise, const std::string& file,
                const GradeOptions& options) {
  Compiled program{.path = "", .messages = "", .why = kStopped};
  try {
    program = compiler.Program(exercise, file);
  } catch (const Stopped&) {
  }
  return GradeProgram(program, exercise, file, options);
}

Grade GradeProgram(const Compiled& program, const Exercise& exercise, const std::string& file,
                   const GradeOptions& options) {
  Grade grade{exercise.name, file, options.seed, program.messages, {}};
  int timeouts = 0;
  for (const TestCase& test : exercise.tests) {
    TestResult& result =
        grade.tests.emplace_back(TestResult{test.name, test.about, 0, test.points, ""});
    if (program.path.empty()) result.reason = program.why;
    if (timeouts == kMostTimeouts)
      result.reason = "not run: two tests before it have run out of time";
    if (grade.stopped) result.reason = kStopped;
    if (!result.reason.empty()) continue;
    Bench bench(program.path, options.limits, SeedOf(options.seed, grade.tests.size()));
    try {
      result.reason = ReasonOf(test, bench);
    } catch (const Stopped&) {
      grade.stopped = true;
      result.reason = kStopped;
      continue;
    }
    if (result.reason.empty()) result.points = test.points;
    if (bench.out_of_time()) ++timeouts;
  }
  grade.stopped = grade.stopped || program.why == kStopped;
  return grade;
}

}  // namespace torus::tools::labs
