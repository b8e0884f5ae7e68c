#include "tests/tools/labs/grading.h"

namespace torus::tools::labs::testing {
namespace {

TEST(BucketsGrading, GivesTheSolutionFullMarks) { ExpectFullMarks("buckets"); }

TEST(BucketsGrading, GivesTheTemplateLittle) { ExpectTemplateIsPoor("buckets"); }

TEST(BucketsGrading, FindsFaults) {
  ExpectFaults("buckets",
               {{"missing_average", "two-ranks", "this is the sum"},
                {"writes_back_early", "two-ranks", "before its sum was waited for?"},
                {"does_not_wait", "two-ranks", "Finish has not waited for sum 0"},
                {"wrong_order", "two-ranks", "do all ranks begin the same sums in the same order?"},
                {"forgets_the_last", "two-ranks", "still the rank's own gradient"},
                {"reuses_the_room", "two-ranks", "were changed between Start and Wait of sum 0"},
                {"exception", "sizes", "threw an exception: too large a gradient"},
                {"deadlock_odd_ranks", "more-ranks", "deadlock of 3 ranks: rank 0 waits for sum"},
                {"deadlock_odd_ranks", "more-ranks", "is not begun by rank 2 (it has ended)"},
                {"unused_forgotten", "unused", "deadlock of 3 ranks: rank 0 waits for sum"},
                {"unused_forgotten", "unused", "is not begun by rank 1 (it has ended)"},
                {"left_out_not_zero", "unused", "rank 1 has no gradient of it in this step"},
                {"left_over", "steps", "is left in the bucket from the step before"},
                {"no_second_step", "steps", "waits a second time for sum 0"},
                {"one_big_bucket", "sums", "a bucket of more than one parameter has at most"},
                {"one_big_bucket", "overlap", "are allowed. The backward of a step takes"},
                {"bucket_by_count", "sums", "a bucket of more than one parameter has at most"},
                {"elements_for_bytes", "sums", "a bucket of more than one parameter has at most"},
                {"a_sum_a_parameter", "sums", "parameters, which are"},
                {"a_sum_a_parameter", "overlap", "sums for"},
                {"waits_at_once", "overlap", "comes at"},
                {"starts_late", "overlap", "began sum 0 at"},
                {"copies_twice", "memory", "or a gradient have two copies?"},
                {"leak", "leak", "leak: from the first step to the last of 5"}});
}

}  // namespace
}  // namespace torus::tools::labs::testing
