#include "tests/layering/name_rules.h"

#include <gtest/gtest.h>

namespace torus::layering {
namespace {

using Names = std::vector<std::string>;

TEST(NameRules, TypesAndConstantsAreNamed) {
  EXPECT_EQ(NamesOf("namespace a::b {\n"
                    "inline constexpr int kSide = 16, kBoth = kSide / kOther;\n"
                    "template <class T>\n"
                    "struct Tile {\n"
                    "  static constexpr int kWithin = 3;\n"
                    "};\n"
                    "namespace c {\n"
                    "enum class Kind : int { kOne };\n"
                    "class Sub final : public Base {\n"
                    "};\n"
                    "}  // namespace c\n"
                    "constexpr float kTable[] = {1};\n"
                    "}  // namespace a::b\n"),
            (Names{"a::b::kSide", "a::b::kBoth", "a::b::Tile", "a::b::c::Kind", "a::b::c::Sub",
                   "a::b::kTable"}));
}

TEST(NameRules, DeclarationsSpecialisationsAndCommentsAreNot) {
  EXPECT_EQ(NamesOf("struct Tile;\n"
                    "template <>\n"
                    "struct Tile<int> {\n"
                    "};\n"
                    "// struct Other {\n"
                    "void F(struct Third* x);\n"),
            Names());
}

}  // namespace
}  // namespace torus::layering
