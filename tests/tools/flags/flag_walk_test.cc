// Every flag of every program, in each context: what --help says of it, where it is refused, and
// where it is taken.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/testing/program.h"
#include "tools/common/flag_table.h"

namespace torus::tools::testing {
namespace {

using Words = std::vector<std::string>;

// Command lines that are such a context, and that are not. One that cannot be has no value.
struct Place {
  std::optional<Words> here, elsewhere;
};

struct Walk {
  std::string program, path;
  Words always;  // what it needs to get as far as the table, and to end soon behind it
  std::map<std::string, Place> places;
  std::map<std::string, std::string> values = {};  // of flags whose default does not do
};

void PrintTo(const Walk& walk, std::ostream* out) { *out << walk.program; }

constexpr char kNowhere[] = "/nowhere/at/all";

const Place kLow{Words{"--precision", "bf16", "--emulate"}, Words{"--precision", "f32"}};

// A question of the labs, to which these contexts apply.
Walk QuestionWalk(const std::string& name, const std::set<std::string>& here) {
  Walk walk{name,
            "tools/labs/questions/" + name,
            {"--data-dir", kNowhere, "--out", ::testing::TempDir() + "labs"},
            {},
            {{"--memory-limit", "1GB"}, {"--link", "1ms,1Gbps"}}};
  for (const char* context :
       {"whole-epochs", "some-steps", "two-batches", "tests", "full-memory", "several-ranks"}) {
    const bool holds = here.contains(context);
    walk.places[context] = {holds ? std::optional(Words()) : std::nullopt,
                            holds ? std::nullopt : std::optional(Words())};
  }
  return walk;
}

Walk ExperimentWalk(const std::string& name, bool trains) {
  const std::optional<Words> always = Words();
  const Place place = trains ? Place{always, std::nullopt} : Place{std::nullopt, always};
  return {name,
          "tools/experiments/" + name + "/" + name,
          {"--dry-run"},
          {{"trains", place}},
          {{"--data", kNowhere}}};
}

std::vector<Walk> Walks() {
  const std::string nowhere = kNowhere;
  const Words two{"--stages", "2"}, one{"--stages", "1"}, sgd{"--optimizer", "sgd"},
      adam{"--optimizer", "adamw"}, codec{"--stages", "2", "--codec", "sortq:8"};
  const Words image_model{"--model", "resnet18"}, text_model{"--model", "gpt2", "--data", "text"},
      images{"--data", "cifar10", "--model", "resnet18"}, texts{"--data", "text"};
  const Words collectives{"--collectives", "--ranks", "2",      "--bytes",     "8",
                          "--rounds",      "1",       "--case", "none of them"};
  return {
      {"train",
       "tools/train/train",
       {"--data-dir", nowhere},
       {{"images", {image_model, text_model}},
        {"image-files",
         {Words{"--model", "resnet18", "--data", "food101", "--image-size", "64"}, images}},
        {"texts", {text_model, image_model}},
        {"text", {text_model, Words{"--model", "roberta", "--data", "rte"}}},
        {"vocabulary", {Words{"--tokenizer", "gpt2"}, Words{"--tokenizer", "chars"}}},
        {"training", {Words{}, Words{"--eval-only", "--init", nowhere}}},
        {"scored", {Words{"--validation", "0.1"}, Words{"--validation", "0"}}},
        {"new", {Words{}, std::nullopt}},  // needs a run
        {"weights", {Words{"--init", nowhere}, Words{}}},
        {"sgd", {sgd, adam}},
        {"adam", {adam, sgd}},
        {"momentum", {sgd, adam}},
        {"chunks", {Words{"--stages", "4", "--schedule", "interleaved"}, Words{"--stages", "4"}}},
        {"stages", {two, one}},
        {"cut", {two, one}},
        {"auto", {Words{"--stages", "2", "--cut", "auto"}, Words{"--stages", "2", "--cut", "1"}}},
        {"codec", {codec, Words{"--codec", "none"}}},
        {"samples", {Words{"--stages", "2", "--codec", "delta(uniform:4)"}, codec}},
        {"replicas", {Words{"--replicas", "2"}, Words{"--replicas", "1"}}},
        {"ddp", {Words{}, Words{"--strategy", "zero1"}}},
        {"tensor", {Words{"--tensor", "2"}, Words{"--tensor", "1"}}},
        {"ranks", {two, one}},
        {"gpu", {Words{"--device", "cuda"}, Words{"--device", "cpu"}}},
        {"low", kLow}},
       {{"--chunks", "2"},
        {"--codec", "sortq:8"},
        {"--codec-backward", "uniform:8"},
        {"--codec-warmup", "5"},
        {"--verify-resume", "1"},
        {"--codec-gradients", "powersgd:2"},
        {"--rank-memory", "1GB"},
        {"--link", "1ms,1Gbps"},
        {"--optimizer", "sgd"},
        {"--beta1", "0.8"},
        {"--beta2", "0.8"},
        {"--optimizer-state", "bf16"},
        {"--tokenizer", "bytes"},
        {"--vocab-dir", nowhere},
        {"--lr-schedule", "constant"},
        {"--preset", "resnet18-cifar10"},
        {"--plans", nowhere},
        {"--patience", "3"},
        {"--lora", "4"},
        {"--max-steps", "3"}}},
      {"evaluate",
       "tools/evaluate/evaluate",
       {"--init", nowhere, "--data-dir", nowhere},
       {{"images", {images, texts}},
        {"texts", {texts, images}},
        {"classes", {images, texts}},
        {"vocabulary", {Words{}, Words{"--tokenizer", "bytes"}}},
        {"low",
         {Words{"--precision", "bf16", "--emulate", "--data", "cifar10", "--model", "resnet18"},
          Words{"--precision", "f32"}}}},
       {{"--vocab-dir", nowhere}, {"--tokenizer", "gpt2"}}},
      {"generate",
       "tools/generate/generate",
       {"--model", nowhere},
       {{"sampling", {Words{}, Words{"--temperature", "0"}}},
        {"stdin", {Words{"--stdin"}, Words{}}},
        {"no-stdin", {Words{}, Words{"--stdin"}}},
        {"low", kLow}}},
      {"convert",
       "tools/convert/convert",
       {nowhere + ".safetensors"},
       {{"model", {Words{"--model", "resnet18"}, Words{}}},
        {"output", {Words{"/nowhere/none.safetensors"}, Words{}}},
        {"tensors", {Words{"/nowhere/none.safetensors"}, Words{"/nowhere/none.onnx"}}},
        {"onnx", {Words{"/nowhere/none.onnx"}, Words{"/nowhere/none.safetensors"}}},
        {"folder", {Words{"/nowhere/none_of_it"}, Words{"/nowhere/none.safetensors"}}}},
       {{"--dtype", "f16"}}},
      {"tokenize",
       "tools/tokenize/tokenize",
       {"--out", "/tmp/none_of_it", nowhere},
       {{"encodes", {Words{"--vocab-dir", nowhere}, Words{"--train", "300"}}},
        {"vocabulary", {Words{"--vocab-dir", nowhere}, Words{"--tokenizer", "chars"}}}},
       {{"--vocab-dir", nowhere}}},
      {"codec",
       "tools/codec/codec",
       {nowhere},
       {{"encode", {Words{}, Words{"--decoded", "/tmp/none"}}},
        {"one-codec", {Words{}, Words{"--all"}}},
        {"files", {Words{}, Words{"--links", "1"}}}},
       {{"--picture", "/tmp/none"},
        {"--encoded", "/tmp/none"},
        {"--json", "/tmp/none"},
        {"--links", "1"}}},
      {"simulate",
       "tools/simulate/simulate",
       {},
       {{"no-fit", {Words{}, Words{"--fit", nowhere}}},
        {"no-file", {Words{}, Words{"--file", nowhere}}},
        {"no-trace", {Words{}, Words{"--from-trace", nowhere}}},
        {"draw", {Words{"--draw", "gpipe"}, Words{}}},
        {"tensor", {Words{"--tensor", "2", "--model", "gpt2"}, Words{"--tensor", "1"}}}},
       {{"--link", "1ms,1Gbps"},
        {"--tensor-link", "1ms,1Gbps"},
        {"--model", "gpt2"},
        {"--draw", "gpipe"},
        {"--file", nowhere},
        {"--from-trace", nowhere},
        {"--svg", nowhere},
        {"--json", nowhere}}},
      {"report", "tools/report/report", {nowhere}, {}},
      {"bench",
       "tools/bench/bench",
       {"--benchmark_filter=none of them"},
       {{"steps", {Words{"--step_json", nowhere}, Words{}}},
        {"collectives", {collectives, Words{}}},
        {"no-collectives", {Words{}, Words{"--collectives"}}},
        {"kernels", {Words{}, Words{"--memory"}}},
        {"low", kLow}}},
      {"mpi_bench",
       "tools/bench/mpi_bench",
       {},
       {{"collectives", {Words{"--collectives", "--case", "none of them"}, Words{}}},
        {"no-collectives", {std::nullopt, Words{"--collectives"}}}}},
      QuestionWalk("q1", {"full-memory"}),
      QuestionWalk("q2", {"several-ranks"}),
      QuestionWalk("q3_1", {"several-ranks"}),
      QuestionWalk("q3_2", {"several-ranks"}),
      QuestionWalk("q4_1", {"several-ranks", "whole-epochs", "two-batches", "tests"}),
      QuestionWalk("q4_2", {"several-ranks", "whole-epochs", "two-batches", "tests"}),
      QuestionWalk("q5", {"several-ranks", "whole-epochs", "tests"}),
      QuestionWalk("q6", {"several-ranks", "tests"}),
      QuestionWalk("q7", {"several-ranks", "some-steps"}),
      {"cuda_bench", "tools/bench/cuda_bench", {}, {}, {{"--autotune", "/tmp/none"}}},
      {"ledger", "tools/ledger/ledger", {}, {}},
      {"measure_blocks", "tools/train/measure_blocks", {}, {}},
      {"replay", "tools/replay/replay_main", {}, {}},
      {"grade", "tools/labs/build_it_yourself/grade", {}, {}},
      {"grade_all", "tools/labs/build_it_yourself/grade_all", {}, {}},
      ExperimentWalk("altogether", true),
      ExperimentWalk("data_parallel_breakdown", true),
      ExperimentWalk("gpt3xl_baselines", true),
      ExperimentWalk("gpt3xl_networks", true),
      ExperimentWalk("parameters", false),
      ExperimentWalk("pipeline_vs_data_parallel", true),
      ExperimentWalk("roberta_data_parallel_throughput", true),
      ExperimentWalk("sort_quantization", true),
  };
}

// An option as --help shows it.
struct Entry {
  std::string flag, value;  // the default, if it is shown
  bool takes_value = false, has_default = false;
};

// "--rate FLOAT=1 REQUIRED" and what is said of it.
Entry EntryOf(const std::string& head, const std::string& about) {
  Entry entry;
  entry.flag = head.substr(0, head.find_first_of(" ,{"));
  entry.takes_value = head.find(' ') != head.npos;
  const size_t equals = head.find('=');
  if (equals != head.npos)
    entry.value = head.substr(equals + 1, head.find(' ', equals) - equals - 1);
  entry.has_default = equals != head.npos || head.find("REQUIRED") != head.npos ||
                      about.find("Default") != about.npos;
  return entry;
}

// "-h,--help" is left out, as are positional arguments.
std::map<std::string, Entry> EntriesOf(const std::string& help) {
  std::vector<std::pair<std::string, std::string>> all;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  --")) {
      const size_t end = line.find("  ", 2);
      all.push_back({line.substr(2, end == line.npos ? end : end - 2), line});
    } else if (!all.empty()) {
      all.back().second += " " + line;
    }
  }
  std::map<std::string, Entry> entries;
  for (const auto& [head, about] : all) {
    const Entry entry = EntryOf(head, about);
    entries[entry.flag] = entry;
  }
  return entries;
}

