// train -> convert -> generate -> evaluate, each the program itself.
#include <cmath>

#include "models/build_model.h"
#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/state_dict.h"
#include "parallel/trainer/checkpoint.h"
#include "tests/data/text/small_bpe.h"
#include "tests/testing/environment.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class Chain : public ProgramTest {
 protected:
  Ended Run(const std::string& program, const std::vector<std::string>& flags) const {
    const std::string file = program == "replay" ? "replay_main" : program;
    return Program("tools/" + program + "/" + file, flags, scratch_).Wait();
  }
  std::string Path(const std::string& name) const { return scratch_ + "/" + name; }
  void WriteText(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name)) << text;
  }
};

// The number behind `name` at the beginning of a line.
double Figure(const std::string& out, const std::string& name) {
  const size_t at = ("\n" + out).find("\n" + name + " ");
  EXPECT_NE(at, std::string::npos) << "no " << name << " in " << out;
  return at == std::string::npos ? NAN : std::stod(out.substr(at + name.size() + 1));
}

constexpr int kRepeats = 1000;

std::string Letters() {
  std::string text;
  for (int i = 0; i < kRepeats; ++i) text += "abcd";
  return text;
}

std::vector<std::string> CharacterRun(const std::string& data, const std::string& out) {
  return {"--preset",     "gpt-char-shakespeare",
          "--model",      "gpt-char:1",
          "--data-dir",   data,
          "--length",     "8",
          "--epoch-size", "960",
          "--warmup",     "5",
          "--out",        out};
}

TEST_F(Chain, ACharacterModelIsTrainedWritesAndIsEvaluated) {
  WriteText("text.txt", Letters());
  const Ended trained = Run("train", CharacterRun(Path("text.txt"), Path("run")));
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_NE(trained.out.find("run/model"), std::string::npos) << trained.out;
  const Ended written = Run("generate", {"--model", Path("run/model"), "--prompt", "ab", "--tokens",
                                         "6", "--temperature", "0"});
  EXPECT_EQ(written.out, "abcdabcd\n") << written.err;
  // A checkpoint is read as it is.
  const Ended again_written = Run("generate", {"--model", Path("run/checkpoint"), "--prompt", "ab",
                                               "--tokens", "6", "--temperature", "0"});
  EXPECT_EQ(again_written.out, "abcdabcd\n") << again_written.err;
  // Half the bytes say the same, with the same tokenizer.
  const Ended halved = Run("convert", {Path("run/model"), Path("half"), "--dtype", "bf16"});
  ASSERT_EQ(halved.status, 0) << halved.err;
  const Ended again = Run("generate", {"--model", Path("half"), "--prompt", "ab", "--tokens", "6",
                                       "--temperature", "0"});
  EXPECT_EQ(again.out, "abcdabcd\n") << again.err;
  const Ended exported = Run("convert", {Path("run"), Path("model.onnx")});
  EXPECT_NE(
      exported.out.find("ONNX opset 17: input_ids (batch, length) to logits (batch, length, "),
      std::string::npos)
      << exported.out << exported.err;
  const std::vector<std::string> evaluate = {"--init",     Path("run/model"), "--data",   "text",
                                             "--data-dir", Path("text.txt"),  "--length", "8"};
  const Ended evaluated = Run("evaluate", evaluate);
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  const nlohmann::json test = Json("run/summary.json")["test"];
  // The same mean of the same losses, in other batches.
  EXPECT_NEAR(Figure(evaluated.out, "loss"), test["loss"].get<double>(), 1e-5);
  EXPECT_NEAR(Figure(evaluated.out, "perplexity"), test["perplexity"].get<double>(), 1e-4);
  EXPECT_EQ(Figure(evaluated.out, "tokens"), test["samples"].get<int64_t>() * 8);
  const auto refused = [&](std::vector<std::string> more, const std::string& says) {
    more.insert(more.begin(), evaluate.begin(), evaluate.end());
    ExpectOneLine(Run("evaluate", more), 2, says);
  };
  refused({"--normalize", "half"},
          "--normalize applies to images only, not to long texts (--data text)");
  refused({"--image-size", "8"}, "--image-size applies to images only");
  refused({"--per-class"}, "applies to images and sentences only");
  refused({"--tokenizer", "chars"}, "run/model has its own tokenizer");
  ExpectOneLine(Run("evaluate", {"--init", "x", "--data", "cifar10", "--length", "8"}), 2,
                "--length applies to sentences and long texts only");
}

