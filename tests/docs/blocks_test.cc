#include "tests/docs/blocks.h"

#include <gtest/gtest.h>

namespace torus::docs {
namespace {

using Words = std::vector<std::string>;

TEST(Blocks, AreIndentedBehindAnEmptyLine) {
  const auto blocks = BlocksOf(
      "Text\n    that goes on.\n\n"
      "    first \\\n      line\n\n    second\n\n"
      "<!-- as in a.cc -->\n\n    third\n");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].line, 4);
  EXPECT_EQ(blocks[0].mark, "");
  EXPECT_EQ(blocks[0].lines, (Words{"first   line", "second"}));
  EXPECT_EQ(blocks[1].line, 11);
  EXPECT_EQ(blocks[1].mark, "as in a.cc");
  EXPECT_EQ(blocks[1].lines, Words{"third"});
}

}  // namespace
}  // namespace torus::docs
