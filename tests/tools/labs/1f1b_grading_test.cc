#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

TEST(OneForwardOneBackwardGrading, GivesTheSolutionFullMarks) { ExpectFullMarks("1f1b"); }

TEST(OneForwardOneBackwardGrading, GivesTheTemplateLittle) { ExpectTemplateIsPoor("1f1b"); }

TEST(OneForwardOneBackwardGrading, FindsFaults) {
  ExpectFaults("1f1b",
               {{"all_forwards_first", "memory", "kept the activations of"},
                {"off_by_one", "memory", "stage 0 of 4 kept the activations of 5"},
                {"deadlock_odd_stages", "more-stages", "deadlock of 3 ranks"},
                {"missing_average", "two-stages", "their mean is wanted"},
                {"late_receive", "two-stages", "and should be"},
                {"backward_first", "time", "all the rest is bubble"},
                {"whole_batch", "bytes", "allowed are"},
                {"steps_each_time", "two-stages", "steps for one mini-batch; one is wanted"},
                {"too_many_ahead", "few", "there is no micro-batch"},
                {"leak", "leak", "leak: from the first mini-batch"},
                {"exception", "few", "threw an exception: too few micro-batches"}});
}

}  // namespace
}  // namespace torus::tools::labs::testing
