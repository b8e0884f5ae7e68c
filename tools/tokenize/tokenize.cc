// Text files to token files: //tools:tokenize -- --out FOLDER [--tokenizer gpt2|...] FILES.
#include "data/text/tokenize.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "recipes/data/data_places.h"
#include "runtime/error.h"
#include "tools/common/check_flags.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::tools {
namespace {

void ReportSpecials(const data::TokenizeResult& result, bool taken) {
  if (result.specials == 0) return;
  const std::string what =
      fmt::format("{} special token{}", result.specials, result.specials == 1 ? "" : "s");
  if (taken) {
    fmt::print("{} of the texts became one token each\n", what);
    return;
  }
  fmt::print(stderr,
             "tokenize: {} written in the texts, first {}, became plain text; --special-tokens "
             "makes each one token\n",
             what, result.first_special);
}

int Main(int argc, char** argv) {
  CLI::App app("Tokenises text files: 90 % of each for training, the rest for validation.",
               "tokenize");
  data::TokenizeOptions options;
  app.add_option("--out", options.output,
                 "Folder to write; existing token files in it are replaced")
      ->required();
  app.add_option("--tokenizer", options.tokenizer, "Tokenizer")
      ->check(CLI::IsMember(data::TokenizerNames()));
  app.add_option("--vocab-dir", options.vocabulary_dir,
                 "Folder with encoder.json and vocab.bpe, or vocab.json and merges.txt, or "
                 "tokenizer.json; the tokenizers gpt2, roberta and json need one. Default: of the "
                 "first two its place below $TORUS_DATA");
  app.add_flag("--special-tokens", options.special_tokens,
               "Take every special token that is written in a text, such as <|endoftext|> between "
               "documents, as one token. Default: they are plain text, and a line says how many");
  app.add_option("--shard-tokens", options.shard_tokens, "Largest number of tokens per file")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("texts", options.inputs, "Text files")->required()->type_name("FILES");
  if (PrintsHelp(app, argc, argv)) return 0;
  const bool published = options.tokenizer == "gpt2" || options.tokenizer == "roberta";
  const bool vocabulary = published || options.tokenizer == "json";
  CheckFlags("tokenize", GivenBy(app),
             {{"vocabulary", vocabulary, "and --tokenizer " + options.tokenizer + " has none"}});
  if (published && options.vocabulary_dir.empty())
    options.vocabulary_dir = recipes::InCommonFolder(recipes::kVocabularyPlace);
  Require(!vocabulary || !options.vocabulary_dir.empty(), "tokenize",
          "--tokenizer {} needs the folder of its vocabulary: give --vocab-dir, or set TORUS_DATA",
          options.tokenizer);
  for (std::string& input : options.inputs) input = UserPath(input);
  options.output = UserPath(options.output);
  CheckOutputFolder("tokenize", "--out", options.output);
  options.vocabulary_dir = UserPath(options.vocabulary_dir);
  const data::TokenizeResult result = data::TokenizeFiles(options);
  fmt::print(
      "{} bytes to {} tokens of {} for training ({} files), {} for validation ({} files); "
      "tokenised at {:.1f} MB a second of processor time\n",
      result.bytes, result.train, result.vocabulary, result.train_files, result.validation,
      result.validation_files, 1e-6 * static_cast<double>(result.bytes) / result.seconds);
  ReportSpecials(result, options.special_tokens);
  fmt::print("wrote {}\n", FullPath(options.output));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("tokenize", [&] { return torus::tools::Main(argc, argv); });
}
