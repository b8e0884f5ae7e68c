#include "tools/labs/build_it_yourself/grader/includes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace torus::tools::labs {
namespace {

using Files = std::vector<std::string>;
namespace fs = std::filesystem;

TEST(Includes, ReadsARuleOfMake) {
  EXPECT_EQ(FilesOfRule("x: a.cc /usr/include/b.h \\\n c.h \\\n  d\\ e.h f\\#.h g$$.h h\\:i.h\n"),
            (Files{"a.cc", "/usr/include/b.h", "c.h", "d e.h", "f#.h", "g$.h", "h:i.h"}));
}

TEST(Includes, KnowsTheSystemsFolders) {
  const Files folders = SystemFolders();
  for (const std::string& folder : folders) EXPECT_TRUE(fs::is_directory(folder)) << folder;
  EXPECT_EQ(OtherInclude({"/usr/include/stdio.h"}, {"", {}, folders}), "");
}

TEST(Includes, NamesWhatIsNeitherOfTheLabNorOfTheSystem) {
  const std::string root = ::testing::TempDir() + "/includes";
  fs::remove_all(root);
  for (const char* folder : {"/lab", "/system/more", "/systems"})
    fs::create_directories(root + folder);
  for (const char* file : {"/a.cc", "/lab/lab.h", "/lab/driver.cc", "/system/more/s", "/systems/t"})
    std::ofstream(root + file) << "";
  fs::create_symlink(root + "/lab/lab.h", root + "/link.h");
  fs::create_symlink(root + "/a.h", root + "/lab/gone.h");
  const MayInclude may{root + "/a.cc", {root + "/lab"}, {fs::canonical(root + "/system")}};
  EXPECT_EQ(OtherInclude({root + "/a.cc", root + "/lab/lab.h", root + "/link.h",
                          root + "/lab/../lab/lab.h", root + "/systems/../system/more/s"},
                         may),
            "");
  for (const char* file :
       {"/lab/driver.cc", "/systems/t", "/system/../systems/t", "/nowhere.h", "/lab/gone.h"})
    EXPECT_EQ(OtherInclude({root + "/a.cc", root + file}, may), root + file);
}

}  // namespace
}  // namespace torus::tools::labs
