#include "recipes/settings/presets.h"

#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <vector>

#include "recipes/settings/apply_flags.h"
#include "runtime/did_you_mean.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

struct Preset {
  std::string_view name, about, flags;
};

// Presets name no folders: the user adds --data-dir and, for text, --vocab-dir.
constexpr std::array<Preset, 9> kPresets = {{
    {kDefaultPreset,
     "MobileNetV2 on Fashion-MNIST, a pipeline of two stages with 8 bits a value between them",
     "--model mobilenet_v2 --data fashion-mnist --epochs 3 --batch-size 256 --micro-batches 4 "
     "--stages 2 --codec sortq:8 --lr 0.07 --weight-decay 4e-5"},
    {"mobilenet_v2-cifar10", "MobileNetV2 on CIFAR-10, 32 x 32",
     "--model mobilenet_v2 --data cifar10 --augment crop-flip --epochs 30 --batch-size 128 "
     "--micro-batches 2 --stages 2 --lr 0.07 --weight-decay 4e-5"},
    {"vgg13-cifar10", "VGG13 on CIFAR-10, 32 x 32",
     "--model vgg13 --data cifar10 --augment crop-flip --epochs 20 --batch-size 64 "
     "--micro-batches 4 --stages 2 --lr 0.01 --weight-decay 5e-4"},
    {"resnet18-cifar10", "ResNet-18 on CIFAR-10, 32 x 32",
     "--model resnet18 --data cifar10 --augment crop-flip --epochs 20 --batch-size 128 "
     "--micro-batches 2 --stages 2 --lr 0.1 --weight-decay 5e-4"},
    {"roberta-rte", "RoBERTa on RTE; --init takes published weights (Liu et al. 2019, table 10)",
     "--model roberta --data rte --length 256 --epochs 10 --batch-size 16 --micro-batches 4 "
     "--stages 2 --optimizer adamw --lr 2e-5 --beta1 0.9 --beta2 0.98 --weight-decay 0.1 "
     "--lr-schedule linear --warmup 90"},
    {"roberta-cola", "RoBERTa on CoLA; --init takes published weights (Liu et al. 2019, table 10)",
     "--model roberta --data cola --length 64 --epochs 10 --batch-size 16 --micro-batches 4 "
     "--stages 2 --optimizer adamw --lr 1e-5 --beta1 0.9 --beta2 0.98 --weight-decay 0.1 "
     "--lr-schedule linear --warmup 320"},
    {"gpt2-shakespeare", "GPT-2 124M on a text in GPT-2's tokens",
     "--model gpt2 --data text --tokenizer gpt2 --length 256 --epochs 1 --batch-size 8 "
     "--micro-batches 4 --stages 2 --optimizer adamw --lr 3e-4 --beta2 0.95 --weight-decay 0.1 "
     "--clip-norm 1 --lr-schedule cosine:0.1"},
    {"gpt-char-shakespeare",
     "nanoGPT's small model of characters, 2000 steps: its recipe for a CPU",
     "--model gpt-char --data text --tokenizer chars --length 64 --epochs 1 --epoch-size 24000 "
     "--batch-size 12 --micro-batches 1 --stages 1 --optimizer adamw --lr 1e-3 --beta2 0.99 "
     "--weight-decay 0.1 --clip-norm 1 --lr-schedule cosine:0.1 --warmup 100"},
    {"gpt3xl-qqp", "GPT-3 XL with four of its layers on QQP",
     "--model gpt3-xl:4 --data qqp --tokenizer gpt2 --length 128 --epochs 1 --batch-size 16 "
     "--micro-batches 8 --stages 2 --codec sortq:8 --optimizer adamw --lr 1e-5 --weight-decay 0.01 "
     "--clip-norm 1 "
     "--lr-schedule linear"},
}};

}  // namespace

Settings PresetSettings(const std::string& name) {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) {
    if (preset.name == name) {
      Settings settings;
      ApplyFlags(std::string(preset.flags), settings);
      return settings;
    }
    names.emplace_back(preset.name);
  }
  Throw<BadInput>("train", "--preset must be one of {}, got {}{}", fmt::join(names, ", "), name,
                  DidYouMean(name, names));
}

std::string ListPresets() {
  std::string text;
  for (const Preset& preset : kPresets)
    text += fmt::format("{}\n  {}\n  {}\n\n", preset.name, preset.about, preset.flags);
  return text + "Beside them: --data-dir for the data and, for text in tokens, --vocab-dir.\n";
}

}  // namespace torus::recipes
