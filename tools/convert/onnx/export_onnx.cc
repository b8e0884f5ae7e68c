#include "tools/convert/onnx/export_onnx.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>

#include "models/checkpoint/hugging_face.h"
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

// Where the weights of an input are, and what a run says of them.
using Place = recipes::EvaluateOptions;

struct Opened {
  Source source;
  TakenWeights taken;
};

// The tensor's first size that follows from the number of outputs, as the weights have it.
int64_t ClassesOf(const ModelSpec& model, const std::string& path, const std::string& part) {
  const auto two = model.build(model.Config(2), model.name, {});
  const auto other = model.build(model.Config(3), model.name, {})->Parameters();
  const std::vector<NamedVariable> parameters = two->Parameters();
  const WeightsPart chosen = ChoosePart(*two, ReadWeights(path), model.names, part, path);
  const std::vector<NamedTensor> fitted = FitNames(*two, chosen.tensors, model.names);
  for (size_t i = 0; i < parameters.size(); ++i)
    for (const NamedTensor& tensor : fitted)
      if (parameters[i].value.shape() != other[i].value.shape() && tensor.value.rank() > 0 &&
          tensor.name == parameters[i].name)
        return tensor.value.dim(0);
  Throw<BadInput>(path, "has no outputs of {}: is it another model?", model.name);
}

int64_t ImageSizeOf(const ExportOptions& o, const Place& place, const ModelDescriptor& model) {
  if (o.image_size > 0) return o.image_size;
  if (place.image_size > 0) return place.image_size;
  if (place.data.empty() || recipes::DataKind(place.data) != "images") return model.published.input;
  const auto form = recipes::KnownForm({.data = place.data});
  return form ? form->inputs(1)[0].shape[1] : model.published.input;
}

Opened Load(const ModelDescriptor& model, const nlohmann::json& config, const std::string& path,
            const std::string& part) {
  const auto built = model.build(config, path, {});
  Opened opened{.source = {.model = model, .config = config}, .taken = {}};
  opened.taken = LoadWeights(*built, {path, part}, model.names);
  opened.source.state = StateDict(*built);
  return opened;
}

Opened OpenFolder(const ExportOptions& o, const std::string& folder) {
  Require(o.model.empty(), "convert", "--model {}: leave it out, the config.json of {} names it",
          o.model, folder);
  const nlohmann::json config = ReadHuggingFaceConfig(folder);
  const ModelDescriptor& model = DescriptorOfConfig(config, folder);
  RequireOnnxForm(model, Models());
  return Load(model, config, folder, o.part);
}

Opened OpenFile(const ExportOptions& o, const Place& place, const std::string& path) {
  Require(!place.model.empty(), "convert", "{} does not say what model it holds: give --model",
          path);
  const ModelSpec model = ParseModelSpec(place.model);
  RequireOnnxForm(model, Models());
  const int64_t classes = o.classes > 0 ? o.classes : ClassesOf(model, path, o.part);
  Opened opened = Load(model, model.Config(classes), path, o.part);
  opened.source.image_size = ImageSizeOf(o, place, model);
  return opened;
}

Opened Open(const ExportOptions& o) {
  std::error_code none;
  Require(fs::exists(o.input, none) || !io::CommittedFolder(o.input).empty(), o.input,
          "cannot open: there is no such file or folder");
  const Place place = recipes::WithRunSettings({.model = o.model, .init = o.input});
  if (io::CommittedFolder(place.init).empty()) return OpenFile(o, place, place.init);
  return io::OpenOneCommit(place.init, [&](const std::string& folder) {
    return fs::exists(folder + "/config.json") ? OpenFolder(o, folder) : OpenFile(o, place, folder);
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

Exported ExportOnnx(const ExportOptions& o) {
  std::error_code none;
  Require(o.overwrite || !fs::exists(o.output, none), "convert",
          "{} is there already: give another output, or --overwrite", o.output);
  Opened opened = Open(o);
  const ModelProto model = ToOnnx(opened.source);
  Write(model, o.output);
  return {std::move(opened.taken), SignatureOf(model)};
}

}  // namespace torus::onnx
