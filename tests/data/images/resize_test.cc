#include "data/images/resize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "runtime/io/safetensors.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

void ExpectWithinOneLevel(const Tensor& got, const Tensor& want, int number) {
  ASSERT_EQ(got.shape(), want.shape()) << "case " << number;
  const Bytes a = ToVector<uint8_t>(got), b = ToVector<uint8_t>(want);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_LE(std::abs(a[i] - b[i]), 1) << "case " << number;
}

// Pillow sums in double and rounds to float after each pass. Ours sums n products in float, n <= 2
// r + 1 taps, in each of two passes: relative to the largest input, an error below 2 (n + 1) eps.
void ExpectClose(const Tensor& in, const Tensor& got, const Tensor& want, int number) {
  ASSERT_EQ(got.shape(), want.shape()) << "case " << number;
  float largest = 0;
  for (const float x : ToVector<float>(in)) largest = std::max(largest, std::abs(x));
  const double taps = 2.0 * static_cast<double>(in.dim(0)) / static_cast<double>(got.dim(0)) + 3;
  const double tolerance = 2 * (taps + 1) * std::numeric_limits<float>::epsilon() * largest;
  const std::vector<float> a = ToVector<float>(got), b = ToVector<float>(want);
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], tolerance) << "case " << number;
}

TEST(Resize, IsPillowsBilinear) {
  const SafetensorsFile golden = ReadSafetensors("tests/golden/resize_pillow.safetensors");
  std::map<std::string, Tensor> tensors;
  for (const NamedTensor& tensor : golden.tensors) tensors[tensor.name] = tensor.value;
  const int cases = std::stoi(golden.metadata.at("cases"));
  ASSERT_GE(cases, 14);
  for (int i = 0; i < cases; ++i) {
    const Tensor& in = tensors.at(fmt::format("in.{}", i));
    const Tensor& want = tensors.at(fmt::format("out.{}", i));
    const Tensor got = Resize(in, want.dim(0), want.dim(1));
    if (in.dtype() == DType::kU8) {
      ExpectWithinOneLevel(got, want, i);
      EXPECT_EQ(ToVector<uint8_t>(got),
                ToVector<uint8_t>(tensors.at(fmt::format("rows_first.{}", i))))
          << "case " << i;
    } else {
      ExpectClose(in, got, want, i);
    }
  }
}

TEST(Resize, ToTheSameSizeChangesNothing) {
  const Tensor image = FromVector<float>({1, 2, 3, 4, 5, 6}, {2, 3, 1});
  EXPECT_EQ(ToVector<float>(Resize(image, 2, 3)), ToVector<float>(image));
}

TEST(Resize, TakesViews) {
  const Tensor image = FromVector<float>({1, 9, 2, 9, 3, 9, 4, 9}, {2, 2, 2});
  const Tensor first = image.Narrow(2, 0, 1);  // every other element
  EXPECT_EQ(ToVector<float>(Resize(first, 1, 1)), std::vector<float>{2.5f});
}

TEST(Resize, RefusesWhatIsNoImage) {
  ExpectBadInput([] { Resize(Zeros({2, 2}, DType::kU8), 1, 1); }, "[resize]", "(2, 2)");
  ExpectBadInput([] { Resize(Zeros({0, 2, 3}, DType::kU8), 1, 1); }, "[resize]", "(0, 2, 3)");
  ExpectBadInput([] { Resize(Zeros({2, 2, 3}, DType::kI64), 1, 1); }, "[resize]", "i64");
  ExpectBadInput([] { Resize(Zeros({2, 2, 3}, DType::kU8), 0, 5); }, "[resize]", "0 x 5");
}

}  // namespace
}  // namespace torus::data
