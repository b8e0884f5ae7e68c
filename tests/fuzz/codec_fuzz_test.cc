// Damaged bytes for every codec's decoder, framed and bare.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <numeric>

#include "parallel/codec/frame.h"
#include "parallel/codec/make_codec.h"
#include "runtime/error.h"
#include "tests/fuzz/fuzz.h"

namespace torus::fuzz {
namespace {

using parallel::Codec;

std::vector<float> Values(int64_t count) {
  const RandomStream stream({.layer = HashName("codec fuzz")});
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(stream.Normal(i)));
  return values;
}

std::vector<std::string> Names() {
  std::vector<std::string> names = parallel::CodecNames();
  for (const char* more : {"topk:0.01", "topk:0.2+f16/sample", "sortq:4/channel", "uniform:3",
                           "kmeans:2/chunk:50", "powersgd:1+uniform:8"})
    names.push_back(more);
  return names;
}

// For none, all bytes of the right size are floats.
std::vector<std::string> AllButNone() {
  std::vector<std::string> names = Names();
  std::erase(names, "none");
  return names;
}

const Shape kShape{12, 5, 7};

Bytes Copied(std::span<const std::byte> bytes) {
  Bytes copy;
  for (const std::byte byte : bytes) copy.push_back(static_cast<uint8_t>(byte));
  return copy;
}

Bytes FrameOf(const std::string& name) {
  const auto codec = parallel::MakeCodec(name);
  return Copied(WriteFrame(*codec, kShape, DType::kF32, Values(Numel(kShape))));
}

// Of exactly their size, so that a sanitizer sees a read beyond.
std::vector<std::byte> Exactly(const Bytes& bytes) {
  const auto all = std::as_bytes(std::span(bytes));
  return {all.begin(), all.end()};
}

// What is accepted is what was written: the checksum covers all of it.
TEST(Fuzz, FramesAreRefusedUnlessTheyAreWhole) {
  std::vector<Bytes> seeds;
  for (const std::string& name : Names())
    if (!parallel::MakeCodec(name)->decodes_from_memory()) seeds.push_back(FrameOf(name));
  const std::vector<Bytes> good = seeds;
  RunFuzz({.name = "frame", .seeds = seeds, .read = [good](const Bytes& bytes) {
             const std::vector<std::byte> exact = Exactly(bytes);
             const parallel::Frame frame = parallel::ReadFrame(exact);
             DecodeFrame(frame, Numel(kShape));
             const Bytes read(bytes.begin(), bytes.begin() + static_cast<int64_t>(frame.bytes));
             EXPECT_NE(std::ranges::find(good, read), good.end()) << "a damaged frame was read";
           }});
}

// A test for each codec: --gtest_filter=*sortq_8 runs one.
std::string TestName(const testing::TestParamInfo<std::string>& tested) {
  std::string name = tested.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

// Without the checksum: no crash, no read beyond, and what is refused is refused clearly.
class DecoderFuzz : public testing::TestWithParam<std::string> {};

TEST_P(DecoderFuzz, WithoutAChecksum) {
  const std::shared_ptr<Codec> codec = parallel::MakeCodec(GetParam());
  const parallel::CodecContext context{.shape = kShape};
  std::vector<std::byte> payload(codec->MaxTensorBytes(kShape));
  payload.resize(codec->EncodeTensor(context, Values(Numel(kShape)), payload));
  RunFuzz({.name = GetParam(),
           .seeds = {Copied(payload)},
           .read =
               [=](const Bytes& bytes) {
                 std::vector<float> out(static_cast<size_t>(Numel(kShape)));
                 codec->DecodeTensor({.shape = kShape}, Exactly(bytes), out);
               },
           .inputs = 500});
}

INSTANTIATE_TEST_SUITE_P(Codecs, DecoderFuzz, testing::ValuesIn(AllButNone()), TestName);

// The second visit of samples, so that the inner decoder gets the damaged changes.
class ChangeFuzz : public testing::TestWithParam<std::string> {};

TEST_P(ChangeFuzz, OfRememberedSamples) {
  std::vector<int64_t> samples(static_cast<size_t>(kShape[0]));
  std::iota(samples.begin(), samples.end(), 100);
  const std::shared_ptr<Codec> codec = parallel::MakeCodec(GetParam());
  parallel::CodecMemory memory;
  const parallel::CodecContext context{.shape = kShape, .samples = samples, .memory = &memory};
  std::vector<float> values = Values(Numel(kShape));
  std::vector<std::byte> payload(codec->MaxTensorBytes(kShape));
  ASSERT_GT(codec->EncodeTensor(context, values, payload), 0u);
  const parallel::CodecMemory first = memory;
  for (float& value : values) value += 0.5f * value * value;
  payload.resize(codec->EncodeTensor(context, values, payload));
  RunFuzz({.name = GetParam(),
           .seeds = {Copied(payload)},
           .read =
               [=](const Bytes& bytes) {
                 parallel::CodecMemory own = first;
                 std::vector<float> out(static_cast<size_t>(Numel(kShape)));
                 codec->DecodeTensor({.shape = kShape, .samples = samples, .memory = &own},
                                     Exactly(bytes), out);
               },
           .inputs = 500});
}

INSTANTIATE_TEST_SUITE_P(Codecs, ChangeFuzz,
                         testing::Values("delta(uniform:4)", "delta(sortq:8)",
                                         "delta(topk:0.1+sortq:8)"),
                         TestName);

// With a checksum that fits whatever the header says: its bounds hold without it.
TEST(Fuzz, HeadersWithAChecksumOfTheirOwn) {
  std::vector<Bytes> seeds;
  for (const char* name : {"none", "sortq:8", "topk:0.1+sortq:8", "uniform:4/channel"})
    seeds.push_back(FrameOf(name));
  RunFuzz({.name = "header", .seeds = seeds, .read = [](const Bytes& bytes) {
             const std::vector<std::byte> exact = parallel::WithChecksum(Exactly(bytes));
             DecodeFrame(parallel::ReadFrame(exact), Numel(kShape));
           }});
}

}  // namespace
}  // namespace torus::fuzz
