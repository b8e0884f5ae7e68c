#include <gtest/gtest.h>

#include "data/text/char_tokenizer.h"
#include "data/text/glue.h"
#include "data/text/merges.h"
#include "data/text/open_tokenizer.h"
#include "data/text/token_file.h"
#include "data/text/tokenizer_files.h"
#include "data/text/vocabulary.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/text_seeds.h"

namespace torus::fuzz {
namespace {

std::string Text(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }

Target MergesFile() {
  return {.name = "merges",
          .seeds = {BytesOf(kMerges), BytesOf("a b\nab c\n")},
          .read = [](const Bytes& bytes) { data::Merges(Text(bytes), "merges"); }};
}

Target Vocabulary() {
  const data::Merges merges(kMerges, "merges");
  return {.name = "vocabulary",
          .seeds = {BytesOf(VocabularyJson()), BytesOf(VocabularyJson())},
          .read =
              [merges](const Bytes& bytes) {
                data::Vocabulary(data::ParseVocabularyJson(Text(bytes), "vocab.json"), merges,
                                 "vocab.json");
              },
          .inputs = 1000};
}

Target FairseqDictionary() {
  const data::TokenNumbers gpt2{{"a", 0}, {"b", 1}, {"c", 2}};
  return {.name = "fairseq dictionary",
          .seeds = {BytesOf("0 300\n2 20\nmadeupword0000 0\n1 7\n"), BytesOf("1 2\n")},
          .read = [gpt2](const Bytes& bytes) {
            data::ParseFairseqDictionary(Text(bytes), "dict.txt", gpt2);
          }};
}

Target Glue(const std::string& task, const std::string& one, const std::string& other) {
  return {.name = "glue " + task,
          .seeds = {BytesOf(one), BytesOf(other)},
          .read = [task](const Bytes& bytes) { data::ReadGlue(task, InFile(bytes)); },
          .inputs = 500};
}

// Pairs of sentences, of questions, and single sentences.
std::vector<Target> GlueTasks() {
  return {
      Glue("rte",
           "index\tsentence1\tsentence2\tlabel\n0\tA b.\tC \"d\".\tentailment\n"
           "1\te\tf\tnot_entailment\n",
           "\xef\xbb\xbfindex\tsentence1\tsentence2\tlabel\r\n0\tx\ty\tentailment\r\n"),
      Glue("mrpc", "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n1\t2\t3\tA\tB\n0\t4\t5\tC\tD\n",
           "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n0\t1\t1\t\"q\tr\n"),
      Glue("qqp",
           "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n0\t1\t2\tWho?\tWho is?\t1\n"
           "1\t3\t4\tWhy?\tHow?\t0\n",
           "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n7\t8\t9\t\"A\" b?\tc?\t0\n"),
      Glue("wnli", "index\tsentence1\tsentence2\tlabel\n0\tHe put it.\tIt was put.\t1\n",
           "index\tsentence1\tsentence2\tlabel\n1\ta\tb\t0\n2\tc\td\t1\n"),
      Glue("cola", "gj04\t1\t\tOur friends.\ngj04\t0\t*\tOur friend.\n",
           "sentence\tlabel\nOne.\t1\n"),
      Glue("sst2", "sentence\tlabel\nfine film\t1\n", "1 fine film\n0 dull\n")};
}

Target TokenFile() {
  const std::string path = ::testing::TempDir() + "/seed.tokens";
  const std::vector<int32_t> ids{0, 1, 2, 300, 4, 5};
  data::WriteTokenFile(path, {"gpt2", "", 301}, ids);
  const Bytes wide = FileBytes(path);
  data::WriteTokenFile(path, {"chars", "abcd", 4}, std::vector<int32_t>{0, 3, 2});
  return {.name = "token file",
          .seeds = {wide, FileBytes(path)},
          .read =
              [](const Bytes& bytes) {
                const data::TokenFile file(InFile(bytes));
                std::vector<int64_t> tokens(static_cast<size_t>(file.size()));
                file.Copy(0, file.size(), tokens.data());
              },
          .inputs = 1000};
}

Target Characters() {
  return {.name = "characters",
          .seeds = {BytesOf("caf\xc3\xa9 \xe2\x80\x83 \xf0\x9f\x8c\x8d"), BytesOf("abc\n")},
          .read = [](const Bytes& bytes) { data::CharTokenizer::Of(Text(bytes), "text"); }};
}

Target TokenizerJson() {
  const auto seed = [](const std::string& text) {
    return BytesOf(
        data::TokenizerFiles(data::CharTokenizer::Of(text, "text"), "").at("tokenizer.json"));
  };
  return {.name = "tokenizer.json",
          .seeds = {seed("ab\xc3\xa9"), seed("\n xyz")},
          .read = [](const Bytes& bytes) { data::ParseTokenizerJson(Text(bytes), "x"); }};
}

// A folder with nothing else; the tokenizer is then used.
Target BpeJson() {
  const auto seed = [](const std::string& cut, const std::string& merges) {
    return BytesOf(R"({"added_tokens": [{"id": 262, "content": "<|endoftext|>", "special": true},
        {"id": 263, "content": "<s>", "lstrip": true, "rstrip": true, "single_word": true}],
        "pre_tokenizer": )" +
                   cut + R"(, "model": {"ignore_merges": true, "vocab": )" + VocabularyJson() +
                   R"(, "merges": )" + merges + "}}");
  };
  const std::string bytes = R"({"type": "ByteLevel"})",
                    digits = R"({"type": "Sequence", "pretokenizers": [
                        {"type": "Digits", "individual_digits": true}, )" +
                             bytes + "]}";
  return {.name = "tokenizer.json of a BPE",
          .seeds = {seed(bytes, R"(["t h", "th e", "\u0120 the", "i n", "in g", "\u00c3 \u00a9"])"),
                    seed(digits, R"([["t", "h"], ["th", "e"], ["i", "n"]])")},
          .read =
              [folder = NewFolder("bpe_json")](const Bytes& input) {
                Overwrite(folder + "/tokenizer.json", input);
                std::vector<int32_t> ids;
                data::OpenGpt2(folder)->EncodeWithSpecials("the <s> thing\u00e9 <s>12 34 ", &ids);
              },
          .inputs = 1000};
}

