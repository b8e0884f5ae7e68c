#include "tools/common/user_path.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace torus::tools {
namespace {

TEST(UserPath, IsMeantFromWhereTheUserStood) {
  ASSERT_EQ(setenv("BUILD_WORKING_DIRECTORY", "/home/ada", 1), 0);
  EXPECT_EQ(UserPath("runs/a"), "/home/ada/runs/a");
  EXPECT_EQ(UserPath("/runs/a"), "/runs/a");
  EXPECT_EQ(UserPath(""), "");
  ASSERT_EQ(setenv("TORUS_WORKING_DIRECTORY", "/home/bob", 1), 0);
  EXPECT_EQ(UserPath("runs/a"), "/home/bob/runs/a") << "bazelw knows better where that was";
  ASSERT_EQ(unsetenv("TORUS_WORKING_DIRECTORY"), 0);
  ASSERT_EQ(unsetenv("BUILD_WORKING_DIRECTORY"), 0);
  EXPECT_EQ(UserPath("runs/a"), "runs/a");
}

}  // namespace
}  // namespace torus::tools
