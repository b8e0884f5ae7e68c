#include "recipes/model/model_spec.h"

#include <fmt/ranges.h>

#include <charconv>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "models/amoebanet/amoebanet.h"
#include "models/checkpoint/config_match.h"
#include "models/checkpoint/hugging_face.h"
#include "models/gpt2/config.h"
#include "models/gpt3/gpt3.h"
#include "models/mobilenet_v2/mobilenet_v2.h"
#include "models/resnet/cifar_resnet.h"
#include "models/resnet/resnet.h"
#include "models/roberta/config.h"
#include "models/vgg/vgg.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

using Model = std::shared_ptr<nn::Sequential>;

enum class Argument { kNone, kWidth, kLayers, kLayersAndFilters };

struct Entry {
  ModelSpec spec;
  Argument argument = Argument::kNone;
  std::function<Model(const ModelSpec&, int64_t classes)> make;
  std::function<nlohmann::json(const ModelSpec&, int64_t classes)> config;
};

Entry VggEntry(int depth, bool batch_norm) {
  return {{.name = fmt::format("vgg{}{}", depth, batch_norm ? "_bn" : ""),
           .title = fmt::format("VGG{}{}", depth, batch_norm ? " with batch norm" : "")},
          Argument::kNone,
          [=](const ModelSpec&, int64_t classes) {
            return Vgg({.depth = depth, .batch_norm = batch_norm, .num_classes = classes});
          }};
}

Entry ResNetEntry(int depth) {
  return {{.name = fmt::format("resnet{}", depth), .title = fmt::format("ResNet-{}", depth)},
          Argument::kNone,
          [=](const ModelSpec&, int64_t classes) {
            return ResNet({.depth = depth, .num_classes = classes});
          }};
}

Entry CifarResNetEntry(int depth) {
  return {{.name = fmt::format("cifar_resnet{}", depth),
           .title = fmt::format("CIFAR ResNet-{}", depth),
           .published = {.classes = 10, .size = 32}},
          Argument::kNone,
          [=](const ModelSpec&, int64_t classes) {
            return CifarResNet({.depth = depth, .num_classes = classes});
          }};
}

Entry RobertaEntry(const std::string& name, RobertaHead head) {
  const bool lm = head == RobertaHead::kMaskedLm;
  const auto options = [=](const ModelSpec& spec, int64_t classes) {
    RobertaOptions options = RobertaBase();
    options.head = head;
    options.head_in_loss = lm;
    (lm ? options.vocab_size : options.num_labels) = classes;
    if (spec.layers > 0) options.num_hidden_layers = spec.layers;
    return options;
  };
  return {{.name = name,
           .title = lm ? "RoBERTa masked LM" : "RoBERTa",
           .input = ModelInput::kTokens,
           .tokenizer = "roberta",
           .masked = lm,
           .language_model = lm,
           .published = {.classes = lm ? 50265 : 2, .size = 512, .tokens = 50265}},
          Argument::kLayers,
          [=](const ModelSpec& spec, int64_t classes) { return Roberta(options(spec, classes)); },
          [=](const ModelSpec& spec, int64_t classes) { return ToConfig(options(spec, classes)); }};
}

Entry Gpt2Entry(const std::string& name, const std::string& title) {
  const bool chars = name == "gpt-char";
  const auto options = [=](const ModelSpec& spec, int64_t classes) {
    Gpt2Options options = chars ? CharacterGpt(classes) : Gpt2Size(name);
    options.vocab_size = classes;
    options.head_in_loss = true;
    if (spec.layers > 0) options.n_layer = spec.layers;
    return options;
  };
  return {{.name = name,
           .title = title,
           .input = ModelInput::kTokens,
           .tokenizer = "gpt2",
           .language_model = true,
           .published = {.classes = chars ? 65 : 50257,
                         .size = chars ? 64 : 1024,
                         .tokens = chars ? 65 : 50257}},
          Argument::kLayers,
          [=](const ModelSpec& spec, int64_t classes) { return Gpt2(options(spec, classes)); },
          [=](const ModelSpec& spec, int64_t classes) { return ToConfig(options(spec, classes)); }};
}

Entry Gpt3Entry(const std::string& name, Gpt3Head head) {
  const bool lm = head == Gpt3Head::kLm;
  return {{.name = name,
           .title = lm ? "GPT-3 XL" : "GPT-3 XL classifier",
           .input = ModelInput::kTokens,
           .tokenizer = "gpt2",
           .language_model = lm,
           .published = {.classes = lm ? 50257 : 2, .size = 2048, .tokens = 50257}},
          Argument::kLayers,
          [=](const ModelSpec& spec, int64_t classes) {
            Gpt3Options options{.head = head, .head_in_loss = lm};
            (lm ? options.vocab_size : options.num_classes) = classes;
            if (spec.layers > 0) options.layers = spec.layers;
            return Gpt3(options);
          }};
}

