#include "runtime/batched_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace torus {
namespace {

std::vector<std::string>& Done() {
  static std::vector<std::string> done;
  return done;
}

void RunNumbers(std::vector<int>& numbers) {
  std::string all;
  for (const int n : numbers) all += std::to_string(n);
  Done().push_back(all);
}

void RunTexts(std::vector<std::string>& texts) {
  for (const std::string& text : texts) Done().push_back(text);
}

TEST(BatchedWork, IsDoneTogetherByKind) {
  Done().clear();
  EXPECT_EQ(BatchedWork::Here(), nullptr);
  BatchedWork work;
  ASSERT_EQ(BatchedWork::Here(), &work);
  for (const int n : {1, 2}) {
    work.PutOff(&RunNumbers, n);
    work.PutOff(&RunTexts, std::string(1, static_cast<char>('a' + n)));
  }
  EXPECT_TRUE(Done().empty());
  work.Finish();
  std::sort(Done().begin(), Done().end());
  EXPECT_EQ(Done(), (std::vector<std::string>{"12", "b", "c"}));
  work.Finish();
  EXPECT_EQ(Done().size(), 3u) << "each once";
}

TEST(BatchedWork, OfTheInnermostScopeIsDroppedUnlessItIsFinished) {
  Done().clear();
  BatchedWork outer;
  {
    BatchedWork inner;
    BatchedWork::Here()->PutOff(&RunNumbers, 5);
  }
  EXPECT_EQ(BatchedWork::Here(), &outer);
  outer.Finish();
  EXPECT_TRUE(Done().empty());
}

}  // namespace
}  // namespace torus
