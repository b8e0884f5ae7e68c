// CodecTasks and CutTasks: what the codec studies train at each scale.
#include <fmt/format.h>

#include "tools/experiments/common/codec_study.h"
#include "tools/experiments/common/data_places.h"

namespace torus::experiments {
namespace {

// The study's recipe: 40 epochs, rate 0.01 with a cosine, batch 256 in 8 micro-batches, SGD; RTE 20
// epochs, 2e-5 with a polynomial, batch 32 in 4 micro-batches, AdamW.
std::vector<CodecTask> PaperTasks() {
  const std::string images =
      "--model mobilenet_v2 --cut 1,18 --image-size 224 --augment crop-flip --epochs 40 "
      "--batch-size 256 --micro-batches 8 --optimizer sgd --lr 0.01 --lr-schedule cosine "
      "--device cuda --data ";
  const std::string sentences =
      "--model roberta --cut 3,11 --epochs 20 --batch-size 32 --micro-batches 4 --optimizer adamw "
      "--lr 2e-5 --lr-schedule polynomial:1 --weight-decay 0.1 --device cuda --length 128 --data ";
  return {{"CIFAR10", "MobileNetV2", "accuracy", images + "cifar10", 0, kMobileNetWeights},
          {"CIFAR100", "MobileNetV2", "accuracy", images + "cifar100", 0, kMobileNetWeights},
          {"Food101", "MobileNetV2", "accuracy", images + "food101", 0, kMobileNetWeights},
          {"RTE", "RoBERTa-base", "accuracy", sentences + "rte", 0, kRobertaWeights},
          {"CoLA", "RoBERTa-base", "matthews", sentences + "cola", 0, kRobertaWeights}};
}

// Of images, nearly all work is on the middle one of three ranks, which gets the fourth thread and
// so uses both cores.
constexpr const char kSmallImages[] =
    " --cut 1,18 --threads 4 --augment crop-flip --batch-size 256 --micro-batches 8 "
    "--optimizer sgd --lr 0.02 --lr-schedule cosine --data ";
constexpr const char kFineTuning[] = " --lr 0.002 --lr-schedule constant --epochs 1";
constexpr const char kPublishedImages[] =
    "--model cifar_resnet20 --augment crop-flip --batch-size 256 --micro-batches 8 --optimizer sgd "
    "--data cifar10";
constexpr const char kPublishedCuts[] = " --cut 1,10 --threads 4";
constexpr const char kSmallSentences[] =
    " --threads 3 --batch-size 32 --micro-batches 4 --optimizer adamw --lr 2e-5 "
    "--lr-schedule polynomial:1 --weight-decay 0.1 --epochs 1 --data ";
constexpr const char kSmallText[] =
    "--model gpt-char --data text --tokenizer chars --cut 2,4 --threads 3 --epochs 1 "
    "--batch-size 12 --micro-batches 4 --optimizer adamw --lr 1e-3 --beta2 0.99 --weight-decay 0.1 "
    "--clip-norm 1 "
    "--lr-schedule cosine:0.1 --warmup ";

std::vector<CodecTask> LaptopTasks() {
  const std::string images = std::string("--model mobilenet_v2") + kSmallImages,
                    sentences = std::string("--model roberta:6 --cut 3,5") + kSmallSentences;
  return {
      {"CIFAR10", "MobileNetV2", "accuracy", images + "cifar10" + kFineTuning, kImageSteps,
       kMobileNetWeights, images + "cifar10 --epochs 6"},
      {"CIFAR10", "ResNet-20", "accuracy",
       std::string(kPublishedImages) + kPublishedCuts + kFineTuning, kImageSteps, kResNet20Weights},
      {"CIFAR100", "MobileNetV2", "accuracy", images + "cifar100 --epochs 2", 0, kMobileNetWeights},
      {"Food101", "MobileNetV2", "accuracy",
       images + "image-folder --image-size 64 --epochs 6 --batch-size 64", 0, kMobileNetWeights},
      {"RTE", "RoBERTa, 6 blocks", "accuracy", sentences + "rte --length 128", 30},
      {"CoLA", "RoBERTa, 6 blocks", "matthews", sentences + "cola --length 32", 60},
      {"tiny Shakespeare", "GPT of characters", "loss",
       fmt::format("{}40 --length 64 --epoch-size {}", kSmallText, 12 * kTextSteps)}};
}

CodecTask WithCut(CodecTask task, int cut, const char* model) {
  task.model = fmt::format("{}, cut at {}", model, cut);
  task.flags += fmt::format(" --cut {}", cut);
  return task;
}

std::vector<CodecTask> TinyTasks() {
  const std::string text = std::string(kSmallText) + "1 --length 16 --epoch-size 120";
  return {{"CIFAR10", "MobileNetV2", "accuracy",
           std::string("--model mobilenet_v2:0.1 --epochs 1") + kSmallImages + "cifar10", 2},
          {"RTE", "RoBERTa, 3 blocks", "accuracy",
           std::string("--model roberta:3 --cut 2,3") + kSmallSentences + "rte --length 16", 1},
          {"CoLA", "RoBERTa, 3 blocks", "matthews",
           std::string("--model roberta:3 --cut 2,3") + kSmallSentences + "cola --length 16", 1},
          {"tiny Shakespeare", "GPT of characters", "loss", text, 4, "", text}};
}

}  // namespace

std::vector<CodecTask> CodecTasks(Scale scale) {
  if (scale == Scale::kPaper) return PaperTasks();
  return scale == Scale::kTiny ? TinyTasks() : LaptopTasks();
}

// At laptop scale two ranks and three threads, so that both cores are used.
std::vector<CodecTask> CutTasks(Scale scale) {
  if (scale == Scale::kTiny) return {};
  if (scale == Scale::kPaper) {
    const CodecTask images = PaperTasks().front();
    return {WithCut(images, 1, "MobileNetV2"), WithCut(images, 9, "MobileNetV2"),
            WithCut(images, 18, "MobileNetV2")};
  }
  const CodecTask images{"CIFAR10",   "",
                         "accuracy",  std::string(kPublishedImages) + " --threads 3" + kFineTuning,
                         kImageSteps, kResNet20Weights};
  return {WithCut(images, 1, "ResNet-20"), WithCut(images, 5, "ResNet-20"),
          WithCut(images, 10, "ResNet-20")};
}

}  // namespace torus::experiments
