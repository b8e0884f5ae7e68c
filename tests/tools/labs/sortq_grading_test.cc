#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

TEST(SortqGrading, GivesTheSolutionFullMarks) { ExpectFullMarks("sortq"); }

TEST(SortqGrading, GivesTheTemplateLittle) { ExpectTemplateIsPoor("sortq"); }

TEST(SortqGrading, FindsFaults) {
  ExpectFaults("sortq", {{"uniform_range", "heavy-tail", "spread over the whole range"},
                         {"rounds_down", "normal", "are points rounded down?"},
                         {"off_by_one_bucket", "heavy-tail", "half a step of its bucket is"},
                         {"codes_of_two_bytes", "bytes", "packed bit to bit"},
                         {"divides_by_zero", "ties", "is a step of 0 divided by?"},
                         {"takes_infinity", "not-finite", "bytes instead of none"},
                         {"range_overflows", "large", "came back as"},
                         {"late_sort", "normal", "came back as"},
                         {"wrong_order", "normal", "came back as"},
                         {"leak", "leak", "leak: from the first call"},
                         {"exception", "few-values", "threw an exception"}});
}

}  // namespace
}  // namespace torus::tools::labs::testing
