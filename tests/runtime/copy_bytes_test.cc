#include "runtime/copy_bytes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace torus {
namespace {

// Each place modulo a page, on both sides of where the way of copying changes.
TEST(CopyBytes, CopiesAllAndNoMore) {
  constexpr size_t kPage = 4096, kRoom = 6 * kPage;
  std::vector<uint8_t> from(kRoom);
  for (size_t i = 0; i < kRoom; ++i) from[i] = static_cast<uint8_t>(i * 7 + i / 251);
  for (const size_t bytes : {0, 1, 63, 2047, 2048, 2049, 4096, 10'000})
    for (const size_t behind : {0, 1, 16, 63, 64, 65, 4095}) {
      std::vector<uint8_t> to(kRoom + kPage, 0xEE);
      const auto distance = reinterpret_cast<uintptr_t>(from.data()) + 2 * kPage + behind -
                            reinterpret_cast<uintptr_t>(to.data());
      const size_t at = distance % kPage;
      CopyBytes(to.data() + at, from.data(), bytes);
      for (size_t i = 0; i < to.size(); ++i)
        ASSERT_EQ(to[i], i >= at && i < at + bytes ? from[i - at] : 0xEE)
            << i << " of " << bytes << " bytes, " << behind << " behind";
    }
}

TEST(CopyElements, CopiesElements) {
  std::vector<double> from(1000), to(1001, -1);
  std::iota(from.begin(), from.end(), 0.0);
  CopyElements(from.data(), 1000, to.data());
  EXPECT_EQ(to.back(), -1);
  to.pop_back();
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace torus
