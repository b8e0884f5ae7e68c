#include "parallel/codec/make_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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
