#include "tests/tools/flags/walks.h"

#include <gtest/gtest.h>

#include <set>

namespace torus::tools::testing {
namespace {

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

}  // namespace

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
        {"buckets", {Words{}, Words{"--strategy", "zero1"}}},
        {"sums", {Words{}, Words{"--strategy", "local-sgd:8"}}},
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
        {"tensor", {Words{"--tensor", "2", "--model", "gpt2"}, Words{"--tensor", "1"}}},
        {"replicas", {Words{"--replicas", "2"}, Words{"--replicas", "1"}}}},
       {{"--link", "1ms,1Gbps"},
        {"--replica-link", "1ms,1Gbps"},
        {"--strategy", "local-sgd:8"},
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

}  // namespace torus::tools::testing
