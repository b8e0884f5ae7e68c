// tools/generate: text from a GPT-2 checkpoint.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "data/text/bpe_tokenizer.h"
#include "data/text/tokenizer_files.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/gpt2/config.h"
#include "models/gpt2/decoder.h"
#include "models/gpt2/descriptor.h"
#include "recipes/generate/sampling.h"
#include "runtime/parallel_for.h"
#include "runtime/rng.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

struct Options {
  std::string model, vocab, prompt = "\n";
  int64_t tokens = 100;
  recipes::SamplingOptions sampling;
  uint64_t seed = 1;
  int threads = 0;
};

void AddFlags(CLI::App& app, Options& o) {
  app.add_option("--model", o.model,
                 "folder with config.json and model.safetensors: RUN/model of tools/train")
      ->required();
  app.add_option("--vocab", o.vocab,
                 "folder with vocab.json and merges.txt (or encoder.json and vocab.bpe), or with "
                 "tokenizer.json; default: the model's");
  app.add_option("--prompt", o.prompt, "what the text begins with");
  app.add_option("--tokens", o.tokens, "how many to add at most")->check(CLI::Range(1, 1 << 24));
  app.add_option("--temperature", o.sampling.temperature,
                 "divides the logits; 0: always the likeliest token")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--top-k", o.sampling.top_k, "only the k likeliest tokens count; 0: all")
      ->check(CLI::Range(0, 1 << 24));
  app.add_option("--top-p", o.sampling.top_p,
                 "only the likeliest tokens that make up this probability count");
  app.add_option("--seed", o.seed, "of the draws: the same seed gives the same text")
      ->check(NotNegative);
  app.add_option("--threads", o.threads, "0: the cores")->check(CLI::Range(0, 4096));
}

// Feeds all tokens but those the decoder has seen. At the end of its positions it starts again
// behind the newer half of them, so that a text can be longer than the model looks back.
class Context {
 public:
  Context(std::shared_ptr<nn::Sequential> model, const Gpt2Options& options)
      : positions_(options.n_positions), decoder_(std::move(model), options) {}

  // The logits of the token behind `ids`.
  Tensor Next(const std::vector<int32_t>& ids) {
    const auto total = static_cast<int64_t>(ids.size());
    if (total - first_ > positions_) {
      first_ = total - std::max<int64_t>(1, positions_ / 2);
      decoder_.Reset();
    }
    const int64_t begin = first_ + decoder_.length();
    std::vector<int64_t> news(ids.begin() + begin, ids.end());
    return decoder_.Extend(FromVector(news, {1, total - begin}));
  }

 private:
  const int64_t positions_;
  Gpt2Decoder decoder_;
  int64_t first_ = 0;  // of `ids`, what stands at the decoder's position 0
};

void Generate(const Options& o) {
  recipes::Check(o.sampling);
  const std::string folder = UserPath(o.model);
  const Gpt2Options options = Gpt2FromConfig(ReadHuggingFaceConfig(folder), folder);
  const auto model = Gpt2(options);
  LoadWeights(*model, folder, Gpt2Names());
  const auto tokenizer =
      data::TokenizerOfFolder(o.vocab.empty() ? folder : UserPath(o.vocab), "gpt2");
  Require(tokenizer->vocabulary() <= options.vocab_size, folder,
          "the model knows {} tokens, the vocabulary has {}", options.vocab_size,
          tokenizer->vocabulary());
  const auto* const bpe = dynamic_cast<const data::BpeTokenizer*>(tokenizer.get());
  const int32_t end =
      bpe == nullptr ? -1 : bpe->Special(bpe->name() == "roberta" ? "</s>" : "<|endoftext|>");
  std::vector<int32_t> ids = tokenizer->Encode(o.prompt);
  Require(!ids.empty(), "generate", "--prompt must not be empty");
  fmt::print("{}", o.prompt);
  Context context(model, options);
  const RandomStream stream({.seed = o.seed, .layer = HashName("generate")});
  for (int64_t i = 0; i < o.tokens; ++i) {
    const Tensor logits = context.Next(ids);
    const std::span<const float> known(logits.data<float>(),
                                       static_cast<size_t>(tokenizer->vocabulary()));
    const auto token = static_cast<int32_t>(
        SampleToken(known, o.sampling, stream.Uniform64(static_cast<uint64_t>(i))));
    if (token == end) break;
    ids.push_back(token);
    fmt::print("{}", tokenizer->Decode({&ids.back(), 1}));
    std::fflush(stdout);
  }
  fmt::print("\n");
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("Continues a text with a GPT-2 model.", "generate");
  AddFlags(app, o);
  if (PrintsHelp(app, argc, argv)) return 0;
  if (o.threads > 0) SetTeamSize(o.threads);
  Generate(o);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("generate", [&] { return torus::tools::Main(argc, argv); });
}
