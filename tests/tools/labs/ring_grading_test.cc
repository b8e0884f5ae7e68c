#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

TEST(RingGrading, GivesTheSolutionFullMarks) { ExpectFullMarks("ring"); }

TEST(RingGrading, GivesTheTemplateLittle) { ExpectTemplateIsPoor("ring"); }

TEST(RingGrading, FindsFaults) {
  ExpectFaults("ring", {{"whole_tensor", "bytes", "the whole tensor"},
                        {"off_by_one_chunk", "uneven-chunks", "still the rank's own value"},
                        {"deadlock_odd_ranks", "odd-ranks", "deadlock of 3 ranks: rank 0 waits"},
                        {"missing_average", "two-ranks", "this is the sum"},
                        {"late_receive", "odd-ranks", "0 times that of rank"},
                        {"wrong_order", "order", "not added in the order of the ring"},
                        {"leak", "leak", "leak: from the first call"},
                        {"exception", "few-elements", "threw an exception: too few elements"}});
}

}  // namespace
}  // namespace torus::tools::labs::testing
