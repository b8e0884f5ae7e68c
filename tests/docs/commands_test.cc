#include "tests/docs/commands.h"

#include <gtest/gtest.h>

namespace torus::docs {
namespace {

using Words = std::vector<std::string>;

TEST(Commands, WordsAreThoseOfAShell) {
  EXPECT_EQ(ShellWords("--a \"b c\" 'd|e*'  x#y # a comment"),
            (Words{"--a", "b c", "d|e*", "x#y"}));
}

TEST(Commands, AreIndentedOrBetweenBackticks) {
  const auto found = CommandsOf(
      "Text of ./bazelw run //not:this.\n\n"
      "    ./bazelw run --config=cuda //tools:train -- --stages 2 \\\n"
      "        --codec \"a b\"   # why\n"
      "and `./bazelw test\n//tests/...` too.\n");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].line, 3);
  EXPECT_EQ(found[0].verb, "run");
  EXPECT_EQ(found[0].flags, Words{"--config=cuda"});
  EXPECT_EQ(found[0].targets, Words{"//tools:train"});
  EXPECT_EQ(found[0].arguments, (Words{"--stages", "2", "--codec", "a b"}));
  EXPECT_EQ(found[1].line, 5);
  EXPECT_EQ(found[1].targets, Words{"//tests/..."});
}

}  // namespace
}  // namespace torus::docs
