#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

TEST(GPipeGrading, GivesTheSolutionFullMarks) { ExpectFullMarks("gpipe"); }

TEST(GPipeGrading, GivesTheTemplateLittle) { ExpectTemplateIsPoor("gpipe"); }

TEST(GPipeGrading, FindsFaults) {
  ExpectFaults("gpipe",
               {{"one_by_one", "time", "all the rest is bubble"},
                {"off_by_one", "two-stages", "and should be"},
                {"deadlock_odd_stages", "more-stages", "deadlock of 3 ranks"},
                {"missing_average", "two-stages", "their mean is wanted"},
                {"late_receive", "two-stages", "and should be"},
                {"wrong_order", "order", "stage 0 of 2 did F0 F1 F2 F3 F4 "},
                {"whole_batch", "bytes", "allowed are"},
                {"steps_each_time", "two-stages", "steps for one mini-batch; one is wanted"},
                {"leak", "leak", "leak: from the first mini-batch"},
                {"exception", "few", "threw an exception: too few micro-batches"},
                {"forges_result", "two-stages", "rank 0 has a result of 0 floats, and 10 are"}});
}

}  // namespace
}  // namespace torus::tools::labs::testing
