#include "parallel/codec/codec_text.h"

#include <gtest/gtest.h>

#include "parallel/codec/make_codec.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::string ErrorOf(const std::string& text) {
  try {
    MakeCodec(text);
  } catch (const BadInput& e) {
    return e.what();
  }
  return "made";
}

TEST(CodecText, TakesApartWhatIsComposed) {
  const CodecText text = ParseCodec("hadamard+uniform:4:stochastic/chunk:10");
  ASSERT_EQ(text.parts.size(), 2u);
  EXPECT_EQ(text.parts[0].name, "hadamard");
  EXPECT_EQ(text.parts[1].name, "uniform");
  EXPECT_EQ(text.parts[1].arguments, (std::vector<std::string>{"4", "stochastic"}));
  EXPECT_EQ(text.grain, "chunk:10");
}

TEST(CodecText, LeavesWhatParenthesesEncloseAsItIs) {
  const CodecText text = ParseCodec("a(b:1+c(d)/e)");
  ASSERT_EQ(text.parts.size(), 1u);
  EXPECT_EQ(text.parts[0].name, "a");
  EXPECT_EQ(text.parts[0].inner, "b:1+c(d)/e");
  EXPECT_EQ(text.grain, "");
}

TEST(CodecText, SaysWhatIsWrong) {
  EXPECT_EQ(ErrorOf("uniform:17"), "[uniform] takes bits a value of 1 to 16, got '17'");
  EXPECT_EQ(ErrorOf("uniform"), "[uniform] takes bits a value of 1 to 16, got ''");
  EXPECT_EQ(ErrorOf("uniform:4:up"), "[uniform] takes 'stochastic' behind the bits, got 'up'");
  EXPECT_EQ(ErrorOf("sortq:Q9"), "[sortq] takes bits a value or QqSs, got 'Q9'");
  EXPECT_EQ(ErrorOf("sortq:Q9S7"), "[sortq] takes S of 0 to 6, got '7'");
  EXPECT_EQ(ErrorOf("topk:0"), "[topk] takes a share above 0 and up to 1, got '0'");
  EXPECT_EQ(ErrorOf("topk:1x"), "[topk] takes a share above 0 and up to 1, got '1x'");
  EXPECT_EQ(ErrorOf("f16:2"), "[f16] takes at most 0 arguments, got 1");
  EXPECT_EQ(ErrorOf("f8"), "[f8] takes e4m3 or e5m2, got ''");
  EXPECT_EQ(ErrorOf("f16/row"), "[codec] takes /sample, /channel or /chunk:n, got '/row'");
  EXPECT_EQ(ErrorOf("f16/chunk:0"), "[chunk] takes values in a chunk of 1 to 1073741824, got '0'");
  EXPECT_EQ(ErrorOf("f16+f16"),
            "[codec] f16 leaves no values for a codec behind '+', got 'f16+f16'");
  EXPECT_EQ(ErrorOf("topk:0.1+"), "[codec] needs a codec's name, got ''");
  EXPECT_EQ(ErrorOf("f16(x"), "[codec] needs a ')' for each '(', got 'f16(x'");
  EXPECT_EQ(ErrorOf("f16)"), "[codec] needs a '(' for each ')', got 'f16)'");
  EXPECT_EQ(ErrorOf(""), "[codec] needs a codec's name, got ''");
  EXPECT_EQ(ErrorOf("f16\n"), "[codec] must not contain spaces or unprintable characters");
  EXPECT_EQ(ErrorOf(std::string(201, 'a')), "[codec] takes at most 200 characters, got 201");
}

TEST(CodecText, TheShortestFormIsTheName) {
  EXPECT_EQ(MakeCodec("sortq:Q6S2")->name(), "sortq:8");
  EXPECT_EQ(MakeCodec("sortq:Q7S1")->name(), "sortq:Q7S1");
  EXPECT_EQ(MakeCodec("dynamic8:2048")->name(), "dynamic8");
  EXPECT_EQ(MakeCodec("topk:0.10+none")->name(), "topk:0.1");
  EXPECT_EQ(MakeCodec("f16/tensor")->name(), "f16");
}

}  // namespace
}  // namespace torus::parallel
