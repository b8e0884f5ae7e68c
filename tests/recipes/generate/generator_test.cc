#include "recipes/generate/generator.h"

#include <gtest/gtest.h>

#include "tests/testing/error_of.h"

namespace torus::recipes {
namespace {

// A text that begins "1", "#", a byte, "end", "re".
GenerateOptions Greedy(int64_t tokens) {
  return {.model = "tests/golden/llama3",
          .prompt = "The quick brown",
          .tokens = tokens,
          .sampling = {.temperature = 0}};
}

TEST(Generator, AddsNoToken) {
  std::string shown;
  const auto show = [&](const std::string& piece) { shown += piece; };
  EXPECT_EQ(Generate(Greedy(0), show), "");
  EXPECT_EQ(shown, "The quick brown");
}

TEST(Generator, RefusesANegativeNumberOfTokens) {
  EXPECT_EQ(torus::testing::ErrorOf([] { Generate(Greedy(-1)); }),
            "[generate] --tokens must not be negative, got -1");
}

// "end" may be the beginning of a string that ends the text, until generation ends without it: by
// the number of tokens, or by a request.
TEST(Generator, ShowsWhatItHeldBackWhenItEnds) {
  for (const bool requested : {false, true}) {
    std::stop_source stop;
    GenerateOptions options = Greedy(requested ? 24 : 4);
    options.stop = {"nd~"};
    options.stop_token = stop.get_token();
    std::vector<std::string> pieces;
    const auto show = [&](const std::string& piece) {
      pieces.push_back(piece);
      if (requested && piece == "e") stop.request_stop();
    };
    const std::string text = Generate(options, show);
    EXPECT_TRUE(text.ends_with("end")) << text;
    std::string shown;
    for (const std::string& piece : pieces) shown += piece;
    EXPECT_EQ(shown, options.prompt + text);
    ASSERT_GE(pieces.size(), 2u);
    EXPECT_EQ(pieces[pieces.size() - 2], "e");
    EXPECT_EQ(pieces.back(), "nd");
  }
}

}  // namespace
}  // namespace torus::recipes
