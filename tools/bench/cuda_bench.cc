// cuda_bench [--rounds N] [--precision P ...] [--step MODEL:BATCHxSIZE ...] [--autotune FILE]: what
// a GPU, the first that CUDA_VISIBLE_DEVICES leaves, makes of training steps, products, GPT-2's
// MLP, copies and sort quantization. One program to carry to a machine with a GPU; pytorch_cuda.py
// gives PyTorch's figures beside it.
//
// Each figure is the median of rounds; a round ends when the GPU has done all of it. Steps are the
// trainer's (train_step.h).
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "ops/activation/activation.h"
#include "ops/matmul/linear.h"
#include "ops/matmul/matmul.h"
#include "ops/mlp/mlp.h"
#include "parallel/codec/gpu_codec.h"
#include "parallel/codec/make_codec.h"
#include "recipes/run/plans_file.h"
#include "recipes/run/run_plans.h"
#include "recipes/settings/precision.h"
#include "runtime/allocator.h"
#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "runtime/stream.h"
#include "tools/bench/train_step.h"
#include "tools/common/output.h"
#include "tools/common/parse_flags.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"

namespace torus::bench {
namespace {

struct Options {
  int rounds = 20;
  std::vector<std::string> steps{"mobilenet_v2:16x224", "mobilenet_v2:256x224", "resnet18:128x32",
                                 "vgg13:64x32",         "roberta:8x128",        "gpt2:4x256"};
  std::vector<std::string> precisions{"f32", "tf32", "bf16"};
  int64_t product = 8192;             // rows, columns and terms
  int64_t tokens = 8192;              // of an MLP
  int64_t values = int64_t{1} << 26;  // of copies and codecs
  std::string autotune;               // file for the choices of the steps; empty: none are timed
};

class Rounds {
 public:
  explicit Rounds(Device device) : device_(device), begin_(Clock::now()) {}
  void End() {
    WaitForWork(device_);
    const Clock::time_point now = Clock::now();
    seconds_.push_back(std::chrono::duration<double>(now - std::exchange(begin_, now)).count());
  }
  double MedianSeconds() {
    std::ranges::sort(seconds_);
    return seconds_.at(seconds_.size() / 2);
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Device device_;
  Clock::time_point begin_;
  std::vector<double> seconds_;
};

// Seconds, after a first round in which plans are made and memory is taken.
double Median(Device device, int count, const std::function<void()>& run) {
  run();
  WaitForWork(device);
  Rounds rounds(device);
  for (int i = 0; i < count; ++i) {
    run();
    rounds.End();
  }
  return rounds.MedianSeconds();
}

void Print(const std::string& what, double seconds, const std::string& rate) {
  fmt::print("{:<40} {:>12.4f} ms  {}\n", what, 1e3 * seconds, rate);
  std::fflush(stdout);
}

Tensor Normal(const Shape& shape, Device device) {
  Tensor values(shape, DType::kF32);
  FillNormal(values, 0, 1, RandomStream({.seed = 1}));
  return values.To(device);
}

Precision PrecisionOf(const std::string& name, Device device) {
  return recipes::CheckedPrecision("cuda_bench", name, false, device);
}

void Products(const Options& o, Device device) {
  const NoGrad no_grad;
  const int64_t n = o.product;
  const Tensor left = Normal({n, n}, device), right = Normal({n, n}, device);
  for (const std::string& name : o.precisions) {
    const Precision precision = PrecisionOf(name, device);
    const WithPrecision with(precision);
    const Variable a(left.To(precision.low)), b(right.To(precision.low));
    const double seconds = Median(device, o.rounds, [&] { ops::Matmul(a, b); });
    const auto size = static_cast<double>(n);
    Print(fmt::format("product {} cubed, {}", n, name), seconds,
          fmt::format("{:.1f} TFLOP/s", 2e-12 * size * size * size / seconds));
  }
}

// GPT-2's MLP, of 768 channels, forward and backward.
class MlpStep {
 public:
  MlpStep(int64_t tokens, Device device)
      : x_(Normal({tokens, kWidth}, device), true), dy_(Normal({tokens, kWidth}, device)) {
    const auto leaf = [&](const Shape& shape) { return Variable(Normal(shape, device), true); };
    weights_ = {leaf({kWidth, kInner}), leaf({kInner}), leaf({kInner, kWidth}), leaf({kWidth})};
  }
  void Run(bool one_op) {
    const Variable y = one_op ? ops::FusedGeluMlp(x_, weights_) : ThreeOps();
    for (Variable leaf :
         {x_, weights_.wide, weights_.wide_bias, weights_.narrow, weights_.narrow_bias})
      leaf.ZeroGrad();
    Backward({y}, {dy_.To(y.dtype())});
  }
  double flops() const { return 12.0 * static_cast<double>(x_.dim(0)) * kWidth * kInner; }