// Weights alone are read by the tokenizer with which train reads a text where nobody names one.
TEST_F(Chain, AFileOfWeightsIsEvaluatedByTheTokenizerOfItsTraining) {
  WriteText("text.txt", Letters());
  const std::vector<std::string> same = {"--model",    "gpt-char:1",     "--data",   "text",
                                         "--data-dir", Path("text.txt"), "--length", "8"};
  std::vector<std::string> flags = {"--batch-size", "8",        "--micro-batches", "1",
                                    "--stages",     "1",        "--max-steps",     "1",
                                    "--out",        Path("run")};
  flags.insert(flags.end(), same.begin(), same.end());
  ASSERT_EQ(Run("train", flags).status, 0);
  const auto evaluate = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"--init", Path("weights.safetensors")};
    all.insert(all.end(), same.begin(), same.end());
    all.insert(all.end(), more.begin(), more.end());
    return Run("evaluate", all);
  };
  ASSERT_EQ(Run("convert", {Path("run/checkpoint"), Path("weights.safetensors")}).status, 0);
  const Ended evaluated = evaluate({});
  for (const char* folder : {"run/model", "run/checkpoint"}) {
    const Ended same = Run("evaluate", {"--init", Path(folder), "--data", "text", "--data-dir",
                                        Path("text.txt"), "--length", "8"});
    ASSERT_EQ(same.status, 0) << same.err;
    EXPECT_EQ(evaluated.out, same.out) << evaluated.err;
  }
  data::WriteSmallBpe(scratch_, {"<|endoftext|>"});
  ExpectOneLine(evaluate({"--vocab-dir", scratch_}), 2, "(--tokenizer gpt2 has 259 tokens)");
}

// Of weights alone: a model's folder has its own.
TEST_F(Chain, AVocabularyIsBelowTheCommonFolder) {
  WriteText("text.txt", Letters());
  std::filesystem::create_directories(Path("common/bpe_gpt2_roberta"));
  data::WriteSmallBpe(Path("common/bpe_gpt2_roberta"), {"<|endoftext|>"});
  const torus::testing::EnvironmentVariable common("TORUS_DATA", Path("common"));
  const Ended tokenized =
      Run("tokenize", {"--tokenizer", "gpt2", "--out", Path("tokens"), Path("text.txt")});
  EXPECT_EQ(tokenized.status, 0) << tokenized.err;
  EXPECT_NE(tokenized.out.find(" tokens of 259 for training"), std::string::npos) << tokenized.out;
  std::vector<std::string> flags = CharacterRun(Path("text.txt"), Path("run"));
  flags.insert(flags.end(), {"--tokenizer", "gpt2", "--max-steps", "1"});
  ASSERT_EQ(Run("train", flags).status, 0);
  ASSERT_EQ(Run("convert", {Path("run/checkpoint"), Path("weights.safetensors")}).status, 0);
  const Ended evaluated =
      Run("evaluate", {"--init", Path("weights.safetensors"), "--model", "gpt-char:1", "--data",
                       "text", "--data-dir", Path("text.txt"), "--tokenizer", "gpt2"});
  EXPECT_EQ(evaluated.status, 0) << evaluated.err;
}

TEST_F(Chain, TokenFilesAreReadWithTheModelsOwnTokenizer) {
  WriteText("text.txt", Letters());
  ASSERT_EQ(
      Run("tokenize", {"--tokenizer", "chars", "--out", Path("tokens"), Path("text.txt")}).status,
      0);
  std::vector<std::string> flags = CharacterRun(Path("tokens"), Path("run"));
  flags.insert(flags.end(), {"--max-steps", "2"});
  ASSERT_EQ(Run("train", flags).status, 0);
  const auto evaluate = [&](const std::string& data, const std::string& split) {
    return Run("evaluate", {"--init", Path("run/model"), "--data", "text", "--data-dir", Path(data),
                            "--split", split});
  };
  const Ended folder = evaluate("tokens", "test"), text = evaluate("text.txt", "test");
  EXPECT_EQ(folder.out, text.out) << folder.err << text.err;
  EXPECT_EQ(Figure(evaluate("text.txt", "all").out, "tokens"), (4 * kRepeats - 1) / 8 * 8);
  WriteText("other.txt", "abcx");
  ExpectOneLine(evaluate("other.txt", "all"), 2, "U+0078");
  EXPECT_EQ(
      Run("tokenize", {"--tokenizer", "bytes", "--out", Path("bytes"), Path("text.txt")}).status,
      0);
  ExpectOneLine(evaluate("bytes", "test"), 2, "requires tokens of chars");
}

