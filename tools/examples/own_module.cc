// A module and a training loop of this program's own: batch norm and dropout, data in memory,
// parameter groups, a learning-rate schedule, accuracy, the best weights, and a run that goes on
// where it ended. Its images are noisy stripes that lie, stand or lean.
//   own_module FOLDER EPOCHS
// Trains up to EPOCHS of 8, from FOLDER/last.safetensors where there is one.
#include <torus/torus.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

using namespace torus;  // NOLINT

constexpr int64_t kClasses = 3, kSize = 12, kEpochs = 8;
constexpr uint64_t kSeed = 1;
constexpr double kRate = 0.003;

class SmallCnn : public nn::Module {
 public:
  SmallCnn() {
    conv_ = AddChild("conv", std::make_shared<nn::Conv2d>(nn::Conv2dOptions{
                                 .in = 1, .out = 8, .kernel = 3, .padding = 1, .bias = false}));
    norm_ =
        AddChild("norm", std::make_shared<nn::BatchNorm2d>(nn::BatchNorm2dOptions{.channels = 8}));
    dropout_ = AddChild("dropout", std::make_shared<nn::Dropout>(0.1, /*layer=*/0));
    head_ = AddChild("head", std::make_shared<nn::Linear>(nn::LinearOptions{
                                 .in = 8 * (kSize / 2) * (kSize / 2), .out = kClasses}));
    scale_ = AddParameter("scale", {1}, DType::kF32, nn::Constant(1));
    mean_ = AddBuffer("mean", {1}, DType::kF32, nn::Constant(0));
  }
  // Images (N, 12, 12, 1); logits (N, 3).
  Variable Forward(const Variable& x, const StepContext& ctx) override {
    Variable h = ops::Relu(norm_->Forward(conv_->Forward(x - mean_, ctx), ctx));
    h = ops::Flatten(ops::MaxPool2d(h, {.kernel_size = {2}}), 1);
    return head_->Forward(dropout_->Forward(h, ctx), ctx) * scale_;
  }
  // What Forward subtracts; it is saved with the weights.
  void SetMean(const Tensor& images) {
    mean_.SetData(ops::Mean(Variable(images)).data().View({1}));
  }

 private:
  std::shared_ptr<nn::Conv2d> conv_;
  std::shared_ptr<nn::BatchNorm2d> norm_;
  std::shared_ptr<nn::Dropout> dropout_;
  std::shared_ptr<nn::Linear> head_;
  Variable scale_, mean_;
};

struct Images {
  Tensor pixels;   // f32 (N, 12, 12, 1)
  Tensor classes;  // i64 (N)
};

Images MakeImages(int64_t count, uint64_t seed) {
  Images images{Empty({count, kSize, kSize, 1}), Empty({count}, DType::kI64)};
  FillNormal(images.pixels, 0, 2, RandomStream({.seed = seed}));
  const RandomStream random({.seed = seed, .layer = HashName("class and phase")});
  float* pixel = images.pixels.mutable_data<float>();
  int64_t* of_image = images.classes.mutable_data<int64_t>();
  for (int64_t i = 0; i < count; ++i) {
    of_image[i] = static_cast<int64_t>(random.Below(2 * i, kClasses));
    const auto phase = static_cast<int64_t>(random.Below(2 * i + 1, 4));
    for (int64_t y = 0; y < kSize; ++y)
      for (int64_t x = 0; x < kSize; ++x) {
        const int64_t along[kClasses] = {y, x, x + y};
        *pixel++ += (along[of_image[i]] + phase) / 2 % 2 == 0 ? 1 : -1;
      }
  }
  return images;
}

data::Batch MakeBatch(const Images& images, const data::MicroBatch& rows) {
  const Tensor index = FromVector(rows.indices, {std::ssize(rows.indices)});
  return {.inputs = {ops::Index(images.pixels, {index})},
          .target = ops::Index(images.classes, {index}),
          .samples = rows.samples};
}

// Returns the loss.
double TrainStep(SmallCnn& model, parallel::Optimizer& optimizer, const data::Batch& batch,
                 int64_t step, double rate) {
  optimizer.ZeroGrad();
  const StepContext context{.seed = kSeed, .step = step, .samples = batch.samples};
  const Variable logits = model.Forward(Variable(batch.inputs[0]), context);
  const Variable loss = ops::CrossEntropy(logits, Variable(batch.target));
  Backward({loss});
  const bool taken = std::isfinite(loss.data().Item());
  model.EndMiniBatch(taken);  // batch norm's running statistics change here
  if (taken) optimizer.Step(rate);
  return loss.data().Item();
}

