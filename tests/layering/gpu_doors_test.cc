// Every door of ops has a kernel for GPUs or an excuse; and the reader of doors itself.
#include "tests/layering/gpu_doors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace torus::layering {
namespace {

namespace fs = std::filesystem;

// The runfiles hold a link to the tree's WORKSPACE; beside the real one lie all sources.
fs::path Root() {
  return fs::canonical(fs::path(std::getenv("TEST_SRCDIR")) / "torus" / "WORKSPACE").parent_path();
}

std::string Read(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

constexpr const char* kBoth = R"(
// AtDoor("comment", in one);
inline void Both(const Tensor& x, Tensor& y) {
  AtDoor(
      "both", y.device(), [&] { cpu::Both(x, y); },
      [&](StreamHandle stream) { cuda::Both(x, y, stream); });
}
template <class F>
void CpuAlone(std::string_view op, const F& f, Tensor& y) {
  AtDoor(op, y.device(), [&] { cpu::CpuAlone(f, y); });
}
)";

TEST(GpuDoors, AreReadFromTheSource) {
  const std::vector<Door> doors = DoorsOf(kBoth);
  ASSERT_EQ(doors.size(), 2u);
  EXPECT_EQ(doors[0].name, "Both");
  EXPECT_TRUE(doors[0].gpu);
  EXPECT_EQ(doors[1].name, "CpuAlone");
  EXPECT_FALSE(doors[1].gpu);
}

TEST(GpuDoors, ADoorWithoutKernelNeedsAnExcuse) {
  const std::vector<std::string> wrong = CheckDoors("a_family_without_excuse", kBoth);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0], "ops/a_family_without_excuse/kernels.h: CpuAlone has no kernel for GPUs");
}

TEST(GpuDoors, AnExcuseThatIsNotNeededIsWrong) {
  ASSERT_FALSE(DoorsWithoutGpu().empty());
  const std::string family(DoorsWithoutGpu().front().family);
  EXPECT_EQ(CheckDoors(family, kBoth).size(), 1u);
  EXPECT_EQ(CheckDoors(family, "").size(), 1u);
}

TEST(GpuDoors, EveryOneHasAKernelOrAnExcuse) {
  std::set<std::string> families;
  for (const auto& entry : fs::directory_iterator(Root() / "ops")) {
    const fs::path door = entry.path() / "kernels.h";
    if (!fs::exists(door)) continue;
    const std::string family = entry.path().filename().string();
    families.insert(family);
    for (const std::string& wrong : CheckDoors(family, Read(door))) ADD_FAILURE() << wrong;
  }
  EXPECT_GE(families.size(), 15u);
  for (const Excuse& excuse : DoorsWithoutGpu())
    EXPECT_TRUE(families.contains(std::string(excuse.family))) << excuse.family << " is no family";
}

}  // namespace
}  // namespace torus::layering
