// The example that generates, on a small model of random weights.
#include "data/text/char_tokenizer.h"
#include "data/text/tokenizer_files.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "models/gpt2/config.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

using GenerateText = ProgramTest;

TEST_F(GenerateText, ContinuesThePrompt) {
  const Gpt2Options options{
      .vocab_size = 16, .n_positions = 8, .n_embd = 32, .n_layer = 2, .n_head = 4};
  const auto model = Gpt2(options);
  model->Initialize(/*seed=*/1);
  const data::CharTokenizer tokenizer("abcdefghijklmnop");
  WriteHuggingFace(scratch_ + "/model", {.config = ToConfig(options),
                                         .tensors = StateDict(*model),
                                         .files = data::TokenizerFiles(tokenizer, "")});
  const auto run = [&](const std::string& folder) {
    return Program("tools/examples/generate_text", {folder, "cab"}, scratch_).Wait();
  };
  const Ended ended = run(scratch_ + "/model");
  ASSERT_EQ(ended.status, 0) << ended.err;
  EXPECT_EQ(ended.out.size(), 3u + 50u + 1u) << ended.out;
  EXPECT_EQ(ended.out.substr(0, 3), "cab");
  EXPECT_EQ(ended.out.find_first_not_of("abcdefghijklmnop"), ended.out.size() - 1) << ended.out;
  ExpectOneLine(run(scratch_ + "/nowhere"), 1, "nowhere");
}

}  // namespace
}  // namespace torus::tools::testing
