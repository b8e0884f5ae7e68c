// Messages about examples that a reader left out, and what it passed over because it is no example.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "data/datasets/dataset.h"

namespace torus::recipes {

// What a list holds: examples that count nowhere (Dataset::left_out), or "other files passed over"
// (Dataset::passed_over).
enum class Omitted { kExamples, kOthers };

// "2 examples left out: a/1.png: requires ...; b/train.tsv line 7: requires 4 columns, got 3". If
// there are more than five: the first five, how many more there are, and `file`, which lists all.
// Without a `file`: a line for each. `more`: others were reported before ("2 more examples").
std::string LeftOutText(const std::vector<data::LeftOut>& left_out, bool more = false,
                        const std::string& file = "", Omitted what = Omitted::kExamples);

// Reports each example that a run leaves out, once. A damaged image may be found in any step.
class LeftOutNotes {
 public:
  // Appends a line for each example to `file`, which may have lines already if the run was resumed.
  // "": writes no file, and Tell reports every example in full.
  explicit LeftOutNotes(std::string file = "", Omitted what = Omitted::kExamples);

  // Writes what is new in `left_out` to the file, and returns LeftOutText of it, or "" if nothing
  // is new. Throws BrokenEnvironment if the file cannot be written.
  std::string Tell(const std::vector<data::LeftOut>& left_out);

 private:
  std::string file_;
  Omitted what_;
  std::set<std::string> written_;  // lines of the file
  std::set<std::string> told_;     // LeftOut::where of what was reported
};

// "3 of 277 examples truncated to 128 tokens"; empty if none was.
std::string TruncatedLine(int64_t truncated, int64_t examples, int64_t length);

}  // namespace torus::recipes
