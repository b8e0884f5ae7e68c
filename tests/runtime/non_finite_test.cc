#include "runtime/non_finite.h"

#include <gtest/gtest.h>

#include <limits>

#include "runtime/error.h"

namespace torus {
namespace {

template <class T>
void ExpectCount(const std::vector<float>& values, int64_t count) {
  const Tensor f32 = FromVector(values, Shape{static_cast<int64_t>(values.size())});
  EXPECT_EQ(CountNonFinite(f32.To(kDTypeOf<T>)), count) << Name(kDTypeOf<T>);
}

TEST(NonFinite, CountsInfinitiesAndNaNsOfEveryFloat) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values = {0, -0.0f, 1, -inf, 60000, nan, -nan, inf, 1e-7f};
  ExpectCount<double>(values, 4);
  ExpectCount<float>(values, 4);
  ExpectCount<BFloat16>(values, 4);
  ExpectCount<Float16>(values, 4);
  ExpectCount<float>({std::numeric_limits<float>::max(), std::numeric_limits<float>::denorm_min()},
                     0);
  ExpectCount<Float16>({65504, 1e9f}, 1);  // the second becomes infinite when it is cast
}

TEST(NonFinite, IntegersHaveNone) {
  EXPECT_EQ(CountNonFinite(FromVector<int64_t>({-1, 0x7ff0000000000000}, Shape{2})), 0);
}

TEST(NonFinite, StridedTensorsCountWhatTheyShow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor both = FromVector<float>({1, nan, 2, nan}, Shape{2, 2});
  EXPECT_EQ(CountNonFinite(both.Transpose(0, 1)), 2);
  EXPECT_EQ(CountNonFinite(both.Narrow(1, 0, 1)), 0);
  EXPECT_EQ(CountNonFinite(both.Narrow(1, 1, 1)), 2);
}

}  // namespace
}  // namespace torus
