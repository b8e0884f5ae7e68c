#include "tests/layering/document_rules.h"

#include <gtest/gtest.h>

namespace torus::layering {
namespace {

using Words = std::vector<std::string>;

TEST(DocumentRules, LinksAreThoseWithinTheTree) {
  EXPECT_EQ(LinksOf("[a](docs/a.md#part), [b](https://b.org/b.md) and ![c](c.png)"),
            (Words{"docs/a.md", "c.png"}));
}

TEST(DocumentRules, PathsStartAtATopFolder) {
  EXPECT_EQ(PathsOf("`ops/x.h`, `tests/...`, `docs/` but `runs/a`, `a b/c` and ops/y.h",
                    {"ops", "tests", "docs"}),
            (Words{"ops/x.h", "tests", "docs"}));
}

TEST(DocumentRules, SectionsAreNamedAndLinkedTo) {
  const std::string page =
      "# Page\n\n- [A thing](#a-thing)\n- [B](#b), [c](d.md#e)\n\n"
      "<a id=\"a-thing\"></a>\n**A thing.** Why.\n\n**B.** More,\nand **C**.\n";
  EXPECT_EQ(AnchorsOf(page), Words{"a-thing"});
  EXPECT_EQ(InnerLinksOf(page), (Words{"a-thing", "b"}));
  EXPECT_EQ(UnnamedSectionsOf(page), Words{"**B.** More,"});
}

}  // namespace
}  // namespace torus::layering
