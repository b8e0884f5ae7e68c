// Every kernel of ops is there for GPUs or has an excuse; and the reader of tables itself.
#include "tests/layering/kernel_tables.h"

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

constexpr const char* kTable = R"(
// TORUS_KERNEL(Comment, in one);
TORUS_KERNEL(Both, "both", y.device(), (const Tensor& x, Tensor& y), (x, y));
TORUS_KERNEL_TEMPLATE(F, Map, op, y.device(),
                      (std::string_view op, const F& f, Tensor& y), (op, f, y));
TORUS_PRODUCT_KERNEL(
    Product, "product", y.device(), (const Tensor& x, Tensor& y), (x, y), 2 * y.numel());
template <class F>
void CpuAlone(std::string_view op, const F& f, Tensor& y) {
  for (int i = 0; i < 1; ++i) Observe(i);
  Dispatch(op, y.device(), [&] { cpu::CpuAlone(f, y); });
}
)";

TEST(KernelTables, AreReadFromTheSource) {
  const std::vector<DeclaredKernel> kernels = KernelsOf(kTable);
  ASSERT_EQ(kernels.size(), 4u);
  EXPECT_EQ(kernels[0].name, "Both");
  EXPECT_TRUE(kernels[0].gpu);
  EXPECT_EQ(kernels[1].name, "Map");
  EXPECT_TRUE(kernels[1].gpu);
  EXPECT_EQ(kernels[2].name, "Product");
  EXPECT_TRUE(kernels[2].gpu);
  EXPECT_EQ(kernels[3].name, "CpuAlone");
  EXPECT_FALSE(kernels[3].gpu);
}

TEST(KernelTables, AKernelForCpusAloneNeedsAnExcuse) {
  const std::vector<std::string> wrong = CheckKernels("a_family_without_excuse", kTable);
  ASSERT_EQ(wrong.size(), 1u);
  EXPECT_EQ(wrong[0], "ops/a_family_without_excuse/kernels.h: CpuAlone has no kernel for GPUs");
}

TEST(KernelTables, AnExcuseThatIsNotNeededIsWrong) {
  ASSERT_FALSE(KernelsWithoutGpu().empty());
  const std::string family(KernelsWithoutGpu().front().family);
  EXPECT_EQ(CheckKernels(family, kTable).size(), 3u);
  EXPECT_EQ(CheckKernels(family, "").size(), 1u);
}

TEST(KernelTables, EveryKernelIsForGpusOrHasAnExcuse) {
  std::set<std::string> families;
  for (const auto& entry : fs::directory_iterator(Root() / "ops")) {
    const fs::path table = entry.path() / "kernels.h";
    if (!fs::exists(table)) continue;
    const std::string family = entry.path().filename().string();
    families.insert(family);
    for (const std::string& wrong : CheckKernels(family, Read(table))) ADD_FAILURE() << wrong;
  }
  EXPECT_GE(families.size(), 15u);
  for (const Excuse& excuse : KernelsWithoutGpu())
    EXPECT_TRUE(families.contains(std::string(excuse.family))) << excuse.family << " is no family";
}

}  // namespace
}  // namespace torus::layering
