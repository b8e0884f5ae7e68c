// What is collected as public headers and symbols.
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class Headers : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch_ = ::testing::TempDir() + "headers";
    std::filesystem::remove_all(scratch_);
    std::filesystem::create_directories(scratch_);
  }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_ + "/" + name) << text;
    return scratch_ + "/" + name;
  }
  Ended Collect(const std::string& libraries, const std::string& header) const {
    return Program("tools/install/collect_headers", {scratch_ + "/out", libraries, header},
                   scratch_)
        .Wait();
  }
  std::string scratch_;
};

TEST_F(Headers, NameOthersBelowTorus) {
  const std::string inner = Write("inner.h", "#include <vector>\n");
  const std::string outer = Write("outer.h", "#include \"" + inner + "\"  // why\nint F();\n");
  const Ended ended = Collect("fmt", outer);
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ReadText(scratch_ + "/out/torus/" + outer),
            "#include \"torus/" + inner + "\"\nint F();\n");
  EXPECT_EQ(ReadText(scratch_ + "/out/torus/" + inner), "#include <vector>\n");
}

TEST_F(Headers, WithOtherLibrariesAreRefusedByName) {
  const std::string header = Write("json.h", "#include <nlohmann/json.hpp>\n");
  const Ended ended = Collect("fmt", header);
  EXPECT_EQ(ended.status, 1);
  EXPECT_NE(ended.err.find(header), std::string::npos) << ended.err;
  EXPECT_NE(ended.err.find("<nlohmann/json.hpp>"), std::string::npos) << ended.err;
  EXPECT_EQ(Collect("fmt,nlohmann", header).status, 0);
}

// The names of the tree's own public headers: none says what only kernels are called.
TEST_F(Headers, OfTheLibraryHaveNoKernels) {
  const std::filesystem::path folder = "tools/install/torus_recipes_include/torus";
  EXPECT_TRUE(std::filesystem::exists(folder / "torus.h"));
  EXPECT_TRUE(std::filesystem::exists(folder / "runtime/tensor.h"));
  EXPECT_FALSE(std::filesystem::exists(folder / "runtime/kernel_table.h"));
  EXPECT_FALSE(std::filesystem::exists(folder / "ops/softmax/kernels.h"));
}

TEST_F(Headers, SayWhichSymbolsArePublic) {
  std::filesystem::create_directories(scratch_ + "/include");
  Write("include/a.h", "namespace torus { void Shown(int); struct Kept { void Do(); }; }\n");
  const std::string names = Write("names",
                                  "_ZN5torus5ShownEi T 0 1\n"           // torus::Shown(int)
                                  "_ZN5torus6HiddenEi T 0 1\n"          // torus::Hidden(int)
                                  "_ZN5torus4Kept2DoEv T 0 1\n"         // torus::Kept::Do()
                                  "_ZN5torus8internal5ShownEi T 0 1\n"  // a namespace of ours
                                  "_ZN5other5ShownEi T 0 1\n"           // another library's
                                  "_ZTIN5torus4KeptE V 0 1\n"           // a type
                                  "_ZN5torus5ShownIfEEvv W 0 1\n");     // the program's own
  ASSERT_EQ(std::system(("tools/install/list_symbols " + scratch_ + "/include < " + names + " > " +
                         scratch_ + "/public")
                            .c_str()),
            0);
  EXPECT_EQ(ReadText(scratch_ + "/public"),
            "_ZN5torus4Kept2DoEv\n_ZN5torus5ShownEi\n_ZTIN5torus4KeptE\n");
}

}  // namespace
}  // namespace torus::tools::testing
