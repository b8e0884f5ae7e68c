// The toy model with weights of f32, whose gradients go through codecs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "parallel/codec/make_codec.h"
#include "tests/parallel/trainer/toy_model.h"

namespace torus::parallel::testing {

inline std::function<std::unique_ptr<Codec>()> Named(const std::string& name) {
  return [name] { return MakeCodec(name); };
}

// Four blocks; f32 crosses their cuts too.
inline std::vector<Block> ModelOfF32() {
  std::vector<Block> model;
  for (int i = 0; i < 4; ++i) {
    const Variable w(ToyWeight(i).data().To(DType::kF32), true);
    Block& block = model.emplace_back();
    block.name = fmt::format("layer{}", i);
    block.parameters = {{block.name + ".weight", w}};
    block.forward = [w, i](const std::vector<Variable>& x, const StepContext& c) {
      const Variable y = ToyLayer(ToyCast(x[0], DType::kF64), ToyCast(w, DType::kF64), c,
                                  static_cast<uint64_t>(i));
      return std::vector<Variable>{i == 3 ? y : ToyCast(y, DType::kF32)};
    };
  }
  return model;
}

inline TrainingParts PartsOfF32(const ToyRun& run) {
  TrainingParts parts = run.Parts();
  parts.model = ModelOfF32;
  return parts;
}

}  // namespace torus::parallel::testing
