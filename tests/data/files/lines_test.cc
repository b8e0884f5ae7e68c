#include "data/files/lines.h"

#include <gtest/gtest.h>

namespace torus::data {
namespace {

std::vector<std::string> Texts(std::string_view text) {
  std::vector<std::string> texts;
  for (const Line& line : LinesOf(text)) {
    texts.emplace_back(line.text);
    EXPECT_EQ(line.number, texts.size());
  }
  return texts;
}

using Strings = std::vector<std::string>;

TEST(Lines, EndAtLineFeeds) {
  EXPECT_EQ(Texts(""), Strings{});
  EXPECT_EQ(Texts("a"), Strings{"a"});
  EXPECT_EQ(Texts("a\n"), Strings{"a"});
  EXPECT_EQ(Texts("a\n\nb"), (Strings{"a", "", "b"}));
  EXPECT_EQ(Texts("\xef\xbb\xbf"
                  "a\r\n\r\nb\rc\n"),
            (Strings{"a", "", "b\rc"}));
}

TEST(Lines, EndAtCarriageReturnsWhereThereIsNoLineFeed) {
  EXPECT_EQ(Texts("a\r\rb\r"), (Strings{"a", "", "b"}));
}

TEST(Columns, AreBetweenTabs) {
  EXPECT_EQ(Columns(""), std::vector<std::string_view>{""});
  EXPECT_EQ(Columns("a\t\"b\t\t"), (std::vector<std::string_view>{"a", "\"b", "", ""}));
}

}  // namespace
}  // namespace torus::data
