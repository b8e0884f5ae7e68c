// Learns y = sin x with a network of two layers. Each is a pipeline stage on its own thread, and
// what crosses the cut between them goes through a codec of this program's own.
#include <torus/torus.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace torus;            // NOLINT
using namespace torus::parallel;  // NOLINT

// The upper 16 bits of each value.
class HalfCodec : public Codec {
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

Block Layer(const std::string& name, int64_t in, int64_t out, bool last) {
  Tensor values(Shape{out, in}, DType::kF32);
  FillUniform(values, -1, 1, RandomStream({.layer = HashName(name.c_str())}));
  const Variable weight(values, true), bias(Zeros(Shape{out}), true);
  return {.name = name,
          .forward =
              [=](const std::vector<Variable>& x, const StepContext&) {
                const Variable y = ops::Linear(x[0], weight, bias);
                return std::vector<Variable>{last ? y : ops::Tanh(y)};
              },
          .parameters = {{name + ".weight", weight}, {name + ".bias", bias}}};
}

// Four micro-batches of 16 points each. Every rank makes the data that it needs.
MiniBatch Batch(int64_t step, const RankPlace&) {
  MiniBatch batch{.global_samples = 64};
  for (uint64_t m = 0; m < 4; ++m) {
    Tensor x(Shape{16, 1}, DType::kF32), y(Shape{16, 1}, DType::kF32);
    FillUniform(x, -3, 3, RandomStream({.step = static_cast<uint64_t>(step), .sample = m}));
    for (int i = 0; i < 16; ++i) y.mutable_data<float>()[i] = std::sin(x.data<float>()[i]);
    batch.micro_batches.push_back({{x}, {y}, std::vector<int64_t>(16)});
  }
  return batch;
}

int main() try {
  TrainerOptions options{.stages = 2, .micro_batches = 4};
  options.codec = [] { return std::make_unique<HalfCodec>(); };
  Trainer trainer(
      options,
      {.model =
           [] {
             return std::vector{Layer("a", 1, 32, false), Layer("b", 32, 1, true)};
           },
       .loss = [](const auto& out,
                  const auto& target) { return ops::MseLoss(out[0], Variable(target[0])); },
       .optimizer = [](auto p) { return std::make_unique<Sgd>(p, SgdOptions{.momentum = 0.9}); },
       .learning_rate = [](int64_t) { return 0.02; },
       .largest_inputs = {{Shape{16, 1}, DType::kF32}}});
  trainer.Train(2000, Batch, {.on_step = [](const StepReport& report) {
                  if (report.step % 500 == 499)
                    std::printf("step %d loss %.5f\n", static_cast<int>(report.step + 1),
                                report.loss);
                }});
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