class FlagWalk : public ::testing::TestWithParam<Walk> {
 protected:
  // Whatever data this machine has, the programs find none.
  void SetUp() override {
    setenv("TORUS_DATA", kNowhere, 1);
    scratch_ = ::testing::TempDir() + GetParam().program;
    std::filesystem::create_directories(scratch_);
    help_ = EntriesOf(Run({"--help"}).out);
  }
  Ended Run(const Words& arguments) const {
    return Program(GetParam().path, arguments, scratch_).Wait();
  }
  // A value of another kind than the default is not looked for.
  std::string ValueOf(const std::string& flag) const {
    const auto own = GetParam().values.find(flag);
    if (own != GetParam().values.end()) return own->second;
    const std::string shown = help_.at(flag).value;
    return shown.empty() ? "2" : shown.starts_with("[") ? "2" : shown;
  }
  std::vector<std::string_view> ContextsOf(const std::string& flag) const {
    const FlagRow* const row = RowOf(GetParam().program, flag);
    return row == nullptr ? std::vector<std::string_view>{} : tools::Words(row->where);
  }
  // Each flag of `words` with its values, but those that `line` has.
  static void AddOptions(const Words& words, Words& line) {
    const auto given = [&](const std::string& word) {
      return std::ranges::find(line, word) != line.end();
    };
    bool skipped = false;
    Words added;
    for (const std::string& word : words) {
      if (word.starts_with("--")) skipped = given(word);
      if (!skipped) added.push_back(word);
    }
    line.insert(line.end(), added.begin(), added.end());
  }
  // The command line with `flag`, where all contexts of its row hold but `missing`.
  std::optional<Words> Line(const std::string& flag, std::string_view missing) const {
    Words line = GetParam().always;
    for (const std::string_view context : ContextsOf(flag)) {
      const Place& place = GetParam().places.at(std::string(context));
      const std::optional<Words>& words = context == missing ? place.elsewhere : place.here;
      if (!words) return std::nullopt;
      AddOptions(*words, line);
    }
    if (std::ranges::count(line, flag) > 0) return line;
    line.push_back(flag);
    if (help_.at(flag).takes_value) line.push_back(ValueOf(flag));
    return line;
  }
  static std::string Joined(const Words& words) {
    std::string all;
    for (const std::string& word : words) all += word + " ";
    return all;
  }

