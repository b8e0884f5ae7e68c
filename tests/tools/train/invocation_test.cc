// The command line: what is refused, in one line, and what follows from what.
#include "tools/train/invocation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "data/images/augment.h"
#include "models/registry.h"
#include "parallel/codec/make_codec.h"
#include "parallel/schedule/factory.h"
#include "recipes/run/make_optimizer.h"
#include "recipes/settings/settings_json.h"
#include "runtime/error.h"
#include "runtime/vector_unit.h"

namespace torus::tools {
namespace {

Invocation Parse(std::vector<const char*> flags) {
  flags.insert(flags.begin(), "train");
  Invocation invocation = ParseInvocation(static_cast<int>(flags.size()), flags.data());
  if (invocation.help.empty()) CheckAndComplete(invocation);
  return invocation;
}

struct Refusal {
  std::vector<const char*> flags;
  const char* says;
};

class Refused : public ::testing::TestWithParam<Refusal> {};

TEST_P(Refused, InOneLine) {
  try {
    Parse(GetParam().flags);
    FAIL() << "accepted";
  } catch (const BadInput& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find(GetParam().says), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Flags, Refused,
    ::testing::Values(
        Refusal{{"--codec-folder", "/samples"},
                "--codec-folder /samples is for the samples of delta(...), but --codec is sortq:8"},
        Refusal{{"--codec-folder", "/samples", "--codec-backward", "uniform:8"},
                "but --codec is sortq:8 and --codec-backward uniform:8"},
        Refusal{{"--validation", "1"}, "--validation must be from 0 to below 1, got 1"},
        Refusal{{"--best", "tset"}, "--best must be one of validation, test, got tset"},
        Refusal{{"--random-erasing", "1.5"}, "--random-erasing must be from 0 to 1, got 1.5"},
        Refusal{{"--mixup", "-0.1"}, "--mixup must be from 0 to"},
        Refusal{{"--cutmix", "nan"}, "--cutmix"},
        Refusal{{"--find-lr", "--lr", "1"}, "--find-lr looks for --lr in a run of its own"},
        Refusal{{"--lora", "8"}, "it needs --init"},
        Refusal{{"--lora", "8", "--init", "a", "--replicas", "2", "--strategy", "zero1"},
                "--lora needs a --strategy whose replicas hold whole matrices (ddp, none), got "
                "zero1"},
        Refusal{{"--lora", "8", "--init", "a", "--replicas", "2", "--strategy", "local-sgd:4"},
                "got local-sgd:4: LoRA's weights are made from its optimizer's state, which is not "
                "averaged"},
        Refusal{{"--lora", "8", "--init", "a", "--replicas", "2", "--strategy", "gossip:ring"},
                "--lora needs a --strategy that averages no weights (ddp, none), got gossip:ring"},
        Refusal{{"--optimizer", "adamw", "--optimizer-state", "f8"},
                "--optimizer-state must be one of f32, bf16, 8bit, got f8"},
        Refusal{{"--optimizer", "sgd", "--optimizer-state", "bf16"},
                "needs --optimizer adam or adamw, got sgd"},
        Refusal{{"--model", "gpt2", "--data", "text", "--optimizer-state", "8bit", "--tensor", "2"},
                "--optimizer-state 8bit quantizes blocks of whole weights and needs --tensor 1, "
                "got 2"},
        Refusal{{"--label-smoothing", "1"}, "--label-smoothing must be from 0 to below 1, got 1"},
        Refusal{{"--label-smoothing", "0.1", "--model", "gpt2", "--data", "text", "--tensor", "2"},
                "on one rank, got --tensor 2"},
        Refusal{{"--model", "gpt3-xl-lm", "--data", "text", "--document-mask"},
                "--document-mask needs a model that takes the documents of its tokens, GPT-2 or "
                "Llama, got --model gpt3-xl-lm"},
        Refusal{{"--document-mask"}, "--document-mask applies to long texts only"},
        Refusal{{"--epoch", "3"}, "--epoch"}, Refusal{{"surplus"}, "surplus"},
        Refusal{{"--epochs", "three"}, "--epochs"}, Refusal{{"--epochs", "0"}, "--epochs"},
        Refusal{{"--epochs", "2.5"}, "--epochs"}, Refusal{{"--epochs"}, "--epochs"},
        Refusal{{"--epochs", "99999999999999999999"}, "--epochs"},
        Refusal{{"--batch-size", "-1"}, "--batch-size"},
        Refusal{{"--batch-size", "7", "--replicas", "2"}, "cannot fill 8 micro-batches"},
        Refusal{{"--micro-batches", "0"}, "--micro-batches"},
        Refusal{{"--stages", "0"}, "--stages"}, Refusal{{"--replicas", "0"}, "--replicas"},
        Refusal{{"--stages", "1000", "--replicas", "1000"}, "1000000 ranks"},
        Refusal{{"--stages", "2", "--cut", "1,18"}, "makes 3 stages, but --stages is 2"},
        Refusal{{"--cut", "1;18"}, "18"}, Refusal{{"--cut", "x"}, "x"},
        Refusal{{"--stages", "1", "--cut", "auto"}, "--stages is 1"},
        Refusal{{"--stages", "1", "--codec", "sortq:8"}, "needs a cut"},
        Refusal{{"--codec", "sortq:17"}, "sortq"}, Refusal{{"--codec", "zip"}, "zip"},
        Refusal{{"--schedule", "dualpipe"}, "gpipe"},
        Refusal{{"--gpu-links", "fast"}, "--gpu-links must be one of auto, nccl, copy, got fast"},
        Refusal{{"--gpu-links", "nccl"}, "--gpu-links nccl needs --device cuda, got cpu"},
        Refusal{{"--cuda-graphs", "yes"}, "--cuda-graphs must be one of auto, on, off, got yes"},
        Refusal{{"--cuda-graphs", "on"}, "--cuda-graphs on needs --device cuda, got cpu"},
        Refusal{{"--codec-gradients", "sortq:8", "--reproducible"},
                "--codec-gradients sums without --reproducible, which was given"},
        Refusal{{"--codec-gradients", "sortq:8"},
                "--codec-gradients sortq:8 needs --replicas above 1, whose gradients are summed, "
                "got 1"},
        Refusal{{"--stages", "1", "--codec-backward", "uniform:8"},
                "--codec-backward uniform:8 needs a cut between two ranks"},
        Refusal{{"--stages", "1", "--codec", "1:sortq:8"},
                "[--codec] names a cut in '1:sortq:8', but with one stage there is none"},
        Refusal{
            {"--schedule", "u-shaped", "--stages", "1", "--codec", "none"},
            "u-shaped runs 1 stage per rank and one more on the first rank, which cannot make 1"},
        Refusal{{"--codec-gradients", "sortq:8", "--collectives", "ring"},
                "--codec-gradients needs --strategy ddp or diloco:H and --collectives direct or "
                "auto; got ddp "
                "and ring"},
        Refusal{{"--collectives", "star"}, "direct, ring, halving-doubling, tree"},
        Refusal{{"--strategy", "zero9"}, "ddp, dataparallel, ps, ps-sharded, zero1"},
        Refusal{{"--precision", "f16"}, "products in f16 need a GPU (--device cuda)"},
        Refusal{{"--precision", "tf32"}, "products in TF32 need a GPU (--device cuda)"},
        Refusal{{"--precision", "tf32", "--emulate"}, "--emulate needs --precision bf16 or f16"},
        Refusal{{"--precision", "half"}, "must be one of f32, bf16, f16, tf32, got half"},
        Refusal{{"--emulate"}, "--emulate needs --precision bf16 or f16, got f32"},
        Refusal{{"--sync-batch-norm", "--reproducible"}, "give one of the two"},
        Refusal{{"--sync-batch-norm", "--strategy", "none"},
                "--sync-batch-norm needs a --strategy whose replicas agree, got none"},
        Refusal{{"--strategy", "zero1", "--collectives", "ring"},
                "takes no collectives but direct"},
        Refusal{{"--stages", "4", "--chunks", "2"}, "--chunks 2 needs --schedule interleaved"},
        Refusal{
            {"--stages", "2", "--chunks", "2", "--schedule", "interleaved", "--codec", "sortq:8"},
            "--codec sortq:8 needs a cut between two ranks"},
        Refusal{{"--model", "vgg14"}, "mobilenet_v2"},
        Refusal{{"--model", "mobilenet_v2:0"}, "width"},
        Refusal{{"--model", "mobilenet_v2:a"}, "width"},
        Refusal{{"--data", "imagenet"}, "fashion-mnist"},
        Refusal{{"--augment", "mixup"}, "crop-flip"}, Refusal{{"--optimizer", "lamb"}, "sgd"},
        Refusal{{"--optimizer", "adamw", "--nesterov"}, "--nesterov"},
        Refusal{{"--beta2", "1"}, "--beta2"}, Refusal{{"--beta1", "1"}, "--beta1"},
        Refusal{{"--length", "0"}, "--length"}, Refusal{{"--lr", "0"}, "--lr"},
        Refusal{{"--lr", "nan"}, "--lr"}, Refusal{{"--lr", "inf"}, "--lr"},
        Refusal{{"--momentum", "1"}, "--momentum"}, Refusal{{"--momentum", "nan"}, "--momentum"},
        Refusal{{"--weight-decay", "-1"}, "--weight-decay"},
        Refusal{{"--clip-norm", "-1"}, "--clip-norm"},
        Refusal{{"--clip-norm", "nan"}, "--clip-norm"}, Refusal{{"--ema", "1"}, "--ema"},
        Refusal{{"--ema", "nan"}, "--ema"}, Refusal{{"--accumulate", "0"}, "--accumulate"},
        Refusal{{"--batch-size", "7", "--accumulate", "2"}, "cannot fill 8 micro-batches"},
        Refusal{{"--nesterov", "--momentum", "0"}, "--nesterov"},
        Refusal{{"--lr-schedule", "root"}, "linear"}, Refusal{{"--warmup", "-2"}, "--warmup"},
        Refusal{{"--bucket-mb", "0"}, "--bucket-mb must be from 1 to 1048576, got 0"},
        Refusal{{"--bucket-mb", "17592186044416"}, "--bucket-mb must be from 1 to 1048576"},
        Refusal{{"--seed", "18446744073709551616"}, "--seed must be a whole number"},
        Refusal{{"--seed", "-1"}, "--seed"}, Refusal{{"--threads", "-1"}, "--threads"},
        Refusal{{"--link", "10ms"}, "10ms"}, Refusal{{"--link", "0:1ms,1Gbps"}, "0-1:"},
        Refusal{{"--timeout", "0"}, "--timeout"}, Refusal{{"--max-skipped", "0"}, "--max-skipped"},
        Refusal{{"--max-steps", "-1"}, "--max-steps"},
        Refusal{{"--checkpoint-every", "-5"}, "--checkpoint-every"},
        Refusal{{"--eval-every", "-1"}, "--eval-every"}, Refusal{{"--eval-only"}, "--init"},
        Refusal{{"--lr", "1", "--lr", "2"}, "--lr"}));

TEST(Invocation, ACodecOfGradientsNeedsNoWordOfCollectives) {
  Parse({"--replicas", "2", "--codec-gradients", "ef(powersgd:2)"});
  EXPECT_THROW(
      Parse({"--replicas", "2", "--codec-gradients", "powersgd:2", "--collectives", "ring"}),
      BadInput);
}

TEST(Invocation, Bf16NeedsAProcessorThatHasIt) {
  if (HasBf16Products()) {
    Parse({"--precision", "bf16"});
    return;
  }
  try {
    Parse({"--precision", "bf16"});
    FAIL() << "accepted";
  } catch (const BadInput& error) {
    EXPECT_NE(std::string(error.what()).find("AVX512_BF16"), std::string::npos) << error.what();
  }
}

// Numbers that some sum, product or clock behind them could not hold.
INSTANTIATE_TEST_SUITE_P(
    Bounds, Refused,
    ::testing::Values(
        Refusal{{"--timeout", "1e10"}, "at most 100000000 seconds"},
        Refusal{{"--timeout", "inf"}, "--timeout"}, Refusal{{"--timeout", "nan"}, "--timeout"},
        Refusal{{"--max-steps", "9223372036854775807"}, "--max-steps"},
        Refusal{{"--checkpoint-every", "9223372036854775807"}, "--checkpoint-every"},
        Refusal{{"--eval-every", "9223372036854775807"}, "--eval-every"},
        Refusal{{"--keep", "0"}, "--keep"}, Refusal{{"--keep", "1001"}, "--keep"},
        Refusal{{"--warmup", "9223372036854775807"}, "--warmup"},
        Refusal{{"--model", "gpt2", "--epoch-size", "9223372036854775807"}, "--epoch-size"},
        Refusal{{"--lr", "1e39"}, "--lr"}, Refusal{{"--weight-decay", "1e300"}, "--weight-decay"},
        Refusal{{"--clip-norm", "inf"}, "--clip-norm"},
        Refusal{{"--lr-schedule", "step:4611686018427387904:0.5"}, "epochs between its steps"},
        Refusal{{"--lr-schedule", "polynomial:nan"}, "power"},
        Refusal{{"--lr-schedule", "cosine:nan"}, "factor"},
        Refusal{{"--model", "mobilenet_v2:1e300"}, "width"},
        Refusal{{"--model", "amoebanetd:99999999999,4"}, "layers"},
        Refusal{{"--cut", "99999999999"}, "99999999999"},
        Refusal{{"--image-size", "4097"}, "--image-size"},
        Refusal{{"--model", "gpt2", "--length", "99999999"}, "--length"},
        Refusal{{"--batch-size", "99999999"}, "--batch-size"},
        Refusal{{"--threads", "99999999"}, "--threads"}));

// A flag that would change nothing.
INSTANTIATE_TEST_SUITE_P(
    Ignored, Refused,
    ::testing::Values(
        Refusal{{"--epoch-size", "5"},
                "--epoch-size applies to long texts only, not to images (--model mobilenet_v2)"},
        Refusal{{"--model", "roberta", "--epoch-size", "5"},
                "--epoch-size applies to long texts only, not to sentences (--model roberta)"},
        Refusal{{"--length", "8"},
                "--length applies to sentences and long texts only, not to images"},
        Refusal{{"--tokenizer", "gpt2"}, "--tokenizer applies to sentences and long texts only"},
        Refusal{{"--vocab-dir", "x"}, "--vocab-dir applies to sentences and long texts only"},
        Refusal{{"--model", "gpt2", "--augment", "flip"},
                "--augment applies to images only, not to long texts"},
        Refusal{{"--model", "roberta", "--image-size", "32"},
                "--image-size applies to images only"},
        Refusal{{"--beta2", "0.9"}, "--beta2 needs --optimizer adam or adamw, got sgd"},
        Refusal{{"--beta1", "0.9"}, "--beta1 needs --optimizer adam or adamw, got sgd"},
        Refusal{{"--model", "gpt2", "--momentum", "0.9"}, "--momentum needs --optimizer sgd"},
        Refusal{{"--model", "vgg11", "--stages", "1", "--cut", "3"}, "--stages is 1"},
        Refusal{{"--memory-limit", "many"}, "--memory-limit"},
        Refusal{{"--link", "0-5:1ms,1Gbps"}, "--link names rank 5, but there are 2 ranks"},
        Refusal{{"--model", "gpt-char", "--length", "65"},
                "--length 65 is beyond the 64 positions of --model gpt-char"},
        Refusal{{"--model", "roberta", "--length", "600"},
                "--length 600 is beyond the 512 positions of --model roberta"},
        Refusal{{"--model", "resnet20"}, "got resnet20; did you mean cifar_resnet20?"},
        Refusal{{"--data", "cifar"}, "got cifar; did you mean cifar10 or cifar100?"},
        Refusal{{"--preset", "cifar10"},
                "; did you mean vgg13-cifar10, resnet18-cifar10 or mobilenet_v2-cifar10?"},
        Refusal{{"--preset", "vgg13-cifar10", "--resume", "x"},
                "--preset applies to new runs only, and one that is resumed has its own settings"},
        Refusal{{"--stages", "1", "--schedule", "1f1b"},
                "--schedule needs more than one stage, got --stages 1"},
        Refusal{{"--tensor-cuts", "whole"}, "--tensor-cuts needs --tensor above 1, got 1"},
        Refusal{{"--gpu-links", "copy"}, "--gpu-links needs --device cuda, got cpu"},
        Refusal{{"--cuda-graphs", "off"}, "--cuda-graphs needs --device cuda, got cpu"},
        Refusal{{"--autotune"}, "--autotune needs --device cuda, got cpu"},
        Refusal{{"--plans", "/plans.json"}, "--plans needs --device cuda, got cpu"},
        Refusal{{"--model", "gpt2", "--tokenizer", "chars", "--vocab-dir", "x"},
                "--vocab-dir needs a tokenizer with a vocabulary, and --tokenizer chars has none"},
        Refusal{{"--eval-only", "--init", "x", "--lr", "1"},
                "--lr needs training, got --eval-only"},
        Refusal{{"--eval-only", "--init", "x", "--keep", "3"},
                "--keep needs training, got --eval-only"},
        Refusal{{"--bucket-mb", "5"}, "--bucket-mb needs --replicas above 1, but --replicas is 1"},
        Refusal{
            {"--replicas", "2", "--strategy", "zero1", "--bucket-mb", "5"},
            "--bucket-mb needs --strategy ddp, local-sgd:H, diloco:H or gossip:GRAPH, got zero1"},
        Refusal{{"--no-nesterov", "--optimizer", "adamw"},
                "--nesterov needs --optimizer sgd with --momentum above 0"},
        Refusal{{"--stages", "1", "--link", "1ms,1Gbps"},
                "--link needs more than one rank, but there is one"},
        Refusal{{"--out", "/dev/null/run"}, "--out /dev/null/run: /dev/null is a file"},
        Refusal{{"--codec", "delta(uniform:4)", "--codec-folder", "/dev/null"},
                "--codec-folder /dev/null: /dev/null is a file"}));

// A relative path is meant from where the user stood.
TEST(Invocation, TheFileOfAScheduleIsAPathLikeOthers) {
  const std::string folder = ::testing::TempDir();
  setenv("BUILD_WORKING_DIRECTORY", folder.c_str(), 1);
  const std::string schedule = Parse({"--schedule", "csv:own.csv"}).settings.schedule;
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(schedule, "csv:" + (std::filesystem::path(folder) / "own.csv").string());
}

TEST(Invocation, TheFolderOfCodecsIsAPathLikeOthers) {
  const std::string folder = ::testing::TempDir();
  setenv("BUILD_WORKING_DIRECTORY", folder.c_str(), 1);
  const std::string codecs =
      Parse({"--codec", "delta(uniform:4)", "--codec-folder", "samples"}).settings.codec_folder;
  unsetenv("BUILD_WORKING_DIRECTORY");
  EXPECT_EQ(codecs, (std::filesystem::path(folder) / "samples").string());
  EXPECT_EQ(Parse({}).settings.codec_folder, "");
}

TEST(Invocation, DefaultsAreTheMainJob) {
  const recipes::Settings s = Parse({}).settings;
  EXPECT_EQ(s.model, "mobilenet_v2");
  EXPECT_EQ(s.data, "fashion-mnist");
  EXPECT_EQ(s.epochs, 3);
  EXPECT_EQ(s.batch_size, 256);
  EXPECT_EQ(s.stages, 2);
  EXPECT_EQ(s.micro_batches, 4);
  EXPECT_EQ(s.codec, "sortq:8");
  EXPECT_EQ(s.lr, 0.07);
  EXPECT_TRUE(s.nesterov);
  EXPECT_EQ(s.threads, 0);
}

// All that the run without flags was before it had a name.
TEST(Invocation, DefaultsAreThePreset) {
  const nlohmann::json s = recipes::ToJson(Parse({"--threads", "2"}).settings);
  const nlohmann::json before = nlohmann::json::parse(R"({
    "accumulate": 1, "activation-storage": "f32", "augment": "none", "batch-size": 256,
    "beta2": 0.999, "clip-norm": 0.0, "codec": "sortq:8", "cut": "", "data": "fashion-mnist",
    "data-dir": "", "ema": 0.0, "epoch-size": 0, "epochs": 3, "image-size": 0, "init": "",
    "length": 128, "lr": 0.07, "lr-schedule": "cosine", "micro-batches": 4,
    "model": "mobilenet_v2", "momentum": 0.9, "nesterov": true, "optimizer": "sgd",
    "recompute": "none", "replicas": 1, "schedule": "gpipe", "seed": 1, "stages": 2, "threads": 2,
    "tokenizer": "", "vocab-dir": "", "warmup": -1, "weight-decay": 4e-5})");
  for (const auto& [name, value] : before.items()) EXPECT_EQ(s.at(name), value) << name;
  EXPECT_EQ(recipes::ToJson(Parse({"--preset", "mobilenet_v2-fashion-mnist"}).settings),
            recipes::ToJson(Parse({}).settings));
}

TEST(Invocation, AModelAloneGetsNoCodecAndItsUsualOptimizer) {
  for (const ModelDescriptor& model : Models()) {
    const recipes::Settings s = Parse({"--model", model.name.c_str()}).settings;
    EXPECT_EQ(s.stages, 1) << model.name;
    EXPECT_EQ(s.codec, "none") << model.name;
    const bool of_patches = model.name.starts_with("vit_") || model.name == "vision_transformer";
    const bool convolves = model.task == ModelTask::kImages && !of_patches;
    EXPECT_EQ(s.optimizer, convolves ? "sgd" : "adamw") << model.name;
    EXPECT_EQ(s.lr, model.training.learning_rate) << model.name;
  }
  EXPECT_EQ(Parse({"--data", "cifar10"}).settings.codec, "none");
  EXPECT_EQ(Parse({"--model", "gpt2", "--lr", "0.5"}).settings.lr, 0.5);
}

// As many tokens as the model has positions.
TEST(Invocation, TheUsualLengthFitsTheModel) {
  EXPECT_EQ(Parse({"--model", "gpt-char", "--data", "text"}).settings.length, 64);
  EXPECT_EQ(Parse({"--model", "gpt2", "--data", "text"}).settings.length, 128);
  for (const ModelDescriptor& model : Models())
    EXPECT_NO_THROW(Parse({"--model", model.name.c_str()})) << model.name;
}

TEST(Invocation, CompletesWhatFollows) {
  EXPECT_EQ(Parse({"--cut", "1,18"}).settings.stages, 3);
  EXPECT_EQ(Parse({"--stages", "1"}).settings.codec, "none");
  EXPECT_FALSE(Parse({"--momentum", "0"}).settings.nesterov);
  EXPECT_FALSE(Parse({"--no-nesterov"}).settings.nesterov);
  // As many as this host has processors, however many ranks share them.
  EXPECT_EQ(Parse({"--stages", "5", "--replicas", "3", "--batch-size", "60"}).settings.threads,
            0);  // the run's processes agree on it
}

TEST(Invocation, TakesFlagsWhereTheySaySomething) {
  EXPECT_EQ(Parse({"--model", "gpt2", "--epoch-size", "5", "--length", "8"}).settings.length, 8);
  EXPECT_EQ(Parse({"--model", "roberta", "--tokenizer", "gpt2", "--vocab-dir", "x"}).settings.data,
            "fashion-mnist");
  EXPECT_EQ(Parse({"--augment", "flip", "--image-size", "64"}).settings.image_size, 64);
  EXPECT_EQ(Parse({"--optimizer", "adam", "--beta2", "0.9"}).settings.beta2, 0.9);
}

// What a preset sets for itself is nobody's mistake where another flag makes it idle.
TEST(Invocation, TakesEveryPreset) {
  for (const char* name :
       {"mobilenet_v2-cifar10", "vgg13-cifar10", "resnet18-cifar10", "roberta-rte", "roberta-cola",
        "gpt2-shakespeare", "gpt-char-shakespeare", "gpt3xl-qqp", "mobilenet_v2-fashion-mnist"}) {
    EXPECT_NO_THROW(Parse({"--preset", name})) << name;
    EXPECT_NO_THROW(Parse({"--preset", name, "--optimizer", "sgd"})) << name;
  }
}

TEST(Invocation, HelpNamesEveryFlagAndUnits) {
  const std::string help = Parse({"--help"}).help;
  const recipes::Settings defaults;
  ForEachSetting(defaults, [&](const std::string& flag, const auto&) {
    // As an entry of its own, not in another's description.
    const bool named = help.find("\n  " + flag + " ") != std::string::npos;
    EXPECT_TRUE(named || help.find("\n  " + flag + ",--no-") != std::string::npos) << flag;
  });
  for (const char* word :
       {"--max-steps", "--out", "--checkpoint-every", "--eval-every", "--timeout", "--resume",
        "--eval-only", "--describe", "Seconds", "Steps", "=256", "=none"})
    EXPECT_NE(help.find(word), std::string::npos) << word;
}

std::string WithoutBreaks(const std::string& text) {
  std::string out;
  for (char c : text)
    if (c != ' ' && c != '\n') out += c;
  return out;
}

// What a factory gains, the help gains.
TEST(Invocation, HelpListsWhatTheFactoriesHave) {
  const std::string help = WithoutBreaks(Parse({"--help"}).help);
  for (const auto& list : {parallel::CodecDescriptions(), parallel::ScheduleDescriptions(),
                           recipes::OptimizerDescriptions(), data::AugmentDescriptions()}) {
    EXPECT_FALSE(list.empty());
    for (const auto& [name, about] : list)
      EXPECT_NE(help.find(WithoutBreaks(name + ": " + about)), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace torus::tools
