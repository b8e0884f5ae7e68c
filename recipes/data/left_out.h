// What a reader left out, as the programs say it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"

namespace torus::recipes {

// "2 examples left out: a/1.png: requires ...; b/train.tsv line 7: requires 4 columns, got 3". Of
// more than five the first five, how many more there are and `file`, which names all; without a
// `file` a line for each. `more`: others were told before ("2 more examples").
std::string LeftOutText(const std::vector<data::LeftOut>& left_out, bool more = false,
                        const std::string& file = "");

// Tells of each example that a run leaves out once: a damaged image may turn up in any step.
class LeftOutNotes {
 public:
  // `file` gets a line for each, after those that a resumed run had in it; "": no file is written,
  // and all are told in full.
  explicit LeftOutNotes(std::string file = "");

  // What is new in `left_out` goes into the file; LeftOutText of it, or "" where nothing is new.
  // BrokenEnvironment where the file cannot be written.
  std::string Tell(const std::vector<data::LeftOut>& left_out);

 private:
  std::string file_;
  std::set<std::string> written_;  // lines of the file
  std::set<std::string> told_;     // where they are
};

// "3 of 277 examples truncated to 128 tokens"; empty where none was.
std::string TruncatedLine(int64_t truncated, int64_t examples, int64_t length);

}  // namespace torus::recipes
