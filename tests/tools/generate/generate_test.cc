// The program's flags, on a small model of random weights whose texts hang on all that it sees.
#include <set>

#include "data/text/char_tokenizer.h"
#include "data/text/open_tokenizer.h"
#include "data/text/tokenizer_files.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "models/gpt2/config.h"
#include "tests/data/text/small_bpe.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

constexpr char kAlphabet[] = "abcdefghijklmnop";
constexpr int kPositions = 8;

class Generate : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    const Gpt2Options options{.vocab_size = 16,
                              .n_positions = kPositions,
                              .n_embd = 32,
                              .n_layer = 2,
                              .n_head = 4,
                              .initializer_range = 0.4,
                              .tie_word_embeddings = false};
    const auto model = Gpt2(options);
    model->Initialize(/*seed=*/1);
    WriteHuggingFace(scratch_ + "/model",
                     {.config = ToConfig(options),
                      .tensors = StateDict(*model),
                      .files = data::TokenizerFiles(data::CharTokenizer(kAlphabet), "")});
  }
  // Prompt and all that comes behind it.
  std::string Text(const std::string& prompt, int tokens, std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"--model", scratch_ + "/model", "--prompt", prompt, "--tokens",
                               std::to_string(tokens)});
    const Ended ended = Program("tools/generate/generate", flags, scratch_).Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    EXPECT_EQ(ended.out.size(), prompt.size() + tokens + 1) << ended.out;
    return ended.out;
  }
};

const std::vector<std::string> kGreedy = {"--temperature", "0"};

TEST_F(Generate, EveryNumberHasBounds) {
  for (const std::vector<std::string>& flag :
       std::vector<std::vector<std::string>>{{"--temperature", "-1"},
                                             {"--temperature", "nan"},
                                             {"--temperature", "1e300"},
                                             {"--top-k", "-1"},
                                             {"--top-k", "9223372036854775807"},
                                             {"--top-p", "1.5"},
                                             {"--top-p", "nan"},
                                             {"--repetition-penalty", "-1"},
                                             {"--repetition-penalty", "0"},
                                             {"--repetition-penalty", "nan"},
                                             {"--seed", "-1"},
                                             {"--tokens", "0"},
                                             {"--tokens", "99999999999"},
                                             {"--threads", "-1"}}) {
    std::vector<std::string> flags = {"--model", scratch_ + "/model"};
    flags.insert(flags.end(), flag.begin(), flag.end());
    ExpectOneLine(Program("tools/generate/generate", flags, scratch_).Wait(), 2, flag[0] + " ");
  }
}

// Their stacks do not fit into 4 GiB of addresses, in which all else does.
TEST_F(Generate, TakesItsThreads) {
  const auto in_4_gib = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--model", scratch_ + "/model", "--prompt", "a", "--tokens", "2"});
    return Program("tools/generate/generate", flags, scratch_, size_t{4} << 30).Wait();
  };
  EXPECT_EQ(in_4_gib({}).status, 0);
  ExpectOneLine(in_4_gib({"--threads", "4096"}), 1, "cannot start a team of 4096 threads");
}

TEST_F(Generate, TheSeedSaysWhatIsDrawn) {
  const std::string first = Text("a", 30, {"--seed", "1"});
  EXPECT_EQ(Text("a", 30, {"--seed", "1"}), first);
  EXPECT_EQ(Text("a", 30, {}), first) << "1 is the default";
  EXPECT_NE(Text("a", 30, {"--seed", "2"}), first);
  EXPECT_NE(Text("a", 30, kGreedy), first);
}

TEST_F(Generate, OneCandidateIsTheLikeliest) {
  const std::string greedy = Text("a", 30, kGreedy);
  EXPECT_EQ(Text("a", 30, {"--top-k", "1", "--seed", "5"}), greedy);
  EXPECT_EQ(Text("a", 30, {"--top-p", "0.000001", "--seed", "5"}), greedy);
  EXPECT_NE(Text("a", 30, {"--top-k", "16", "--seed", "5"}), greedy);
  EXPECT_NE(Text("a", 30, {"--top-p", "1", "--seed", "5"}), greedy);
}

