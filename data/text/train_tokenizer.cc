#include "data/text/train_tokenizer.h"

#include "data/text/documents.h"
#include "data/text/open_tokenizer.h"
#include "data/text/text_folders.h"
#include "data/text/train_bpe.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder.h"

namespace torus::data {
namespace {

bool IsVocabularyFile(const std::filesystem::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  return name == "vocab.json" || name == "merges.txt" || name == "tokenizer_config.json";
}

}  // namespace

TrainTokenizerResult TrainTokenizer(const TrainTokenizerOptions& options) {
  constexpr int64_t kLeast = 257;  // the bytes and <|endoftext|>
  Require(!options.inputs.empty(), "tokenize", "requires at least one text file");
  Require(options.vocabulary >= kLeast, "tokenize", "--train must be at least {}, got {}", kLeast,
          options.vocabulary);
  CheckReplaceable(options.output, "files of a vocabulary", IsVocabularyFile);
  PieceCounts pieces;
  TrainTokenizerResult result;
  for (const std::string& input : options.inputs) {
    const Documents documents(CheckedText(input));
    for (const std::string_view document : documents.all()) pieces.Add(document);
    result.bytes += static_cast<int64_t>(documents.file().bytes().size());
  }
  result.pieces = std::ssize(pieces.counts());
  const std::vector<TrainedMerge> merges = TrainMerges(pieces, options.vocabulary - kLeast);
  io::FolderWriter folder(options.output);
  for (const auto& [name, content] : BpeFiles(merges)) {
    io::OutputFile file(folder.temporary() + "/" + name, io::IfExists::kRefuse);
    file.Write(content);
    file.Close(true);
  }
  folder.Commit();
  result.vocabulary = OpenGpt2(options.output)->vocabulary();
  return result;
}

}  // namespace torus::data