  std::string scratch_;
  std::map<std::string, Entry> help_;
};

TEST_P(FlagWalk, TheTableHasTheFlagsOfHelpAndNoOther) {
  std::set<std::string> of_table, of_help;
  for (const FlagRow& row : FlagTable())
    if (RowOf(GetParam().program, tools::Words(row.flags)[0]) == &row)
      for (const std::string_view flag : tools::Words(row.flags)) of_table.emplace(flag);
  for (const auto& [flag, entry] : help_) of_help.insert(flag);
  EXPECT_EQ(of_table, of_help);
}

TEST_P(FlagWalk, HelpShowsADefaultOfEachOption) {
  EXPECT_FALSE(help_.empty());
  for (const auto& [flag, entry] : help_)
    EXPECT_TRUE(!entry.takes_value || entry.has_default) << flag;
}

TEST_P(FlagWalk, AFlagIsRefusedWhereItDoesNotApply) {
  for (const auto& [flag, entry] : help_)
    for (const std::string_view context : ContextsOf(flag)) {
      const auto line = Line(flag, context);
      if (!line) continue;
      const Ended ended = Run(*line);
      EXPECT_EQ(ended.status, 2) << Joined(*line);
      // The device is looked for before flags are compared.
      if (ended.err.find("this build has no GPUs") != std::string::npos) continue;
      // Another flag of the line may be refused for the same reason.
      const size_t why = ended.err.find(ContextNamed(context).needs);
      const auto refused = [&](const std::string& word) {
        return word.starts_with("--") && ended.err.find(word + " ") < why;
      };
      EXPECT_TRUE(why != std::string::npos && std::ranges::any_of(*line, refused))
          << Joined(*line) << "\n  says " << ended.err;
      EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    }
}

