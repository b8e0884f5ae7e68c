// Published tables read, and what is wrong with others said.
#include "tools/experiments/common/published.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tools/experiments/sort_quantization/sort_quantization.h"

namespace torus::experiments {
namespace {

TEST(Published, HasCellsByRowAndColumn) {
  const Published table("t", "model\tseconds\nVGG13\t1.5\nGPT\t\n");
  EXPECT_EQ(table.rows(), 2u);
  EXPECT_EQ(table.Text(0, "model"), "VGG13");
  EXPECT_EQ(table.Number(0, "seconds"), 1.5);
  EXPECT_EQ(table.Number(1, "seconds"), std::nullopt);
}

TEST(Published, SaysWhatIsWrong) {
  try {
    Published("t", "a\tb\n1\t2\n3\n");
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(), "[t] line 3 must have 2 cells, got 1");
  }
  EXPECT_THROW(Published("t", "a\n"), BadInput);
  const Published table("t", "a\tb\n1.5\tx\n");
  EXPECT_THROW(table.Text(0, "c"), BadInput);
  EXPECT_THROW(table.Number(0, "b"), BadInput);
  EXPECT_THROW(table.Whole(0, "a"), BadInput);
}

TEST(Published, IsBuiltIntoThePrograms) {
  const Published table("sort_quantization", kSortQuantizationPublished);
  EXPECT_EQ(table.rows(), 20u);
  EXPECT_EQ(table.Number(3, "value"), 87.10);
}

}  // namespace
}  // namespace torus::experiments
