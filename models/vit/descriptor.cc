#include "models/checkpoint/config_reader.h"
#include "models/folders.h"
#include "models/vit/vit.h"

namespace torus {
namespace {

using nlohmann::json;

VitOptions FromConfig(VitOptions o, const json& config, const std::string& where) {
  const ConfigReader reader(config, where);
  reader.RequireKnown({"image_size", "patch_size", "num_layers", "num_heads", "hidden_dim",
                       "mlp_dim", "dropout", "attention_dropout", "num_classes",
                       "representation_size"});
  reader.Read("image_size", o.image_size);
  reader.Read("patch_size", o.patch_size);
  reader.ReadLayers("num_layers", o.num_layers);
  reader.Read("num_heads", o.num_heads);
  reader.Read("hidden_dim", o.hidden_dim);
  reader.Read("mlp_dim", o.mlp_dim);
  reader.Read("dropout", o.dropout);
  reader.Read("attention_dropout", o.attention_dropout);
  reader.Read("num_classes", o.num_classes);
  reader.Read("representation_size", o.representation_size);
  return o;
}

// `size_keys` are the arguments that a spec gives after the colon.
ModelDescriptor Describe(const std::string& name, const std::string& title, const VitOptions& size,
                         const std::vector<SizeNumber>& numbers, const std::string& size_title,
                         const std::vector<std::string>& size_keys) {
  return {.name = name,
          .title = title,
          .size_numbers = numbers,
          .size_title = size_title,
          .names = {.parts = {{".linear_1.", ".0."}, {".linear_2.", ".3."}}},
          .config =
              [=](std::span<const double> sizes, int64_t outputs) {
                // The weights do not show how many heads there are.
                json config = {{"num_classes", outputs}, {"num_heads", size.num_heads}};
                for (size_t i = 0; i < sizes.size(); ++i)
                  config[size_keys[i]] = static_cast<int64_t>(sizes[i]);
                return config;
              },
          .build =
              [size](const json& config, const std::string& where, const BuildOptions& build) {
                VitOptions o = FromConfig(size, config, where);
                if (!build.dropout) o.dropout = o.attention_dropout = 0;
                return Vit(o);
              },
          .sizes =
              [size](const json& config, const std::string& where) {
                const VitOptions o = FromConfig(size, config, where);
                return ModelSizes{.outputs = o.num_classes, .input = o.image_size};
              },
          .training = {.optimizer = "adamw",
                       .learning_rate = 1e-3,
                       .weight_decay = 0.05,
                       .clip_norm = 1,
                       .lr_schedule = "cosine"}};
}

SizeNumber Size(const char* symbol, const char* what) { return {symbol, what, 1 << 16}; }

}  // namespace

// vit_s_16 and vit_b_16, which take the size of their images, and vision_transformer, which takes
// all of its sizes. Configurations are the arguments of torchvision's functions and constructor.
std::vector<ModelDescriptor> VitDescriptors() {
  const SizeNumber image = Size("IMAGE", "height and width of images");
  const auto of = [&](const char* name, const char* title, const VitOptions& size) {
    return Describe(name, title, size, {image}, " of images of {} pixels", {"image_size"});
  };
  return {
      of("vit_s_16", "ViT-S/16", VitSmall16()), of("vit_b_16", "ViT-B/16", {}),
      Describe("vision_transformer", "Vision Transformer", {},
               {image, Size("PATCH", "height and width of patches"), LayersOfSize(),
                Size("HEADS", "number of heads"), Size("WIDTH", "width"),
                Size("MLP", "width of the MLP")},
               " of images of {} pixels, patches of {}, {} layers, {} heads, width {}, MLP {}",
               {"image_size", "patch_size", "num_layers", "num_heads", "hidden_dim", "mlp_dim"})};
}

}  // namespace torus
