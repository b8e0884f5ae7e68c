// The tab-separated files of GLUE (Wang et al., "GLUE: a multi-task benchmark and analysis platform
// for natural language understanding", 2019).
//
// No quoting: a quotation mark is a character of its sentence, as the files have it. A byte order
// mark and carriage returns before line feeds are dropped.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace torus::data {

// The label of examples from files without labels (GLUE's test files).
inline constexpr int64_t kNoLabel = -1;

struct TextExample {
  std::string first, second;  // second: empty where the task has one sentence
  int64_t label = kNoLabel;
};

// A line that was left out, and why: "requires 4 columns, got 3".
struct SkippedLine {
  size_t line = 0;
  std::string reason;
};

struct TextTable {
  std::string name;                  // "rte train.tsv"
  std::string path;                  // of the file
  bool pairs = false;                // of two sentences
  std::vector<std::string> classes;  // names of the labels 0, 1, ...
  std::vector<TextExample> examples;
  std::vector<SkippedLine> skipped;
};

// Names that ReadGlue knows: rte, cola, sst2, wnli, qqp, mrpc.
//
//   rte   sentence1, sentence2, label (entailment 0, not_entailment 1)
//   wnli  sentence1, sentence2, label (0, 1)
//   qqp   question1, question2, is_duplicate (0, 1)
//   mrpc  #1 String, #2 String, Quality (0, 1)
//   sst2  sentence, label (0, 1); without a header "label sentence", as the labelled test file is
//   cola  sentence, label (0, 1); without a header four columns: source, label, mark, sentence
std::vector<std::string> GlueTasks();

// Reads a file of a task. Columns are found by their names in the header. Where the header has no
// column for the label (the test files), the examples have kNoLabel.
//
// A bad line (another number of columns than the header, an empty sentence, a label that the task
// does not have) is skipped and listed in `skipped`. One bad line, or one in a hundred, is allowed;
// more are BadInput naming the file, the first bad line and its reason. BadInput also for an
// unknown task, a file without examples, a header without the columns of the sentences, and text
// that is not UTF-8.
TextTable ReadGlue(const std::string& task, const std::string& path);

}  // namespace torus::data
