#include "recipes/data/data_form.h"

#include <algorithm>
#include <array>

#include "recipes/data/data_names.h"
#include "recipes/model/model_of.h"
#include "runtime/error.h"

namespace torus::recipes {
namespace {

struct KnownImages {
  const char *name, *title;
  int64_t size, classes;  // size 0: the images have none of their own
};
constexpr std::array<KnownImages, 4> kKnownImages = {{{"fashion-mnist", "Fashion-MNIST", 32, 10},
                                                      {"cifar10", "CIFAR-10", 32, 10},
                                                      {"cifar100", "CIFAR-100", 32, 100},
                                                      {"food101", "Food-101", 0, 101}}};

Shape Square(int64_t size) { return size == 0 ? Shape{} : Shape{size, size, 3}; }

// 0 for a tokenizer whose vocabulary comes with its text.
int64_t VocabularyOf(const std::string& tokenizer) {
  if (tokenizer == "gpt2") return 50257;
  if (tokenizer == "roberta") return 50265;
  return tokenizer == "bytes" ? 256 : 0;
}

}  // namespace

DataForm ImageForm(const std::string& title, Shape image, int64_t classes,
                   const Settings& settings) {
  if (settings.image_size > 0) image = Square(settings.image_size);
  Require(image.rank() == 3, "train",
          "the images of {} have no size of their own: --image-size must give one", title);
  return {title, classes, [image](int64_t rows) {
            const Shape batch = {rows, image[0], image[1], image[2]};
            return std::vector<parallel::TensorSpec>{{batch, DType::kF32}};
          }};
}

DataForm SentenceForm(const std::string& title, int64_t classes, int64_t length) {
  return {title, classes, [length](int64_t rows) {
            return std::vector<parallel::TensorSpec>(2, {{rows, length}, DType::kI64});
          }};
}

DataForm TextForm(const std::string& title, int64_t vocabulary, int64_t length, bool documents) {
  return {title, vocabulary, [length, inputs = documents ? 2 : 1](int64_t rows) {
            return std::vector<parallel::TensorSpec>(inputs, {{rows, length}, DType::kI64});
          }};
}

DataForm PublishedForm(const Settings& settings, const std::function<bool(const char*)>& given) {
  const ModelSpec model = ModelOf(settings);
  const std::string title = "as published";
  if (model.task == ModelTask::kImages)
    return ImageForm(title, Square(model.published.input), model.published.outputs, settings);
  const int64_t length = given("--length") ? settings.length : model.published.input;
  return IsLanguageModel(model.task)
             ? TextForm(title, model.published.outputs, length, settings.document_mask)
             : SentenceForm(title, model.published.outputs, length);
}

std::optional<DataForm> KnownForm(const Settings& settings) {
  const std::string title = DataTitle(settings.data);
  for (const KnownImages& known : kKnownImages)
    if (settings.data == known.name)
      return ImageForm(title, Square(known.size), known.classes, settings);
  if (DataKind(settings.data) == "sentences") return SentenceForm(title, 2, settings.length);
  if (const int64_t vocabulary = VocabularyOf(settings.tokenizer);
      settings.data == "text" && vocabulary > 0)
    return TextForm(title, vocabulary, settings.length, settings.document_mask);
  return std::nullopt;
}

std::string DataTitle(const std::string& name) {
  for (const KnownImages& known : kKnownImages)
    if (name == known.name) return known.title;
  if (name == "cola") return "CoLA";
  if (name == "sst2") return "SST-2";
  if (DataKind(name) != "sentences") return name;
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(), ::toupper);
  return title;
}

}  // namespace torus::recipes
