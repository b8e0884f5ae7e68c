#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

TEST(ServerGrading, GivesTheSolutionFullMarks) { ExpectFullMarks("server"); }

TEST(ServerGrading, GivesTheTemplateLittle) { ExpectTemplateIsPoor("server"); }

TEST(ServerGrading, FindsFaults) {
  ExpectFaults("server",
               {{"missing_average", "even-workers", "their mean is wanted"},
                {"one_after_the_other", "time", "all compute at the same time"},
                {"off_by_one_worker", "odd-workers", "and should be"},
                {"late_receive", "bytes", "gradients come a step late"},
                {"asynchronous", "even-workers", "and should be"},
                {"wrong_order", "order", "in the order of the ranks?"},
                {"sends_twice", "bytes", "are allowed each way"},
                {"deadlock_odd_workers", "odd-workers", "deadlock of 4 ranks"},
                {"leak", "leak", "leak: from the first call"},
                {"exception", "one-worker", "threw an exception: too few workers"},
                {"forges_result", "one-worker", "rank 0 has a result of 0 floats, and 20 are"}});
}

}  // namespace
}  // namespace torus::tools::labs::testing
