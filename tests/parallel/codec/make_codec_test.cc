#include "parallel/codec/make_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "parallel/codec/codec_list.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

TEST(MakeCodec, EveryNameMakesACodecOfThatName) {
  const std::vector<std::string> names = CodecNames();
  for (const char* known : {"none", "sortq:8"})
    EXPECT_EQ(std::ranges::count(names, known), 1) << known;
  for (const std::string& name : names) {
    const auto codec = MakeCodec(name);
    EXPECT_EQ(codec->name(), name);
    EXPECT_EQ(codec->is_identity(), name == "none");
  }
}

TEST(MakeCodec, AnUnknownNameIsToldTheKnownOnes) {
  std::vector<std::string> written;
  for (const auto& [how, about] : CodecDescriptions()) written.push_back(how);
  written.pop_back();  // what may stand behind any
  try {
    MakeCodec("zip:5");
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_EQ(e.what(),
              fmt::format("[codec] known codecs are {}; got 'zip:5'", fmt::join(written, ", ")));
  }
}

// Says that it may write less than it does.
class Longer : public Codec {
 public:
  std::string name() const override { return "longer"; }
  size_t MaxEncodedBytes(int64_t count) const override { return static_cast<size_t>(count); }
  size_t Encode(std::span<const float> in, std::span<std::byte>) override { return in.size() + 1; }
  void Decode(std::span<const std::byte>, std::span<float>) override {}
};

CodecEntry LongerEntry(const std::string& name) {
  return {.name = name,
          .written = name,
          .about = "for this test",
          .examples = {name},
          .codec = [](const CodecPart&) { return std::make_unique<Longer>(); }};
}

TEST(RegisterCodec, MakesACodecKnownAloneAndInOthers) {
  EXPECT_THROW(MakeCodec("longer"), BadInput);
  RegisterCodec(LongerEntry("longer"));
  EXPECT_EQ(MakeCodec("longer")->name(), "longer");
  EXPECT_EQ(MakeCodec("ef(longer)")->name(), "ef(longer)");
  EXPECT_EQ(MakeCodec("topk:0.1+longer")->name(), "topk:0.1+longer");
  EXPECT_EQ(CodecNames().back(), "longer");
}

TEST(RegisterCodec, RefusesWhatIsNoEntry) {
  for (const char* name : {"sortq", "", "Sign", "1bit", "a:b"})
    EXPECT_THROW(RegisterCodec(LongerEntry(name)), BadInput) << name;
  CodecEntry none = LongerEntry("none_of_them"), both = none, silent = none;
  none.codec = nullptr;
  both.around = [](std::unique_ptr<Codec> inner) { return inner; };
  silent.examples.clear();
  for (const CodecEntry& entry : {none, both, silent}) EXPECT_THROW(RegisterCodec(entry), BadInput);
}

TEST(Codec, MoreBytesThanAnnouncedAreRefusedByName) {
  Longer codec;
  std::vector<float> values(5);
  std::vector<std::byte> bytes(5);
  try {
    EncodeWithin(codec, {.shape = {5}}, values, bytes);
    FAIL();
  } catch (const BadInput& error) {
    EXPECT_STREQ(error.what(),
                 "[codec] longer wrote 6 bytes for a tensor of (5), for which its MaxTensorBytes "
                 "says 5");
  }
}

TEST(MakeCodec, NoneKeepsEveryBit) {
  const auto codec = MakeCodec("none");
  const std::vector<float> values{1.5f, -0.0f, 1e-45f};
  std::vector<std::byte> bytes(codec->MaxEncodedBytes(3));
  ASSERT_EQ(bytes.size(), 12u);
  EXPECT_EQ(codec->Encode(values, bytes), 12u);
  EXPECT_TRUE(std::ranges::equal(bytes, std::as_bytes(std::span(values))));
  std::vector<float> back(3);
  codec->Decode(bytes, back);
  EXPECT_EQ(back, values);
  EXPECT_THROW(codec->Encode(values, std::span(bytes).first(11)), BadInput);
  EXPECT_THROW(codec->Decode(std::span(bytes).first(8), back), BadInput);
}

}  // namespace
}  // namespace torus::parallel
