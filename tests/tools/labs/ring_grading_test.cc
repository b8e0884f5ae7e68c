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
                        {"late_receive", "odd-ranks", "of the ranks' terms it has once rank"},
                        {"wrong_order", "order", "not added in the order of the ring"},
                        {"leak", "leak", "leak: from the first call"},
                        {"exception", "few-elements", "threw an exception: too few elements"}});
}

// Of the solution, without its last parts: as a student has it on the way.
Grade GradeWithout(const std::string& name, const std::vector<std::string>& lines) {
  std::vector<Hunk> gone;
  for (const std::string& line : lines) gone.push_back({line + "\n", ""});
  const std::string path = ::testing::TempDir() + "/" + name + ".cc";
  std::ofstream(path) << Changed(TextOf(LabsFolder() + "/solutions/ring.cc"), gone);
  return GradeOf("ring", path);
}

TEST(RingGrading, TheGuideShowsWhatItSays) {
  const std::string guide = TextOf("docs/labs_build_it_yourself.md");
  const auto shows = [&](const Grade& grade, const std::string& test) {
    EXPECT_NE(guide.find(test + " "), std::string::npos);
    EXPECT_NE(guide.find(ReasonOf(grade, test)), std::string::npos) << ReasonOf(grade, test);
  };
  const std::string divide = "  ring.DivideOwn();", gather = "  ring.AllGather();";
  shows(GradeWithout("half", {divide, gather}), "odd-ranks");
  shows(GradeWithout("half_divided", {gather}), "two-ranks");
  shows(GradeOfFault("ring", "whole_tensor"), "bytes");
  shows(GradeOfFault("buckets", "waits_at_once"), "overlap");
}

}  // namespace
}  // namespace torus::tools::labs::testing