TEST_F(Generate, InBf16Too) {
  const std::vector<std::string> flags = {"--temperature", "0", "--precision", "bf16", "--emulate"};
  EXPECT_EQ(Text("a", 30, flags), Text("a", 30, flags));
  ExpectOneLine(
      Program("tools/generate/generate",
              {"--model", scratch_ + "/model", "--precision", "f32", "--emulate"}, scratch_)
          .Wait(),
      2, "--emulate needs --precision bf16");
}

// RoBERTa's merges have another end of text than GPT-2's.
TEST_F(Generate, AModelMayWriteRobertasTokens) {
  const std::string folder = scratch_ + "/robertas";
  std::filesystem::create_directories(folder);
  data::WriteSmallBpe(folder, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const Gpt2Options options{
      .vocab_size = 263, .n_positions = 8, .n_embd = 8, .n_layer = 1, .n_head = 1};
  const auto model = Gpt2(options);
  model->Initialize(/*seed=*/1);
  WriteHuggingFace(folder + "/model",
                   {.config = ToConfig(options),
                    .tensors = StateDict(*model),
                    .files = data::TokenizerFiles(*data::OpenRoberta(folder), folder)});
  const Ended ended =
      Program("tools/generate/generate",
              {"--model", folder + "/model", "--prompt", "ab", "--tokens", "4"}, scratch_)
          .Wait();
  EXPECT_EQ(ended.status, 0) << ended.err;
  EXPECT_TRUE(ended.out.starts_with("ab")) << ended.out;
}

// Written in a prompt it is the token that ended the texts that the model was trained on; nothing
// is behind it, as in a text that begins.
TEST_F(Generate, AnEmptyPromptBeginsBehindTheEndOfAText) {
  const std::string folder = scratch_ + "/gpt2";
  std::filesystem::create_directories(folder);
  data::WriteSmallBpe(folder, {"<|endoftext|>", "<x>"});
  std::ofstream(folder + "/added_tokens.json") << R"({"<x>": 259})";
  std::ofstream(folder + "/special_tokens_map.json") << R"({"mask_token": "<x>"})";
  const Gpt2Options options{.vocab_size = 260,
                            .n_positions = 16,
                            .n_embd = 8,
                            .n_layer = 1,
                            .n_head = 1,
                            .initializer_range = 0.4};
  const auto model = Gpt2(options);
  model->Initialize(/*seed=*/1);
  WriteHuggingFace(folder + "/model",
                   {.config = ToConfig(options),
                    .tensors = StateDict(*model),
                    .files = data::TokenizerFiles(*data::OpenGpt2(folder), folder)});
  const auto behind = [&](const std::string& prompt, std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--model", folder + "/model", "--temperature", "0", "--tokens", "6",
                               "--prompt", prompt});
    const Ended ended = Program("tools/generate/generate", flags, scratch_).Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    return ended.out.substr(prompt.size());
  };
  EXPECT_EQ(behind("", {}), behind("<|endoftext|>", {}));
  EXPECT_NE(behind("", {}), behind("a", {}));
  EXPECT_NE(behind("ab<x>", {}), behind("ab<x>", {"--special-tokens"}));
  ExpectOneLine(
      Program("tools/generate/generate", {"--model", scratch_ + "/model", "--prompt", ""}, scratch_)
          .Wait(),
      2, "--prompt must not be empty");
}

class GenerateLines : public Generate {
 protected:
  // The texts behind `prompts`, which stand one a line.
  std::vector<std::string> Texts(const std::vector<std::string>& prompts,
                                 const std::string& flags) const {
    std::ofstream input(scratch_ + "/prompts");
    for (const std::string& prompt : prompts) input << prompt << "\n";
    input.close();
    const Ended ended = Program("/bin/sh",
                                {"-c", "tools/generate/generate --stdin --model " + scratch_ +
                                           "/model " + flags + " < " + scratch_ + "/prompts"},
                                scratch_)
                            .Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    std::vector<std::string> texts;
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      EXPECT_EQ(json["prompt"], prompts.at(texts.size()));
      texts.push_back(json["text"]);
    }
    EXPECT_EQ(texts.size(), prompts.size());
    return texts;
  }
};

