#include "tools/codec/encoded_file.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/error.h"

namespace torus::tools {
namespace {

std::vector<NamedTensor> Some() {
  return {{"weight", FromVector(std::vector<float>{0, 1, 2, 3, 4, 5}, {2, 3})},
          {"half", FromVector(std::vector<float>{1, -1}, {2}).To(DType::kBF16)},
          {"empty", Zeros({0, 4})},
          {"broken", FromVector(std::vector<float>{1, std::nanf("")}, {2})}};
}

TEST(EncodedFile, GivesBackWhatWasEncoded) {
  std::vector<std::string> as_it_is;
  const std::vector<std::byte> bytes = EncodeTensors("uniform:16", Some(), as_it_is);
  EXPECT_EQ(as_it_is, (std::vector<std::string>{"broken"}));
  const std::vector<NamedTensor> back = DecodeTensors("file", bytes, 100);
  ASSERT_EQ(back.size(), 4u);
  EXPECT_EQ(back[0].name, "weight");
  EXPECT_EQ(back[0].value.shape(), (Shape{2, 3}));
  const std::vector<float> values = ToVector<float>(back[0].value);
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], i, 5.0 / 65535);
  EXPECT_EQ(back[1].value.dtype(), DType::kBF16);
  EXPECT_EQ(ToVector<float>(back[1].value.To(DType::kF32)), (std::vector<float>{1, -1}));
  EXPECT_EQ(back[2].value.shape(), (Shape{0, 4}));
  EXPECT_TRUE(std::isnan(ToVector<float>(back[3].value)[1]));
}

TEST(EncodedFile, RefusesWhatItIsNot) {
  std::vector<std::string> as_it_is;
  std::vector<std::byte> bytes = EncodeTensors("f16", Some(), as_it_is);
  EXPECT_THROW(DecodeTensors("file", bytes, 9), BadInput) << "ten values";
  for (size_t count = 0; count < bytes.size(); ++count)
    EXPECT_THROW(DecodeTensors("file", std::span(bytes).first(count), 100), BadInput) << count;
  bytes.push_back(std::byte{0});
  EXPECT_THROW(DecodeTensors("file", bytes, 100), BadInput);
  EXPECT_THROW(EncodeTensors("f16", {{"i", Zeros({2}, DType::kI64)}}, as_it_is), BadInput);
}

}  // namespace
}  // namespace torus::tools
