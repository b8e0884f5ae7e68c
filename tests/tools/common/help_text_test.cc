#include "tools/common/help_text.h"

#include <gtest/gtest.h>

namespace torus::tools {
namespace {

TEST(HelpText, BreaksLinesAtSpaces) {
  EXPECT_EQ(Wrapped("one two three four", 9), "one two\nthree\nfour");
  EXPECT_EQ(Wrapped("one two three", 13), "one two three");
  EXPECT_EQ(Wrapped("a word_that_is_too_long b", 5), "a\nword_that_is_too_long\nb");
  EXPECT_EQ(Wrapped("", 5), "");
}

TEST(HelpText, KeepsLinesAndIndentsWhatIsBrokenOff) {
  EXPECT_EQ(Wrapped("lead:\n  name: about it\n  b: c", 14),
            "lead:\n  name: about\n      it\n  b: c");
}

TEST(HelpText, ListsAChoicePerLine) {
  EXPECT_EQ(Choices("Order", {{"gpipe", "all forwards first"}, {"1f1b", "in turn"}}),
            "Order:\n  gpipe: all forwards first\n  1f1b: in turn");
}

}  // namespace
}  // namespace torus::tools