Entry AmoebaNetEntry() {
  return {{.name = "amoebanetd", .title = "AmoebaNet-D"},
          Argument::kLayersAndFilters,
          [](const ModelSpec& spec, int64_t classes) {
            AmoebaNetOptions options{.num_classes = classes};
            if (spec.layers > 0) options.layers = spec.layers;
            if (spec.filters > 0) options.filters = spec.filters;
            return AmoebaNetD(options);
          }};
}

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = {
      {{.name = "mobilenet_v2", .title = "MobileNetV2"},
       Argument::kWidth,
       [](const ModelSpec& spec, int64_t classes) {
         return MobileNetV2({.num_classes = classes, .width_mult = spec.width_mult});
       }},
      VggEntry(11, false),
      VggEntry(13, false),
      VggEntry(16, false),
      VggEntry(19, false),
      VggEntry(11, true),
      VggEntry(13, true),
      VggEntry(16, true),
      VggEntry(19, true),
      ResNetEntry(18),
      ResNetEntry(34),
      ResNetEntry(50),
      ResNetEntry(101),
      CifarResNetEntry(20),
      CifarResNetEntry(56),
      AmoebaNetEntry(),
      RobertaEntry("roberta", RobertaHead::kClassification),
      RobertaEntry("roberta-mlm", RobertaHead::kMaskedLm),
      Gpt2Entry("gpt2", "GPT-2"),
      Gpt2Entry("gpt2-medium", "GPT-2 medium"),
      Gpt2Entry("gpt2-large", "GPT-2 large"),
      Gpt2Entry("gpt2-xl", "GPT-2 XL"),
      Gpt2Entry("gpt-char", "character GPT"),
      Gpt3Entry("gpt3-xl", Gpt3Head::kClassification),
      Gpt3Entry("gpt3-xl-lm", Gpt3Head::kLm),
  };
  return entries;
}

const Entry& Find(const std::string& spec) {
  const std::string name = spec.substr(0, spec.find(':'));
  for (const Entry& entry : Entries())
    if (entry.spec.name == name) return entry;
  Throw<BadInput>("train", "--model must be one of {}, got {}", fmt::join(ModelNames(), ", "),
                  spec);
}

// All of `text` as a number in (0, most].
template <class T>
T ReadNumber(const std::string& spec, const std::string& text, const char* what, T most) {
  T value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  Require(
      read.ec == std::errc() && read.ptr == text.data() + text.size() && value > 0 && value <= most,
      "train", "--model {}: the {} must be a number above 0 and at most {}", spec, what, most);
  return value;
}

// A folder says by its configuration what its weights were trained in.
void CheckConfig(const nlohmann::json& ours, const std::string& weights) {
  if (!ours.is_null() && std::filesystem::is_directory(weights))
    RequireSameFunction(ReadHuggingFaceConfig(weights), ours, weights);
}

}  // namespace

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) names.push_back(entry.spec.name);
  return names;
}

ModelSpec ParseModelSpec(const std::string& spec) {
  const Entry& entry = Find(spec);
  ModelSpec parsed = entry.spec;
  const size_t colon = spec.find(':');
  if (colon == std::string::npos) return parsed;
  const std::string text = spec.substr(colon + 1);
  Require(entry.argument != Argument::kNone, "train", "--model {}: {} takes nothing after a colon",
          spec, entry.spec.name);
  if (entry.argument == Argument::kWidth) {
    parsed.width_mult = ReadNumber<double>(spec, text, "width", 16);
    parsed.title += " x " + text;
  } else if (entry.argument == Argument::kLayersAndFilters) {
    const size_t comma = text.find(',');
    Require(comma != std::string::npos, "train", "--model {}: needs {}:LAYERS,FILTERS", spec,
            parsed.name);
    parsed.layers = ReadNumber<int64_t>(spec, text.substr(0, comma), "number of layers", 1000);
    parsed.filters = ReadNumber<int64_t>(spec, text.substr(comma + 1), "number of filters", 65536);
    parsed.title += fmt::format(" ({}, {})", parsed.layers, parsed.filters);
  } else {
    parsed.layers = ReadNumber<int64_t>(spec, text, "number of layers", 1000);
    parsed.title += fmt::format(" of {} layers", text);
  }
  return parsed;
}

Model BuildModel(const std::string& spec, int64_t classes, uint64_t seed,
                 const std::string& weights_file, BodyNotes* notes) {
  CheckConfig(ModelConfig(spec, classes), weights_file);
  Model model = Find(spec).make(ParseModelSpec(spec), classes);
  model->Initialize(seed);
  if (weights_file.empty()) return model;
  if (notes == nullptr)
    LoadWeights(*model, weights_file);
  else
    *notes = LoadBody(*model, weights_file);
  return model;
}

nlohmann::json ModelConfig(const std::string& spec, int64_t classes) {
  const Entry& entry = Find(spec);
  return entry.config ? entry.config(ParseModelSpec(spec), classes) : nlohmann::json();
}

Model ModelShapes(const std::string& spec, int64_t classes) {
  const nn::ShapesOnly shapes_only;
  return Find(spec).make(ParseModelSpec(spec), classes);
}

}  // namespace torus::recipes
