// Text files to token files: //tools:tokenize -- --out FOLDER [--tokenizer gpt2|...] FILES.
#include "data/text/tokenize.h"

#include <CLI/CLI.hpp>
#include <cstdio>

#include "data/text/language_data.h"
#include "data/text/train_tokenizer.h"
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

void Train(const data::TokenizeOptions& options, int64_t vocabulary) {
  const data::TrainTokenizerResult result =
      data::TrainTokenizer({options.inputs, options.output, vocabulary});
  fmt::print("{} tokens trained on {} bytes, {} different pieces{}\n", result.vocabulary,
             result.bytes, result.pieces,
             result.vocabulary < vocabulary ? ": no other pair occurs twice" : "");
  fmt::print("wrote {}; take it by --tokenizer gpt2 --vocab-dir\n", FullPath(options.output));
}

int Main(int argc, char** argv) {
  CLI::App app("Tokenises text files: 90 % of each for training, the rest for validation.",
               "tokenize");
  data::TokenizeOptions options;
  int64_t vocabulary = 0;
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
  app.add_option("--train", vocabulary,
                 "Train a byte-level BPE of so many tokens on the texts instead, and write its "
                 "vocab.json and merges.txt, as GPT-2's, to --out; 0: no")
      ->check(CLI::Range(0, 1 << 24));
  app.add_option("--shard-tokens", options.shard_tokens, "Largest number of tokens per file")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  app.add_option("texts", options.inputs,
                 "Text files, or ones of JSON lines (*.jsonl, *.ndjson), whose lines' \"text\" are "
                 "documents")
      ->required()
      ->type_name("FILES");
  if (PrintsHelp(app, argc, argv)) return 0;
  const bool trains = vocabulary > 0;
  const bool has_vocabulary = data::HasVocabulary(options.tokenizer);
  CheckFlags(
      "tokenize", GivenBy(app),
      {{"encodes", !trains, "got both"},
       {"vocabulary", has_vocabulary, "and --tokenizer " + options.tokenizer + " has none"}});
  if (!trains && options.vocabulary_dir.empty() &&
      recipes::NeedsPublishedVocabulary(options.tokenizer, /*data=*/""))
    options.vocabulary_dir = recipes::InCommonFolder(recipes::kVocabularyPlace);
  Require(trains || !has_vocabulary || !options.vocabulary_dir.empty(), "tokenize",
          "--tokenizer {} needs the folder of its vocabulary: give --vocab-dir, or set TORUS_DATA",
          options.tokenizer);
  for (std::string& input : options.inputs) input = UserPath(input);
  options.output = UserPath(options.output);
  CheckOutputFolder("tokenize", "--out", options.output);
  options.vocabulary_dir = UserPath(options.vocabulary_dir);
  if (trains) {
    Train(options, vocabulary);
    return 0;
  }
  const data::TokenizeResult result = data::TokenizeFiles(options);
  fmt::print(
      "{} bytes to {} tokens of {} for training ({} files), {} for validation ({} files); "
      "tokenised at {:.1f} MB a second of processor time\n",
      result.bytes, result.train, result.vocabulary, result.train_files, result.validation,
      result.validation_files, 1e-6 * static_cast<double>(result.bytes) / result.seconds);
  if (result.ends > 0)
    fmt::print("{} token{} that end a text put between documents\n", result.ends,
               result.ends == 1 ? "" : "s");
  ReportSpecials(result, options.special_tokens);
  fmt::print("wrote {}\n", FullPath(options.output));
  return 0;
}

}  // namespace
}  // namespace torus::tools

int main(int argc, char** argv) {
  return torus::tools::RunMain("tokenize", [&] { return torus::tools::Main(argc, argv); });
}
