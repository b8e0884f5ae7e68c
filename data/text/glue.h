// The tab-separated files of GLUE (Wang et al., "GLUE: a multi-task benchmark and analysis platform
// for natural language understanding", 2019).
//
// There is no quoting: quotation marks are ordinary characters, as in the published files. A byte
// order mark, carriage returns before line feeds, and empty lines are dropped. A label is its
// number or its class's name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torus::data {

// The label of examples from files without labels (GLUE's test files).
inline constexpr int64_t kNoLabel = -1;

struct TextExample {
  std::string first, second;  // second: empty if the task has one sentence
  int64_t label = kNoLabel;
};

// A line that was skipped, and why: "requires 4 columns, got 3".
struct SkippedLine {
  size_t line = 0;
  std::string reason;
};

struct TextTable {
  std::string name;                  // "rte train.tsv"
  std::string path;                  // the file's
  std::string header;                // its first line, for a message; shortened
  bool pairs = false;                // whether examples are pairs of sentences
  std::vector<std::string> classes;  // names of the labels 0, 1, ...
  std::string label_column;          // its name in the task's files
  bool labelled = false;             // whether this file has it
  std::vector<TextExample> examples;
  std::vector<SkippedLine> skipped;
};

// The tasks that ReadGlue knows: rte, cola, sst2, wnli, qqp, mrpc.
//
//   rte   sentence1, sentence2, label (entailment or 0, not_entailment or 1)
//   wnli  sentence1, sentence2, label (0, 1)
//   qqp   question1, question2, is_duplicate (0, 1)
//   mrpc  #1 String, #2 String, Quality (0, 1)
//   sst2  sentence, label (0, 1); without a header "label sentence", as the labelled test file is
//   cola  sentence, label (0, 1); without a header four columns: source, label, mark, sentence
std::vector<std::string> GlueTasks();
// The names of a task's labels 0, 1, ...
std::vector<std::string> GlueClasses(const std::string& task);

// Reads a file of a task. Columns are found by their names in the header. If the header has no
// label column (as in test files), the examples have kNoLabel.
//
// A bad line (a different number of columns than the header, an empty sentence, an unknown label)
// is skipped and listed in `skipped`. One bad line, or one in a hundred, is tolerated; for more,
// throws BadInput naming the file, the first bad line and its reason. Also throws BadInput for an
// unknown task, a file without examples, a header without the sentence columns, and text that is
// not UTF-8.
TextTable ReadGlue(const std::string& task, const std::string& path);

}  // namespace torus::data