 private:
  static constexpr int64_t kWidth = 768, kInner = 3072;
  Variable ThreeOps() const {
    const Variable wide = ops::LinearInOut(x_, weights_.wide, weights_.wide_bias);
    return ops::LinearInOut(ops::Gelu(wide, "tanh"), weights_.narrow, weights_.narrow_bias);
  }
  Variable x_;
  Tensor dy_;
  ops::GeluMlpWeights weights_;
};

void Mlps(const Options& o, Device device) {
  MlpStep step(o.tokens, device);
  for (const std::string& name : o.precisions)
    for (const bool one_op : {true, false}) {
      const WithPrecision with(PrecisionOf(name, device));
      const double seconds = Median(device, o.rounds, [&] { step.Run(one_op); });
      Print(fmt::format("MLP {} x 768, {}, {}", o.tokens, name, one_op ? "one op" : "three ops"),
            seconds, fmt::format("{:.1f} TFLOP/s", 1e-12 * step.flops() / seconds));
    }
}

double Gigabytes(int64_t values) { return 4e-9 * static_cast<double>(values); }

void Copies(const Options& o, Device device) {
  const Tensor from = Normal({o.values}, device);
  Tensor to(from.shape(), DType::kF32, device);
  const double seconds = Median(device, o.rounds, [&] { Copy(from, to); });
  Print("copy within the GPU", seconds,
        fmt::format("{:.0f} GB/s, both ways counted", 2 * Gigabytes(o.values) / seconds));
}

void Codecs(const Options& o, Device device, const std::string& name, bool relu) {
  const auto codec = parallel::MakeCodec(name);
  const parallel::GpuCodec* const gpu = codec->on_gpu();
  Require(gpu != nullptr, "cuda_bench", "{} has no kernels for GPUs in this build", name);
  Tensor host = Normal({o.values}, Device{});
  float* const values = host.mutable_data<float>();
  for (int64_t i = 0; relu && i < o.values; ++i) values[i] = std::max(0.0f, values[i]);
  Tensor in = host.To(device);
  const auto bytes = [&](size_t count) {
    return Empty({static_cast<int64_t>(count)}, DType::kU8, device);
  };
  const size_t most = codec->MaxEncodedBytes(o.values);
  Tensor out = bytes(most), written = Zeros({1}, DType::kI64, device),
         scratch = bytes(gpu->ScratchBytes(o.values));
  const std::string of = fmt::format("{} of {}", name, relu ? "positive halves" : "normal values");
  const auto print = [&](const std::string& what, double seconds) {
    Print(what + of, seconds, fmt::format("{:.1f} GB/s of f32", Gigabytes(o.values) / seconds));
  };
  print("encode ", Median(device, o.rounds, [&] { gpu->Encode(in, out, written, scratch); }));
  const Tensor payload = out.Narrow(0, 0, static_cast<int64_t>(written.To(Device{}).Item()));
  print("decode ", Median(device, o.rounds, [&] { gpu->Decode(payload, in); }));
}

// The computing of the second step is recorded as a graph, the update of the third.
constexpr int kFirstSteps = 3;

void TimeStep(const Options& o, const std::string& what, const TrainStepOptions& options,
              Device device) {
  TrainStep step(options);
  step.Run(kFirstSteps, [](const parallel::StepReport&) {});
  AllocatorFor(device).ResetPeak();
  Rounds rounds(device);
  step.Run(o.rounds, [&](const parallel::StepReport&) { rounds.End(); });
  const double seconds = rounds.MedianSeconds();
  const auto peak = static_cast<double>(AllocatorFor(device).stats().peak_bytes);
  Print(what, seconds,
        fmt::format("{:.1f} samples/s, {:.2f} TFLOP/s, {:.2f} GB",
                    static_cast<double>(options.batch) / seconds, 1e-12 * step.flops() / seconds,
                    1e-9 * peak));
}

void Steps(const Options& o, const std::string& precision, cuda::Plans* plans, Device device) {
  for (const std::string& text : o.steps)
    for (const bool graph : {false, true}) {
      TrainStepOptions options = ParseGpuStep("cuda_bench", text);
      options.precision = PrecisionOf(precision, device);
      options.graph = graph;
      options.plans = plans;
      TimeStep(o, fmt::format("step {}, {}{}", text, precision, graph ? ", graph" : ""), options,
               device);
    }
}

void AllSteps(const Options& o, Device device) {
  cuda::Plans plans(!o.autotune.empty());
  for (const std::string& precision : o.precisions) Steps(o, precision, &plans, device);
  if (o.autotune.empty()) return;
  recipes::WritePlans(o.autotune, {recipes::PlanOriginHere(device), plans.choices()});
  fmt::print("{} choices in {}, {} proposals timed\n", plans.choices().size(), o.autotune,
             plans.counts().timed);
}

int Main(int argc, char** argv) {
  Options o;
  CLI::App app("Times training steps, products, an MLP, copies and sort quantization on a GPU.",
               "cuda_bench");
  app.option_defaults()->always_capture_default();
  app.add_option("--rounds", o.rounds, "Repetitions of each measurement")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--step", o.steps,
                 "Training step to measure: MODEL:BATCHxSIZE, with :dropout and :mask behind it if "
                 "wanted; may "
                 "be repeated; '' for none");
  app.add_option("--precision", o.precisions, "f32, tf32, bf16 or f16, may be repeated");
  app.add_option("--product", o.product, "Size of the square matrices that are multiplied")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--tokens", o.tokens, "Tokens for GPT-2's MLP")->check(CLI::Range(1, 1 << 20));
  app.add_option("--values", o.values, "Number of values for copies and codecs")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 34));
  app.add_option(
      "--autotune", o.autotune,
      "Time what cuBLASLt and cuDNN propose for the products, convolutions and attention "
      "of the steps, take the quickest, and write the choices to this file, for --plans "
      "of train. Default: the first proposals are taken");
  if (tools::PrintsHelp(app, argc, argv)) return 0;
  o.autotune = tools::UserPath(o.autotune);
  tools::CheckOutput("cuda_bench", "--autotune", o.autotune);
  std::erase(o.steps, "");
  Require(GpuCount() > 0, "cuda_bench", "{}", WhyNoGpu());
  const Device device{DeviceKind::kCuda, 0};
  Products(o, device);
  Mlps(o, device);
  Copies(o, device);
  for (const char* name : {"sortq:8", "sortq:4"})
    for (const bool relu : {false, true}) Codecs(o, device, name, relu);
  AllSteps(o, device);
  return 0;
}

}  // namespace
}  // namespace torus::bench

int main(int argc, char** argv) {
  return torus::tools::RunMain("cuda_bench", [&] { return torus::bench::Main(argc, argv); });
}
