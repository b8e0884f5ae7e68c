// A tokenizer.json of a byte-level BPE, made of the files that say the same.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/data/temp_file.h"

namespace torus::data {

enum class MergesAs { kStrings, kPairs };

// What transformers 5 saves alone. `added` are added_tokens; <mask> takes the white space before
// it.
inline nlohmann::json BpeTokenizerJson(const std::string& vocabulary, const std::string& merges,
                                       MergesAs form, const std::vector<std::string>& added) {
  nlohmann::json json = {
      {"version", "1.0"},
      {"added_tokens", nlohmann::json::array()},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}}},
      {"model", {{"type", "BPE"}, {"dropout", nullptr}, {"end_of_word_suffix", ""}}}};
  nlohmann::json& model = json["model"];
  model["vocab"] = nlohmann::json::parse(std::ifstream(vocabulary));
  model["merges"] = nlohmann::json::array();
  std::ifstream file(merges);
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#version")) continue;
    const size_t space = line.find(' ');
    if (form == MergesAs::kPairs)
      model["merges"].push_back({line.substr(0, space), line.substr(space + 1)});
    else
      model["merges"].push_back(line);
  }
  for (const std::string& token : added)
    json["added_tokens"].push_back({{"id", model["vocab"].at(token)},
                                    {"content", token},
                                    {"single_word", false},
                                    {"lstrip", token == "<mask>"},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  return json;
}

}  // namespace torus::data
