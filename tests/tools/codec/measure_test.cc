#include "tools/codec/measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "runtime/rng.h"
#include "tools/codec/codec_table.h"
#include "tools/codec/error_picture.h"

namespace torus::tools {
namespace {

Tensor Normal(const Shape& shape) {
  Tensor out(shape, DType::kF32);
  FillNormal(out, 0, 1, RandomStream({.seed = 5}));
  return out;
}

TEST(MeasureCodec, CountsBytesAndErrors) {
  const std::vector<NamedTensor> tensors{
      {"a", FromVector(std::vector<float>{0, 1, 2, 3}, {4})},
      {"b", FromVector(std::vector<float>{0, 3, 1.25f, 0}, {2, 2})}};
  const CodecMeasurement m = MeasureCodec("uniform:2", tensors, 1);  // points 0, 1, 2, 3
  EXPECT_EQ(m.codec, "uniform:2");
  EXPECT_EQ(m.values, 8);
  EXPECT_EQ(m.bytes, 2u * (8 + 1));
  EXPECT_DOUBLE_EQ(m.bits_per_value(), 18);
  EXPECT_DOUBLE_EQ(m.ratio(), 32.0 / 18);
  EXPECT_FLOAT_EQ(m.largest_error, 0.25);
  EXPECT_FLOAT_EQ(m.mean_error(), 0.25 / 8);
  EXPECT_FLOAT_EQ(m.signal_to_noise_db(), 10 * std::log10((14 + 9 + 1.25 * 1.25) / 0.0625));
  EXPECT_GT(m.encode_rate(), 0);
  EXPECT_GT(m.pays_below(), 0);
}

// Saved bits over the time that saves them.
TEST(MeasureCodec, PaysBelowTheSpeedAtWhichBothTakeEquallyLong) {
  CodecMeasurement m{.values = 1000, .bytes = 1000, .encode_seconds = 1e-3, .decode_seconds = 2e-3};
  const double speed = m.pays_below();
  EXPECT_DOUBLE_EQ(speed, 8 * 3000 / 3e-3);
  EXPECT_NEAR(8 * 4000 / speed, 3e-3 + 8 * 1000 / speed, 1e-12);
  m.bytes = 4000;
  EXPECT_EQ(m.pays_below(), 0);
}

TEST(MeasureCodec, NothingIsLostByNone) {
  const CodecMeasurement m = MeasureCodec("none", {{"x", Normal({100})}}, 1);
  EXPECT_EQ(m.largest_error, 0);
  EXPECT_TRUE(std::isinf(m.signal_to_noise_db()));
  EXPECT_EQ(m.pays_below(), 0);
}

TEST(MeasureCodec, CountsWhatItCannotCarryApart) {
  Tensor bad = Full({4}, std::numeric_limits<double>::infinity());
  const CodecMeasurement m = MeasureCodec("f16", {{"bad", bad}, {"good", Normal({6})}}, 1);
  EXPECT_EQ(m.values, 10);
  EXPECT_EQ(m.refused, 4);
  EXPECT_DOUBLE_EQ(m.bits_per_value(), 16);
  EXPECT_NE(TableOf({m}).find("(4 values of tensors not carried)"), std::string::npos);
  EXPECT_NE(TableOf({MeasureCodec("f16", {{"bad", bad}}, 1)}).find("carries none"),
            std::string::npos);
  EXPECT_NE(TableOf({MeasureCodec("f16", {{"empty", Empty({0, 3})}}, 1)}).find("no values"),
            std::string::npos);
}

// Of a uniform quantizer each bit more is worth 20 log10(2) dB, where its points are many.
TEST(MeasureCodec, ABitIsWorthSixDecibels) {
  const std::vector<NamedTensor> tensors{{"x", Normal({50, 1000})}};
  const double eight = MeasureCodec("uniform:8", tensors, 1).signal_to_noise_db();
  const double nine = MeasureCodec("uniform:9", tensors, 1).signal_to_noise_db();
  EXPECT_NEAR(nine - eight, 20 * std::log10(2), 0.1);
}

TEST(ErrorPicture, HasAPointForEachThatLosesSomething) {
  const std::vector<NamedTensor> tensors{{"x", Normal({1000})}};
  const std::string svg =
      ErrorPicture({MeasureCodec("none", tensors, 1), MeasureCodec("uniform:8", tensors, 1),
                    MeasureCodec("sortq:4", tensors, 1)});
  EXPECT_EQ(svg.find(">none<"), std::string::npos);
  EXPECT_NE(svg.find(">uniform:8<"), std::string::npos);
  EXPECT_NE(svg.find(">sortq:4<"), std::string::npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(ErrorPicture, NamesOfPointsInOnePlaceStandBelowEachOther) {
  const CodecMeasurement m = MeasureCodec("uniform:8", {{"x", Normal({1000})}}, 1);
  const std::string svg = ErrorPicture({m, m});
  std::vector<double> heights;
  for (size_t at = 0; (at = svg.find(">uniform:8<", at)) != svg.npos; ++at)
    heights.push_back(std::stod(svg.substr(svg.rfind(" y=\"", at) + 4)));
  ASSERT_EQ(heights.size(), 2u);
  EXPECT_GE(std::abs(heights[1] - heights[0]), 11);  // the size of the letters
}

// As many in one place as have lines around it, at the bottom right of the picture.
TEST(ErrorPicture, NamesStayInThePlotAndAtTheirPoints) {
  CodecMeasurement low = MeasureCodec("topk:0.01", {{"x", Normal({1000})}}, 1);
  low.codec = "a codec with quite a long name:0.01";
  const CodecMeasurement high = MeasureCodec("uniform:8", {{"x", Normal({1000})}}, 1);
  CodecMeasurement right = high;
  right.codec = "another codec with a long name:8";
  const std::string svg = ErrorPicture({low, low, low, low, high, right, right});
  const auto number = [&](const char* name, size_t before) {
    return std::stod(svg.substr(svg.rfind(name, before) + std::string_view(name).size()));
  };
  const size_t point = svg.find("<circle");
  const double bottom = number("cy=\"", svg.find("/>", point)), left = 60, top = 30;
  int names = 0;
  for (const std::string& codec : {low.codec, right.codec})
    for (size_t at = 0; (at = svg.find(">" + codec + "<", at)) != svg.npos; ++at, ++names) {
      const double x = number(" x=\"", at), y = number(" y=\"", at);
      const bool starts = svg.substr(svg.rfind("text-anchor=\"", at) + 13, 5) == "start";
      const double length = 6.0 * static_cast<double>(codec.size());
      EXPECT_GE(starts ? x : x - length, left);
      EXPECT_LE(starts ? x + length : x, 860);
      EXPECT_GE(y, top);
      EXPECT_LE(y, 520 - 60);
      if (codec == low.codec) {
        EXPECT_LE(std::abs(y - bottom), 4 * 12 + 6);
      }
    }
  EXPECT_EQ(names, 6);
}

}  // namespace
}  // namespace torus::tools
