#include "tools/convert/onnx/export_onnx.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "models/checkpoint/hugging_face.h"
#include "models/checkpoint/load_weights.h"
#include "models/checkpoint/state_dict.h"
#include "models/model_spec.h"
#include "recipes/data/data_form.h"
#include "recipes/data/data_names.h"
#include "recipes/evaluate/run_weights.h"
#include "runtime/error.h"
#include "runtime/io/folder_place.h"
#include "runtime/io/one_commit.h"
#include "runtime/io/replaced_file.h"
#include "tools/convert/onnx/families.h"

namespace torus::onnx {
namespace {

namespace fs = std::filesystem;

using recipes::ConvertOptions;

// Where the weights of an input are, and what a run says of them.
using Place = recipes::EvaluateOptions;

struct Opened {
  Source source;
  TakenWeights taken;
};

void CheckModel(const ModelDescriptor& model, int64_t image_size) {
  RequireOnnxForm(model, Models());
  Require(image_size == 0 || TakesImageSize(model), "convert",
          "--image-size {} needs a VGG model, whose classifier fixes the size, got {}", image_size,
          model.name);
}

// The first size, in the weights, of a tensor whose first size follows from the number of outputs.
int64_t ClassesOf(const ModelSpec& model, const FileWeights& file, const WeightsSource& source) {
  const auto two = model.build(model.Config(2), model.name, {});
  const auto three = model.build(model.Config(3), model.name, {});
  std::map<std::string, Shape> of_two;
  for (const NamedVariable& parameter : two->Parameters())
    of_two[parameter.name] = parameter.value.shape();
  std::set<std::string> heads;
  for (const NamedVariable& parameter : three->Parameters())
    if (parameter.value.shape() != of_two.at(parameter.name)) heads.insert(parameter.name);
  const WeightsPart chosen = ChoosePart(*two, file, model.names, source.part, source.file);
  for (const NamedTensor& tensor : FitNames(*two, chosen.tensors, model.names))
    if (heads.contains(tensor.name) && tensor.value.rank() > 0) return tensor.value.dim(0);
  Throw<BadInput>(source.file, "has no outputs of {}: is it another model?", model.name);
}

int64_t ImageSizeOf(const Place& place, const ModelDescriptor& model) {
  if (place.image_size > 0) return place.image_size;
  if (place.data.empty() || recipes::DataKind(place.data) != "images") return model.published.input;
  const auto form = recipes::KnownForm({.data = place.data});
  return form ? form->inputs(1)[0].shape[1] : model.published.input;
}

Opened Load(const ModelDescriptor& model, const nlohmann::json& config, const FileWeights& file,
            const WeightsSource& source) {
  const auto built = model.build(config, source.file, {});
  Opened opened{.source = {.model = model, .config = config}, .taken = {}};
  opened.taken = LoadWeights(*built, file, source, model.names);
  opened.source.state = StateDict(*built);
  return opened;
}

Opened OpenFolder(const ConvertOptions& o, int64_t image_size, const std::string& folder) {
  Require(o.model.empty(), "convert", "--model {}: leave it out, the config.json of {} names it",
          o.model, folder);
  const nlohmann::json config = ReadHuggingFaceConfig(folder);
  const ModelDescriptor& model = DescriptorOfConfig(config, folder);
  CheckModel(model, image_size);
  return Load(model, config, ReadWeights(folder), {folder, o.part});
}

Opened OpenFile(const ConvertOptions& o, int64_t image_size, const Place& place,
                const std::string& path) {
  Require(!place.model.empty(), "convert", "{} does not say what model it holds: give --model",
          path);
  const ModelSpec model = ParseModelSpec(place.model);
  CheckModel(model, image_size);
  const WeightsSource source(path, o.part);
  const FileWeights file = ReadWeights(path);
  const int64_t classes = o.classes > 0 ? o.classes : ClassesOf(model, file, source);
  Opened opened = Load(model, model.Config(classes), file, source);
  opened.source.image_size = image_size > 0 ? image_size : ImageSizeOf(place, model);
  return opened;
}

Opened Open(const ConvertOptions& o, int64_t image_size) {
  std::error_code none;
  Require(fs::exists(o.input, none) || !io::CommittedFolder(o.input).empty(), o.input,
          "cannot open: there is no such file or folder");
  const Place place = recipes::WithRunSettings({.model = o.model, .init = o.input});
  if (io::CommittedFolder(place.init).empty()) return OpenFile(o, image_size, place, place.init);
  return io::OpenOneCommit(place.init, [&](const std::string& folder) {
    return fs::exists(folder + "/config.json") ? OpenFolder(o, image_size, folder)
                                               : OpenFile(o, image_size, place, folder);
  });
}

// "images (batch, 3, 32, 32)".
std::string Described(const ValueInfoProto& value) {
  std::vector<std::string> sizes;
  for (const auto& dim : value.type().tensor_type().shape().dim())
    sizes.push_back(dim.has_dim_param() ? dim.dim_param() : std::to_string(dim.dim_value()));
  return fmt::format("{} ({})", value.name(), fmt::join(sizes, ", "));
}

std::string SignatureOf(const ModelProto& model) {
  std::vector<std::string> inputs;
  for (const ValueInfoProto& input : model.graph().input()) inputs.push_back(Described(input));
  return fmt::format("opset {}: {} to {}", model.opset_import(0).version(),
                     fmt::join(inputs, " and "), Described(model.graph().output(0)));
}

void Write(const ModelProto& model, const std::string& path) {
  io::ReplaceFile(path, [&](const std::string& fresh) {
    std::ofstream file(fresh, std::ios::binary);
    if (!model.SerializeToOstream(&file) || !file.flush())
      Throw<BrokenEnvironment>(path, "cannot be written");
  });
}

}  // namespace

Exported ExportOnnx(const ConvertOptions& o, int64_t image_size) {
  std::error_code none;
  Require(o.overwrite || !fs::exists(o.output, none), "convert",
          "{} is there already: give another output, or --overwrite", o.output);
  Opened opened = Open(o, image_size);
  const ModelProto model = ToOnnx(opened.source);
  Write(model, o.output);
  return {std::move(opened.taken), SignatureOf(model)};
}

}  // namespace torus::onnx