// The same of a BPE over characters.
Target CharacterBpeJson() {
  const auto seed = [](const std::string& before, const std::string& merges) {
    return BytesOf(
        R"({"added_tokens": [{"id": 0, "content": "<s>", "special": true, "normalized": true}],
        )" +
        before + R"(, "post_processor": {"type": "TemplateProcessing", "single":
        [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]},
        "model": {"type": "BPE", "byte_fallback": true, "fuse_unk": true, "unk_token": "<s>",
        "vocab": {"<s>": 0, "<0xC3>": 1, "<0xA9>": 2, "\u2581": 3, "t": 4, "h": 5,
                  "th": 6, "\u2581th": 7},
        "merges": )" +
        merges + "}}");
  };
  return {.name = "tokenizer.json of a BPE over characters",
          .seeds = {seed(R"("normalizer": {"type": "Sequence", "normalizers": [
                           {"type": "Prepend", "prepend": "\u2581"},
                           {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"}]})",
                         R"(["t h", "\u2581 th"])"),
                    seed(R"("pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581",
                           "prepend_scheme": "first", "split": true})",
                         R"([["t", "h"]])")},
          .read =
              [folder = NewFolder("character_bpe_json")](const Bytes& input) {
                Overwrite(folder + "/tokenizer.json", input);
                std::vector<int32_t> ids;
                const auto tokenizer = data::OpenJson(folder);
                tokenizer->EncodeWithSpecials("th <s>thth h\u00e9 <s>", &ids);
                tokenizer->Decode(ids);
              },
          .inputs = 1000};
}

}  // namespace

std::vector<Target> TextTargets() {
  std::vector<Target> targets = {MergesFile(), Vocabulary(),      FairseqDictionary(),
                                 TokenFile(),  Characters(),      TokenizerJson(),
                                 BpeJson(),    CharacterBpeJson()};
  for (Target& target : GlueTasks()) targets.push_back(std::move(target));
  return targets;
}

}  // namespace torus::fuzz
