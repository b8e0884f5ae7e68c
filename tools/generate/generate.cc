// tools/generate: text from a checkpoint of a language model.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "recipes/generate/generator.h"
#include "runtime/parallel_for.h"
#include "tools/common/check_flags.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

struct Options {
  recipes::GenerateOptions text;
  bool reads_stdin = false;
  int64_t batch = 8;
  int threads = 0;
};

void AddFlags(CLI::App& app, Options& o) {
  app.add_option("--model", o.text.model,
                 "Folder with config.json and model.safetensors, such as RUN/model of tools/train")
      ->required();
  app.add_option("--vocab-dir", o.text.vocab_dir,
                 "Folder with vocab.json and merges.txt (or encoder.json and vocab.bpe), or with "
                 "tokenizer.json. Default: the model's folder");
  app.add_option("--prompt", o.text.prompt,
                 "Text to continue; <|endoftext|> in it is that token. Empty: begin a new text. "
                 "Default: a line break");
  app.add_flag("--stdin", o.reads_stdin,
               "Continue each line of the standard input, and write a line of JSON for each, in "
               "their order: {\"prompt\": ..., \"text\": ...}");
  app.add_option("--batch-size", o.batch, "Lines that are continued at once")
      ->check(CLI::Range(1, 1 << 16));
  app.add_flag("--special-tokens", o.text.special_tokens,
               "Take every special token that is written in the prompt as one token");
  app.add_option("--stop", o.text.stop,
                 "End a text before this string; may be repeated. Default: none")
      ->allow_extra_args(false);
  app.add_option("--tokens", o.text.tokens, "Largest number of tokens to add")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option(
         "--length", o.text.length,
         "Most tokens that the model sees at once; 0: as many as a row of its training had, "
         "or as many as it has positions")
      ->check(CLI::Range(0, 1 << 20));
  app.add_option("--temperature", o.text.sampling.temperature,
                 "Divides the logits before sampling; 0: always take the most likely token")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--top-k", o.text.sampling.top_k,
                 "Sample from the k most likely tokens; 0: from all")
      ->check(CLI::Range(0, 1 << 24));
  app.add_option("--top-p", o.text.sampling.top_p,
                 "Sample from the most likely tokens whose probabilities add up to this, above 0 "
                 "and at most 1");
  app.add_option("--repetition-penalty", o.text.sampling.repetition_penalty,
                 "Divides the logits of tokens that the text or its prompt has already, and "
                 "multiplies those below 0; 1: none")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--seed", o.text.seed, "Seed of the sampling; the same seed gives the same text");
  app.add_option("--precision", o.text.precision,
                 "Precision of matrix products and attention: f32, bf16, or on a GPU f16 and tf32");
  app.add_flag("--emulate", o.text.emulate,
               "Round to that type but compute in f32, on any processor");
  app.add_option("--device", o.text.device, "cpu or cuda");
  app.add_option("--threads", o.threads, "CPU threads; 0: one per core")
      ->check(CLI::Range(0, 4096));
}

void Warn(const std::string& line) { fmt::print(stderr, "generate: {}\n", line); }

void Write(const std::vector<std::string>& prompts, const std::vector<std::string>& texts) {
  for (size_t i = 0; i < prompts.size(); ++i) {
    const nlohmann::ordered_json line = {{"prompt", prompts[i]}, {"text", texts[i]}};
    // A text may end within a character.
    fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  std::fflush(stdout);
}

void ContinueLines(const Options& o) {
  recipes::Generator generator(o.text);
  if (!generator.warning().empty()) Warn(generator.warning());
  std::vector<std::string> prompts;
  int64_t first = 0;
  const auto finish_batch = [&] {
    Write(prompts, generator.Continue(prompts, first));
    first += std::ssize(prompts);
    prompts.clear();
  };
  for (std::string line; std::getline(std::cin, line);) {
    prompts.push_back(line);
    if (std::ssize(prompts) == o.batch) finish_batch();
  }
  finish_batch();
}

void ContinuePrompt(const Options& o) {
  recipes::Generate(
      o.text,
      [](const std::string& piece) {
        fmt::print("{}", piece);
        std::fflush(stdout);
      },
      Warn);
  fmt::print("\n");
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("Continues a text with a language model.", "generate");
  AddFlags(app, o);
  if (PrintsHelp(app, argc, argv)) return 0;
  const std::string& precision = o.text.precision;
  CheckFlags("generate", GivenBy(app),
             {{"sampling", o.text.sampling.temperature > 0, "got 0: the most likely token always"},
              {"stdin", o.reads_stdin, "which was not given"},
              {"no-stdin", !o.reads_stdin, "got both"},
              {"low", precision == "bf16" || precision == "f16", "got " + precision}});
  if (o.threads > 0) SetTeamSize(o.threads);
  for (std::string* path : {&o.text.model, &o.text.vocab_dir}) *path = UserPath(*path);
  o.reads_stdin ? ContinueLines(o) : ContinuePrompt(o);
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("generate", [&] { return torus::tools::Main(argc, argv); });
}