TEST_F(Chain, AResumedRunNeverChangesItsDtype) {
  WriteText("text.txt", Letters());
  std::vector<std::string> flags = CharacterRun(Path("text.txt"), Path("run"));
  flags.insert(flags.end(), {"--max-steps", "2"});
  ASSERT_EQ(Run("train", flags).status, 0);
  const auto resume = [&](const char* steps) {
    return Run("train", {"--resume", Path("run"), "--max-steps", steps});
  };
  ASSERT_EQ(resume("3").status, 0);
  const std::string checkpoint = Path("run/checkpoint");
  const std::string settings = ReadText(checkpoint + "/settings.json");
  for (const DType dtype : {DType::kBF16, DType::kF64}) {
    parallel::TrainState state = parallel::LoadCheckpoint(checkpoint);
    for (NamedTensor& weight : state.weights) weight.value = weight.value.To(dtype);
    parallel::SaveCheckpoint(checkpoint, state, {{"settings.json", settings}});
    const Ended resumed = resume("4");
    ExpectOneLine(resumed, 2, fmt::format("got {}", Name(dtype)));
    ExpectOneLine(resumed, 2, "must be f32");
  }
}

TEST_F(Chain, AveragesOfAnImageModelAreEvaluatedAsInTheRun) {
  const Ended trained = Run("train", Small("run", {"--ema", "0.9", "--codec", "none"}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  const std::string averages = Path("run/averaged_weights.safetensors");
  EXPECT_NE(trained.out.find("model           " + averages + "\n"), std::string::npos)
      << trained.out;
  const Ended exported = Run("convert", {Path("run"), Path("model.onnx")});
  EXPECT_NE(
      exported.out.find("ONNX opset 17: images (batch, 3, height, width) to logits (batch, 10)\n"),
      std::string::npos)
      << exported.out << exported.err;
  const auto loss_of = [&](const std::string& weights) {
    const Ended evaluated =
        Run("evaluate", {"--model", "mobilenet_v2:0.1", "--init", weights, "--data",
                         "fashion-mnist", "--data-dir", Path("data")});
    EXPECT_EQ(evaluated.status, 0) << evaluated.err;
    return Figure(evaluated.out, "loss");
  };
  const double loss = Json("run/summary.json")["test"]["loss"].get<double>();
  EXPECT_NEAR(loss_of(averages), loss, 1e-5 * loss);
  EXPECT_GT(std::abs(loss_of(Path("run/checkpoint")) - loss), 1e-3 * loss);
  const Ended begun =
      Run("train", {"--model", "mobilenet_v2:0.1", "--data-dir", Path("data"), "--batch-size", "24",
                    "--micro-batches", "2", "--init", averages, "--eval-only"});
  EXPECT_NE(begun.out.find(fmt::format("loss {:.4f}", loss)), std::string::npos)
      << begun.out << begun.err;
}

TEST_F(Chain, ARunWithoutAveragesLeavesNone) {
  const Ended trained = Run("train", Small("run", {"--max-steps", "1"}));
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_FALSE(std::filesystem::exists(Path("run/averaged_weights.safetensors")));
  EXPECT_EQ(trained.out.find("\nmodel "), std::string::npos) << trained.out;
}

// As train says it.
TEST_F(Chain, EveryProgramSaysAWrongFlagInOneLine) {
  for (const char* program : {"convert", "evaluate", "generate", "replay", "tokenize"}) {
    const Ended wrong = Run(program, {"--nonsense", "1"}), help = Run(program, {"--help"});
    ExpectOneLine(wrong, 2, std::string(program) + ": ");
    ExpectOneLine(wrong, 2, "(--help lists the flags)");
    EXPECT_EQ(help.status, 0) << help.err;
    EXPECT_NE(help.out.find("--help"), std::string::npos) << help.out;
  }
  ExpectOneLine(Run("generate", {"--model", scratch_, "--nonsense"}), 2, "--nonsense");
  ExpectOneLine(Run("generate", {}), 2, "generate: --model is required");
  ExpectOneLine(Run("evaluate", {"--init", "x", "--split", "half"}), 2,
                "--split must be one of train, test, all, got half");
}

// Twelve steps of four to an epoch.
std::vector<std::string> MaskedRun(const std::string& folder, const std::string& out) {
  return {"--model",
          "roberta-mlm:1",
          "--data",
          "text",
          "--data-dir",
          folder + "/text.txt",
          "--tokenizer",
          "roberta",
          "--vocab-dir",
          folder,
          "--length",
          "16",
          "--epoch-size",
          "64",
          "--epochs",
          "3",
          "--batch-size",
          "16",
          "--micro-batches",
          "2",
          "--codec",
          "none",
          "--optimizer",
          "adamw",
          "--lr",
          "1e-3",
          "--warmup",
          "2",
          "--out",
          folder + "/" + out};
}

TEST_F(Chain, AMaskedModelIsTrainedResumedWritesAndIsEvaluated) {
  WriteText("text.txt", Letters());
  data::WriteSmallBpe(scratch_, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const auto run = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> flags = MaskedRun(scratch_, out);
    flags.insert(flags.end(), more.begin(), more.end());
    const Ended ended = Run("train", flags);
    EXPECT_EQ(ended.status, 0) << ended.err;
  };
  run("one", {"--stages", "1", "--threads", "1"});
  EXPECT_EQ(Losses("one").size(), 12u);
  EXPECT_LT(Losses("one").back(), 0.5 * Losses("one").front());
  run("two", {"--stages", "2", "--threads", "2"});
  EXPECT_EQ(Losses("two"), Losses("one"));
  EXPECT_TRUE(Tensors("two") == Tensors("one"));  // EXPECT_EQ would print the bytes
  run("part", {"--stages", "1", "--threads", "1", "--max-steps", "6"});
  const Ended resumed = Run("train", {"--resume", Path("part")});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(Losses("part"), Losses("one"));
  EXPECT_TRUE(Tensors("part") == Tensors("one"));
  const nlohmann::json test = Json("one/summary.json")["test"];
  const Ended evaluated = Run("evaluate", {"--init", Path("one/model"), "--data", "text",
                                           "--data-dir", Path("text.txt"), "--length", "16"});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  // The same masks: 15 % of the 14 tokens of a row, beside <s> and </s>.
  EXPECT_EQ(Figure(evaluated.out, "tokens"), 2 * test["samples"].get<int64_t>());
  EXPECT_NEAR(Figure(evaluated.out, "loss"), test["loss"].get<double>(), 1e-4);
  const Ended of_file =
      Run("evaluate",
          {"--model", "roberta-mlm:1", "--init", Path("one/model/model.safetensors"), "--vocab-dir",
           scratch_, "--data", "text", "--data-dir", Path("text.txt"), "--length", "16"});
  EXPECT_EQ(of_file.out, evaluated.out) << of_file.err;
}

// A masked model of one layer, its body to be fine-tuned.
void WriteBody(const std::string& folder) {
  const ModelSpec model = ParseModelSpec("roberta-mlm:1");
  const auto body = BuildModel(model, 50265, 1);
  WriteHuggingFace(folder, {TransformersConfigOf(model, 50265), StateDict(*body), {}});
}

TEST_F(Chain, ABodyIsFineTunedAndSaysWhatIsNew) {
  WriteBody(Path("body"));
  data::WriteSmallBpe(scratch_, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  std::string table = "index\tsentence1\tsentence2\tlabel\n";
  for (int i = 0; i < 8; ++i)
    table +=
        fmt::format("{}\tab a{}\tab\t{}\n", i, i, i % 2 == 0 ? "entailment" : "not_entailment");
  WriteText("train.tsv", table);
  WriteText("dev.tsv", table);
  const std::vector<std::string> data = {"--data", "rte", "--data-dir", scratch_, "--length", "16"};
  std::vector<std::string> flags = {"--preset",        "roberta-rte",
                                    "--model",         "roberta:1",
                                    "--init",          Path("body"),
                                    "--vocab-dir",     scratch_,
                                    "--batch-size",    "8",
                                    "--micro-batches", "1",
                                    "--stages",        "1"};
  flags.insert(flags.end(), data.begin(), data.end());
  std::vector<std::string> training = flags;
  training.insert(training.end(), {"--max-steps", "1", "--warmup", "0", "--out", Path("run")});
  const Ended trained = Run("train", training);
  ASSERT_EQ(trained.status, 0) << trained.err;
  EXPECT_NE(trained.out.find("body lacks, so they begin at random: classifier.dense.weight, "
                             "classifier.dense.bias, classifier.out_proj.weight, "
                             "classifier.out_proj.bias\n"),
            std::string::npos)
      << trained.out;
  EXPECT_NE(trained.out.find("lm_head.layer_norm.weight"), std::string::npos) << trained.out;
  std::vector<std::string> evaluate = {"--init", Path("run/model"), "--per-class"};
  evaluate.insert(evaluate.end(), data.begin(), data.end());
  const Ended evaluated = Run("evaluate", evaluate);
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  const nlohmann::json test = Json("run/summary.json")["test"];
  EXPECT_NEAR(Figure(evaluated.out, "loss"), test["loss"].get<double>(), 1e-4);
  EXPECT_EQ(Figure(evaluated.out, "accuracy"), 100 * test["accuracy"].get<double>());
  // Without --length rows may be as long as the model takes; these need less.
  const Ended whole = Run("evaluate", {"--init", Path("run/model"), "--data", "rte", "--data-dir",
                                       scratch_, "--per-class"});
  EXPECT_EQ(whole.out, evaluated.out) << whole.err;
  for (const char* figure : {"not_entailment ", "F1 ", "Matthews correlation "})
    EXPECT_NE(evaluated.out.find(figure), std::string::npos) << figure;
  // Without a head there is nothing to evaluate.
  flags.insert(flags.end(), "--eval-only");
  ExpectOneLine(Run("train", flags), 2, "classifier.dense.weight is missing");
}

}  // namespace
}  // namespace torus::tools::testing
