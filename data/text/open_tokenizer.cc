#include "data/text/open_tokenizer.h"

#include <filesystem>
#include <utility>

#include "data/file.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

// The text of a file.
std::string ReadText(const std::string& path) {
  const std::vector<uint8_t> bytes = ReadFile(path);
  return std::string(bytes.begin(), bytes.end());
}

bool Exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The first of the names that `dir` has.
std::string FirstOf(const std::string& dir, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (Exists(dir + "/" + name)) return dir + "/" + name;
  }
  Throw<BadInput>(dir, "requires one of the files {}, got none", fmt::join(names, ", "));
}

const std::vector<std::string> kMerges = {"vocab.bpe", "merges.txt"},
                               kGpt2 = {"encoder.json", "vocab.json"},
                               kRoberta = {"roberta_vocab.json", "vocab.json", "dict.txt"};

struct Special {
  const char* text;
  bool takes_left = false;
};

std::unique_ptr<BpeTokenizer> Assemble(const std::string& name, const std::string& dir,
                                       const TokenNumbers& numbers, const std::string& path,
                                       const std::vector<Special>& specials) {
  const std::string merges_path = FirstOf(dir, kMerges);
  Merges merges(ReadText(merges_path), merges_path);
  Vocabulary vocabulary(numbers, merges, path);
  BpeTokenizer::Parts parts{name, std::move(merges), std::move(vocabulary), {}};
  for (const Special& special : specials) {
    const auto number = parts.vocabulary.NumberOfOther(special.text);
    Require(number.has_value(), path, "requires a number for the special token {}", special.text);
    parts.specials.push_back({special.text, *number, special.takes_left});
  }
  return std::make_unique<BpeTokenizer>(std::move(parts));
}

}  // namespace

std::unique_ptr<BpeTokenizer> OpenGpt2(const std::string& dir) {
  const std::string path = FirstOf(dir, kGpt2);
  return Assemble("gpt2", dir, ParseVocabularyJson(ReadText(path), path), path,
                  {{"<|endoftext|>"}});
}

std::unique_ptr<BpeTokenizer> OpenRoberta(const std::string& dir) {
  const std::string path = FirstOf(dir, kRoberta);
  TokenNumbers numbers;
  if (path.ends_with(".txt")) {
    const std::string gpt2 = FirstOf(dir, {"encoder.json"});
    numbers =
        ParseFairseqDictionary(ReadText(path), path, ParseVocabularyJson(ReadText(gpt2), gpt2));
  } else {
    numbers = ParseVocabularyJson(ReadText(path), path);
  }
  return Assemble("roberta", dir, numbers, path,
                  {{"<s>"}, {"<pad>"}, {"</s>"}, {"<unk>"}, {"<mask>", true}});
}

std::map<std::string, std::string> VocabularyFiles(const std::string& dir,
                                                   const std::string& name) {
  std::map<std::string, std::string> files = {{FirstOf(dir, kMerges), "merges.txt"}};
  const std::string numbers = FirstOf(dir, name == "roberta" ? kRoberta : kGpt2);
  const bool fairseq = numbers.ends_with(".txt");
  files[numbers] = fairseq ? "dict.txt" : "vocab.json";
  if (fairseq) files[FirstOf(dir, {"encoder.json"})] = "encoder.json";
  return files;
}

}  // namespace torus::data