TEST_P(FlagWalk, AFlagIsTakenWhereItApplies) {
  for (const auto& [flag, entry] : help_) {
    const auto contexts = ContextsOf(flag);
    const auto line = contexts.empty() ? std::nullopt : Line(flag, "");
    if (!line) continue;
    const Ended ended = Run(*line);
    for (const std::string_view context : contexts)
      EXPECT_EQ(ended.err.find(ContextNamed(context).needs), std::string::npos)
          << Joined(*line) << "\n  says " << ended.err;
    // As far as what is not there.
    EXPECT_TRUE(ended.status == 0 || ended.err.find("nowhere") != std::string::npos ||
                ended.err.find("GPU") != std::string::npos)
        << Joined(*line) << "\n  says " << ended.err;
  }
}

class FlagPrograms : public ProgramTest {};

// What stands in the table and nobody walks would be held by nothing. Not there are the programs
// without flags, and train_with, whose flags are train's.
TEST_F(FlagPrograms, OfTheTableAreAllWalked) {
  std::set<std::string> of_table, walked;
  for (const FlagRow& row : FlagTable())
    for (const std::string_view program : tools::Words(row.programs)) of_table.emplace(program);
  for (const Walk& walk : Walks()) walked.insert(walk.program);
  EXPECT_EQ(of_table, walked);
}

