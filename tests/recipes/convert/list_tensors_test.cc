#include "recipes/convert/list_tensors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace torus::recipes {
namespace {

TEST(ListTensors, ShowsDtypeShapeValuesAndSums) {
  const std::string text =
      ListTensors({{"weight", FromVector<float>({1, -2, 4, 1}, {2, 2}).To(DType::kBF16)},
                   {"broken", FromVector<double>({NAN, 0.5, INFINITY}, {3})},
                   {"gone", FromVector<float>({NAN}, {1})},
                   {"none", Empty({0, 3})},
                   {"steps", Full({}, 12345, DType::kI64)}});
  EXPECT_EQ(
      text,
      // clang-format off
      "name   dtype shape                       elements     smallest      largest         mean\n"
      "weight bf16  (2, 2)                             4           -2            4            1\n"
      "broken f64   (3)                                3          0.5          0.5          0.5"
      "  2 not finite\n"
      "gone   f32   (1)                                1   1 not finite\n"
      "none   f32   (0, 3)                             0 \n"
      "steps  i64   ()                                 1        12345        12345        12345\n"
      "5 tensors, 9 elements, 44 B\n"
      // clang-format on
  );
}

}  // namespace
}  // namespace torus::recipes
