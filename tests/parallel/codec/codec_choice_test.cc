#include "parallel/codec/codec_choice.h"

#include <gtest/gtest.h>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

CodecChoice Parse(const std::string& text) { return ParseCodecChoice("--codec", text, 4); }

TEST(CodecChoice, OneForAllCuts) {
  const CodecChoice choice = Parse("topk:0.1+sortq:8");
  EXPECT_EQ(choice.Of(1), "topk:0.1+sortq:8");
  EXPECT_EQ(choice.Of(3), "topk:0.1+sortq:8");
  EXPECT_TRUE(choice.any());
  EXPECT_FALSE(Parse("none").any());
}

TEST(CodecChoice, ByCut) {
  const CodecChoice choice = Parse("1:sortq:8,3:none,f16");
  EXPECT_EQ(choice.Of(1), "sortq:8");
  EXPECT_EQ(choice.Of(2), "f16");
  EXPECT_EQ(choice.Of(3), "none");
  EXPECT_EQ(Parse("2:delta(uniform:4)").Of(1), "none");
}

TEST(CodecChoice, RefusesWhatMeansNothing) {
  for (const char* text :
       {"", "4:f16", "0:f16", "1:f16,1:f16", "f16,bf16", "1:zip", "1:", "99999999999:f16"})
    EXPECT_THROW(Parse(text), BadInput) << text;
}

}  // namespace
}  // namespace torus::parallel
