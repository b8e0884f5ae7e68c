#include "parallel/codec/frame.h"

#include <gtest/gtest.h>

#include <cstring>

#include "parallel/codec/codec_number.h"
#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "tests/parallel/codec/exact_sort.h"
#include "tests/parallel/codec/round_trip.h"

namespace torus::parallel {
namespace {

std::string ErrorOf(std::span<const std::byte> bytes, int64_t most = 1 << 20) {
  try {
    DecodeFrame(ReadFrame(bytes), most);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "read";
}

class Frames : public ::testing::Test {
 protected:
  std::unique_ptr<Codec> codec_ = MakeCodec("uniform:8/sample");
  std::vector<float> values_ = Draw("normal", 60, 1);
  std::vector<std::byte> frame_ = WriteFrame(*codec_, {3, 20}, DType::kBF16, values_);
};

TEST_F(Frames, HoldAllThatDecodingNeeds) {
  frame_.push_back(std::byte{7});  // of the next frame
  const Frame frame = ReadFrame(frame_);
  EXPECT_EQ(frame.codec, "uniform:8/sample");
  EXPECT_EQ(frame.shape, (Shape{3, 20}));
  EXPECT_EQ(frame.dtype, DType::kBF16);
  EXPECT_EQ(frame.bytes, frame_.size() - 1);
  EXPECT_LE(frame.bytes, Frame::kMostHeaderBytes + codec_->MaxTensorBytes({3, 20}));
  const CodecContext context{.shape = {3, 20}};
  EXPECT_EQ(DecodeFrame(frame, 60),
            DecodeIn(*codec_, context, EncodeIn(*codec_, context, values_)));
}

TEST_F(Frames, LieAsTheHeaderSays) {
  ASSERT_EQ(std::memcmp(frame_.data(), "TRCF\x02\x00", 6), 0);
  EXPECT_EQ(std::to_integer<int>(frame_[6]), static_cast<int>(DType::kBF16));
  EXPECT_EQ(std::to_integer<int>(frame_[7]), 2);
  EXPECT_EQ(std::to_integer<int>(frame_[8]), 3);
  EXPECT_EQ(std::to_integer<int>(frame_[16]), 20);
  EXPECT_EQ(std::to_integer<int>(frame_[24]), 16);
  EXPECT_EQ(std::memcmp(&frame_[25], "uniform:8/sample", 16), 0);
  EXPECT_EQ(std::to_integer<int>(frame_[41]), 1 + 3 * (8 + 20));
  EXPECT_EQ(frame_.size(), 41u + 8 + 4 + 1 + 3 * 28);
}

TEST_F(Frames, AreRefusedWithAReason) {
  std::vector<std::byte> bad = frame_;
  bad[0] = std::byte{'X'};
  EXPECT_EQ(ErrorOf(bad), "[frame] must begin with TRCF");
  bad = frame_;
  bad[4] = std::byte{99};
  EXPECT_EQ(ErrorOf(bad),
            fmt::format("[frame] has version 99, this program reads version {}", kCodecVersion));
  bad = frame_;
  bad[7] = std::byte{9};
  EXPECT_EQ(ErrorOf(bad), "[frame] has at most 8 dimensions, got 9");
  bad = frame_;
  bad[15] = std::byte{0x40};
  EXPECT_NE(ErrorOf(bad).find("size 0 is beyond its bounds"), std::string::npos);
  EXPECT_EQ(ErrorOf(std::span(frame_).first(frame_.size() - 1)),
            "[frame] ends within its payload: 84 bytes of 85");
  EXPECT_EQ(ErrorOf(std::span(frame_).first(3)),
            "[frame] ends within its first bytes: 3 bytes of 4");
  EXPECT_EQ(ErrorOf(frame_, 59), "[frame] takes up to 59 values, got 60 of (3, 20)");
}

TEST_F(Frames, EveryBitIsCovered) {
  for (size_t bit = 0; bit < 8 * frame_.size(); ++bit) {
    std::vector<std::byte> bad = frame_;
    bad[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_NE(ErrorOf(bad), "read") << "bit " << bit;
  }
}

TEST_F(Frames, HoldNothingThatIsNotFinite) {
  values_[3] = std::nanf("");
  EXPECT_TRUE(WriteFrame(*codec_, {3, 20}, DType::kF32, values_).empty());
  EXPECT_THROW(WriteFrame(*codec_, {3, 19}, DType::kF32, values_), BadInput);
  EXPECT_THROW(WriteFrame(*MakeCodec("delta(f16)"), {60}, DType::kF32, values_), BadInput);
}

}  // namespace
}  // namespace torus::parallel