// Prompts of several lengths, one of them beyond the positions, and texts too.
TEST_F(GenerateLines, EachHasTheTextThatItHasAlone) {
  const std::vector<std::string> prompts = {"abc", "p", "abcdefghijklmnop", "hg"};
  const std::vector<std::string> together =
      Texts(prompts, "--tokens 20 --temperature 0 --batch-size 4");
  for (size_t i = 0; i < prompts.size(); ++i)
    EXPECT_EQ(prompts[i] + together[i] + "\n", Text(prompts[i], 20, kGreedy));
}

TEST_F(GenerateLines, TheSizeOfABatchChangesNothing) {
  const std::vector<std::string> prompts = {"abc", "p", "d"};
  const std::vector<std::string> one = Texts(prompts, "--tokens 20 --batch-size 1"),
                                 two = Texts(prompts, "--tokens 20 --batch-size 2"),
                                 all = Texts(prompts, "--tokens 20");
  EXPECT_EQ(one, all);
  EXPECT_EQ(two, all);
  EXPECT_EQ("abc" + all[0] + "\n", Text("abc", 20, {}));
  const std::vector<std::string> same = Texts({"a", "a"}, "--tokens 20");
  EXPECT_NE(same[0], same[1]) << "each prompt has draws of its own";
}

TEST_F(Generate, ATextEndsBeforeAStopString) {
  const std::string text = Text("a", 30, kGreedy).substr(1, 30), stop = text.substr(7, 3);
  const auto stopped = [&](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--model", scratch_ + "/model", "--prompt", "a", "--tokens", "30",
                               "--temperature", "0"});
    return Program("tools/generate/generate", flags, scratch_).Wait().out;
  };
  EXPECT_EQ(stopped({"--stop", stop}), "a" + text.substr(0, text.find(stop)) + "\n");
  EXPECT_EQ(stopped({"--stop", "not there", "--stop", text.substr(0, 1)}), "a\n");
  EXPECT_EQ(stopped({"--stop", text + "a"}), "a" + text + "\n") << "what is held back is shown";
  ExpectOneLine(
      Program("tools/generate/generate", {"--model", scratch_ + "/model", "--stop", ""}, scratch_)
          .Wait(),
      2, "--stop must not be empty");
}

TEST_F(Generate, RepetitionsCanBeMadeLessLikely) {
  const auto letters = [](const std::string& text) { return std::set(text.begin(), text.end()); };
  const std::string plain = Text("a", 12, kGreedy),
                    penalized = Text("a", 12, {"--temperature", "0", "--repetition-penalty", "5"});
  EXPECT_GT(letters(penalized).size(), letters(plain).size()) << plain << penalized;
  EXPECT_EQ(Text("a", 12, {"--temperature", "0", "--repetition-penalty", "1"}), plain);
}

// Where its positions end it goes on as if the newer half of them were all that it has seen.
TEST_F(Generate, ATextMayBeLongerThanTheModelLooksBack) {
  const int tokens = 5 * kPositions;
  const std::string text = Text("a", tokens, kGreedy);
  EXPECT_GT(std::set<char>(text.begin(), text.end()).size(), 3U) << text;
  const size_t half = kPositions / 2, restart = kPositions + 1 - half;
  EXPECT_EQ(Text(text.substr(restart, half), tokens - kPositions, kGreedy), text.substr(restart));
}

// Longer than the positions at once: its end counts.
TEST_F(Generate, APromptMayBeLongerToo) {
  const std::string prompt = "abcdefghijklmnop", half = prompt.substr(16 - kPositions / 2);
  EXPECT_EQ(Text(prompt, 3, kGreedy), prompt.substr(0, 16 - half.size()) + Text(half, 3, kGreedy));
}

}  // namespace
}  // namespace torus::tools::testing
