#include "tests/application/own_parts.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "models/checkpoint/config_reader.h"
#include "models/nn/activation_layers.h"
#include "models/nn/flatten_images.h"
#include "models/nn/linear.h"
#include "parallel/codec/codec_list.h"

namespace application {
namespace {

using namespace torus;            // NOLINT
using namespace torus::parallel;  // NOLINT

constexpr int64_t kPixels = 32 * 32 * 3, kHidden = 16;

std::shared_ptr<nn::Sequential> BuildPixels(const nlohmann::json& config, const std::string& where,
                                            const BuildOptions&) {
  int64_t outputs = 10;
  ConfigReader(config, where).Read("outputs", outputs);
  auto model = std::make_shared<nn::Sequential>();
  model->Add("flatten", nn::FlattenImages());
  model->Add("hidden", nn::Linear({.in = kPixels, .out = kHidden}));
  model->Add("relu", nn::Relu());
  model->Add("head", nn::Linear({.in = kHidden, .out = outputs}));
  return model;
}

class Half : public Codec {
 public:
  std::string name() const override { return "half"; }
  size_t MaxEncodedBytes(int64_t count) const override { return static_cast<size_t>(2 * count); }
  size_t Encode(std::span<const float> in, std::span<std::byte> out) override {
    for (size_t i = 0; i < in.size(); ++i) {
      const auto upper = static_cast<uint16_t>(std::bit_cast<uint32_t>(in[i]) >> 16);
      std::memcpy(&out[2 * i], &upper, 2);
    }
    return 2 * in.size();
  }
  void Decode(std::span<const std::byte> in, std::span<float> out) override {
    for (size_t i = 0; i < out.size(); ++i) {
      uint16_t upper = 0;
      std::memcpy(&upper, &in[2 * i], 2);
      out[i] = std::bit_cast<float>(uint32_t{upper} << 16);
    }
  }
};

}  // namespace

const std::vector<ModelDescriptor>& Models() {
  static const std::vector<ModelDescriptor> models = {
      {.name = "pixels",
       .title = "Pixels",
       .published = {.outputs = 10, .input = 32},
       .config =
           [](std::span<const double>, int64_t outputs) {
             return nlohmann::json{{"outputs", outputs}};
           },
       .build = BuildPixels}};
  return models;
}

void AddHalfCodec() {
  RegisterCodec({.name = "half",
                 .written = "half",
                 .about = "the upper 16 bits of each value",
                 .examples = {"half"},
                 .codec = [](const CodecPart& part) -> std::unique_ptr<Codec> {
                   part.AtMost(0);
                   return std::make_unique<Half>();
                 }});
}

Schedule Alternating(const PipelineSize& size) {
  const int stages = size.ranks, micro_batches = size.micro_batches;
  Schedule schedule{"alternating", stages, stages, micro_batches, {}};
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Action>& actions = schedule.ranks.emplace_back();
    const int ahead = std::min(micro_batches, stages - stage);
    for (int m = 0; m < ahead; ++m) actions.push_back({ActionKind::kForward, stage, m});
    for (int m = 0; m < micro_batches; ++m) {
      actions.push_back({ActionKind::kBackward, stage, m});
      if (m + ahead < micro_batches) actions.push_back({ActionKind::kForward, stage, m + ahead});
    }
  }
  return schedule;
}

}  // namespace application
