// The documents of a text for language models.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/files/mapped_file.h"
#include "data/text/special_tokens.h"

namespace torus::data {

// The first 90 % of a text's characters (or of its bytes, if it is not UTF-8), and the rest, as in
// nanoGPT. One of `tokens` that is written where the parts meet stays whole, in the first.
std::pair<std::string_view, std::string_view> SplitText(
    std::string_view text, const std::vector<SpecialToken>& tokens = {});

// A text file, which is one document, or a file of JSON lines (*.jsonl, *.ndjson), which has one in
// each line: {"text": "..."}, whatever else the line has. Empty documents are left out.
class Documents {
 public:
  using Texts = std::vector<std::string_view>;

  // Throws BadInput naming the file, and of JSON lines the line that is no object with a "text".
  explicit Documents(const std::string& path);
  Documents(const Documents&) = delete;
  Documents& operator=(const Documents&) = delete;

  const MappedFile& file() const { return file_; }
  const Texts& all() const { return all_; }
  // The part to train on, and the rest: a text divided by SplitText; of JSON lines whole documents,
  // the first ones up to 90 % of all bytes.
  std::pair<Texts, Texts> Split(const std::vector<SpecialToken>& tokens = {}) const;

 private:
  MappedFile file_;
  const bool json_lines_;
  std::deque<std::string> parsed_;  // of JSON lines
  Texts all_;
};

}  // namespace torus::data
