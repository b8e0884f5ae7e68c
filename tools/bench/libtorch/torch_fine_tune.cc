// Fine-tunes a ResNet-18 of 1000 classes for a folder of images of other classes.
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tools/bench/libtorch/program.h"
#include "tools/bench/libtorch/torch_models.h"

using namespace torch;  // NOLINT
namespace fs = std::filesystem;

// Binary PPM, since libtorch decodes no images: (3, H, W), from 0 to 1.
Tensor ReadImage(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int64_t width = 0, height = 0, most = 0;
  file >> magic >> width >> height >> most;
  file.get();
  Tensor pixels = empty({height, width, 3}, kByte);
  file.read(static_cast<char*>(pixels.data_ptr()), pixels.numel());
  TORCH_CHECK(file && magic == "P6", path.string(), " is no binary PPM");
  return pixels.permute({2, 0, 1}).to(kFloat) / 255;
}

// One folder of images for each class.
class ImageFolder : public data::Dataset<ImageFolder> {
 public:
  explicit ImageFolder(const fs::path& root) {
    for (const fs::path& name : std::set<fs::path>(fs::directory_iterator(root), {})) {
      for (const auto& image : fs::directory_iterator(name)) images_.emplace_back(image, classes_);
      ++classes_;
    }
  }
  data::Example<> get(size_t index) override {
    const auto& [path, label] = images_[index];
    return {ReadImage(path), tensor(label)};
  }
  std::optional<size_t> size() const override { return images_.size(); }
  int64_t classes() const { return classes_; }

 private:
  std::vector<std::pair<fs::path, int64_t>> images_;
  int64_t classes_ = 0;
};

data::Example<> Flip(data::Example<> example) {
  return {rand({}).item<float>() < 0.5 ? example.data.flip(2) : example.data, example.target};
}

int main(int argc, char** argv) {
  Program program(argc, argv, [] { ones({1}); });
  const ImageFolder images(program.File("images/train")), tests(program.File("images/test"));
  const data::transforms::Normalize<> normalize({0.485, 0.456, 0.406}, {0.229, 0.224, 0.225});
  const data::transforms::Stack<> stack;
  const auto train = data::make_data_loader(
      images.map(data::transforms::Lambda<data::Example<>>(Flip)).map(normalize).map(stack), 8);
  const auto test =
      data::make_data_loader<data::samplers::SequentialSampler>(tests.map(normalize).map(stack), 8);
  ResNet18 model(1000);
  load(model, program.File("resnet18.pt"));
  model->fc = model->replace_module("fc", nn::Linear(512, images.classes()));
  ChannelsLast(*model);
  optim::SGD optimizer(model->parameters(),
                       optim::SGDOptions(0.01).momentum(0.9).nesterov(true).weight_decay(1e-4));
  for (int epoch = 1; epoch <= 2; ++epoch) {
    model->train();
    for (const auto& batch : *train) {
      optimizer.zero_grad();
      cross_entropy_loss(model->forward(batch.data), batch.target).backward();
      optimizer.step();
      program.Step();
    }
    model->eval();
    const NoGradGuard no_grad;
    int64_t right = 0;
    for (const auto& batch : *test)
      right += model->forward(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    std::printf("epoch %d accuracy %.3f\n", epoch, 1.0 * right / tests.size().value());
  }
  save(model, program.File("tuned.pt"));
}