TEST_F(FlagPrograms, HelpOfAProgramWithoutFlagsMeasuresNothing) {
  const Ended ended = Program("tools/simulate/link_times", {"--help"}, scratch_).Wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.out.find("Measures emulated links"), std::string::npos) << ended.out;
  for (const char* program : {"tools/simulate/link_times", "tools/labs/build_it_yourself/strip"})
    ExpectOneLine(Program(program, {"--fast", scratch_ + "/new"}, scratch_).Wait(), 2,
                  "unknown flag --fast");
}

// The experiments that train look for data before a plan too.
TEST_F(FlagPrograms, WhatCountsParametersNeedsNoData) {
  setenv("TORUS_DATA", kNowhere, 1);
  const auto run = [&](const std::string& name) {
    return Program("tools/experiments/" + name + "/" + name,
                   {"--dry-run", "--out", scratch_ + "/out"}, scratch_)
        .Wait();
  };
  const Ended counts = run("parameters");
  EXPECT_EQ(counts.status, 0) << counts.err;
  ExpectOneLine(run("sort_quantization"), 2, "--data, or TORUS_DATA, must name a folder");
}

TEST_F(FlagPrograms, AWordThatIsNoFlagOfABenchmarkIsRefused) {
  ExpectOneLine(Program("tools/bench/bench", {"--memorry"}, scratch_).Wait(), 2, "--memorry");
  ExpectOneLine(Program("tools/bench/bench", {"--memory", "yes"}, scratch_).Wait(), 2, "yes");
  ExpectOneLine(Program("tools/bench/bench", {"--collectives", "--ranks", "0"}, scratch_).Wait(), 2,
                "--ranks");
}

INSTANTIATE_TEST_SUITE_P(Programs, FlagWalk, ::testing::ValuesIn(Walks()),
                         [](const auto& walk) { return walk.param.program; });

}  // namespace
}  // namespace torus::tools::testing