double Accuracy(SmallCnn& model, const Images& images) {
  const NoGrad no_grad;
  const int64_t count = images.pixels.dim(0);
  int64_t right = 0;
  for (int64_t begin = 0, rows = 0; begin < count; begin += rows) {
    rows = std::min<int64_t>(64, count - begin);
    const Variable x(images.pixels.Narrow(0, begin, rows));
    const Variable y(images.classes.Narrow(0, begin, rows));
    const Variable logits = model.Forward(x, {.training = false});
    const Variable best(ops::Argmax(logits.data(), 1));
    right += static_cast<int64_t>(ops::CountNonzero(ops::Eq(best, y)).data().Item());
  }
  return static_cast<double>(right) / static_cast<double>(count);
}

struct Progress {
  int64_t epochs = 0;  // done
  double best = 0;     // accuracy
};

// Tensors whose names begin with `prefix`, without it.
std::vector<NamedTensor> Part(const std::vector<NamedTensor>& all, const std::string& prefix) {
  std::vector<NamedTensor> part;
  for (const auto& [name, value] : all)
    if (name.starts_with(prefix)) part.push_back({name.substr(prefix.size()), value});
  return part;
}

void Save(const std::string& path, const SmallCnn& model, const parallel::Optimizer& optimizer,
          const Progress& progress) {
  std::vector<NamedTensor> all;
  for (const auto& [name, value] : StateDict(model)) all.push_back({"model." + name, value});
  for (const auto& [name, value] : optimizer.State()) all.push_back({"optimizer." + name, value});
  WriteSafetensors(
      path + ".new", all,
      {{"epochs", std::to_string(progress.epochs)}, {"best", fmt::format("{}", progress.best)}});
  std::filesystem::rename(path + ".new", path);  // so that there is a whole one at any time
}

Progress Resume(const std::string& path, SmallCnn& model, parallel::Optimizer& optimizer) {
  if (!std::filesystem::exists(path)) return {};
  const SafetensorsFile file = ReadSafetensors(path);
  LoadStateDict(model, Part(file.tensors, "model."), path);
  optimizer.LoadState(Part(file.tensors, "optimizer."));
  return {std::stoll(file.metadata.at("epochs")), std::stod(file.metadata.at("best"))};
}

int main(int argc, char** argv) try {
  if (argc != 3) throw BadInput("usage: own_module FOLDER EPOCHS");
  const std::string folder = argv[1], last = folder + "/last.safetensors";
  std::filesystem::create_directories(folder);
  const Images train = MakeImages(960, /*seed=*/1), validation = MakeImages(300, /*seed=*/2);

  SmallCnn model;
  model.Initialize(kSeed);
  model.SetMean(train.pixels);
  parallel::Adam optimizer(parallel::GroupsByName<parallel::AdamGroup>(
      model.Parameters(), parallel::AdamWOptions(),
      {{.pattern = "*.bias", .weight_decay = 0}, {.pattern = "norm.*", .weight_decay = 0}}));
  Progress progress = Resume(last, model, optimizer);

  data::Sampler sampler({.size = train.pixels.dim(0), .batch_size = 32, .seed = kSeed});
  sampler.SetEpoch(progress.epochs);
  const int64_t steps = sampler.batches_per_epoch();
  data::Loader loader(sampler, [&](const data::MicroBatch& rows) { return MakeBatch(train, rows); },
                      {});
  const parallel::LrSchedule schedule = parallel::MakeLrSchedule(
      "cosine", {.total_steps = kEpochs * steps, .warmup_steps = 10, .steps_per_epoch = steps});

  while (progress.epochs < std::min<int64_t>(std::stoll(argv[2]), kEpochs)) {
    double losses = 0;
    for (int64_t step = progress.epochs * steps; step < (progress.epochs + 1) * steps; ++step) {
      const auto batch = loader.Fetch(step, /*replica=*/0, /*micro_batch=*/0);
      losses += TrainStep(model, optimizer, *batch, step, kRate * schedule(step));
    }
    const double accuracy = Accuracy(model, validation);
    if (accuracy > progress.best) SaveModel(model, folder + "/best.safetensors");
    progress = {progress.epochs + 1, std::max(accuracy, progress.best)};
    Save(last, model, optimizer, progress);
    std::printf("epoch %d loss %.4f accuracy %.3f\n", static_cast<int>(progress.epochs),
                losses / static_cast<double>(steps), accuracy);
  }

  LoadModel(model, folder + "/best.safetensors");
  std::printf("best accuracy %.3f\n", Accuracy(model, validation));
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
