// Fine-tunes a ResNet-18 of 1000 classes for a folder of images of other classes.
#include <torch/torch.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tools/bench/libtorch/program.h"
#include "tools/bench/libtorch/torch_models.h"

namespace fs = std::filesystem;

// Binary PPM, since libtorch decodes no images: (3, H, W), from 0 to 1.
torch::Tensor ReadImage(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string magic;
  int64_t width = 0, height = 0, most = 0;
  file >> magic >> width >> height >> most;
  file.get();
  torch::Tensor pixels = torch::empty({height, width, 3}, torch::kByte);
  file.read(static_cast<char*>(pixels.data_ptr()), pixels.numel());
  TORCH_CHECK(file && magic == "P6", path.string(), " is no binary PPM");
  return pixels.permute({2, 0, 1}).to(torch::kFloat) / 255;
}

// One folder of images for each class.
class ImageFolder : public torch::data::Dataset<ImageFolder> {
 public:
  explicit ImageFolder(const fs::path& root) {
    for (const fs::path& name : std::set<fs::path>(fs::directory_iterator(root), {})) {
      for (const auto& image : fs::directory_iterator(name)) images_.emplace_back(image, classes_);
      ++classes_;
    }
  }
  torch::data::Example<> get(size_t index) override {
    const auto& [path, label] = images_[index];
    return {ReadImage(path), torch::tensor(label)};
  }
  std::optional<size_t> size() const override { return images_.size(); }
  int64_t classes() const { return classes_; }

 private:
  std::vector<std::pair<fs::path, int64_t>> images_;
  int64_t classes_ = 0;
};

torch::data::Example<> Flip(torch::data::Example<> example) {
  return {torch::rand({}).item<float>() < 0.5 ? example.data.flip(2) : example.data,
          example.target};
}

int main(int argc, char** argv) {
  Program program(argc, argv, [] { torch::ones({1}); });
  ImageFolder images(program.File("images/train")), tests(program.File("images/test"));
  const torch::data::transforms::Normalize<> normalize({0.485, 0.456, 0.406},
                                                       {0.229, 0.224, 0.225});
  const torch::data::transforms::Stack<> stack;
  const auto train = torch::data::make_data_loader(
      images.map(torch::data::transforms::Lambda<torch::data::Example<>>(Flip))
          .map(normalize)
          .map(stack),
      8);
  const auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      tests.map(normalize).map(stack), 8);
  ResNet18 model(1000);
  torch::load(model, program.File("resnet18.pt"));
  model->fc = model->replace_module("fc", torch::nn::Linear(512, images.classes()));
  ChannelsLast(*model);
  torch::optim::SGD optimizer(
      model->parameters(),
      torch::optim::SGDOptions(0.01).momentum(0.9).nesterov(true).weight_decay(1e-4));
  for (int epoch = 1; epoch <= 2; ++epoch) {
    model->train();
    for (const auto& batch : *train) {
      optimizer.zero_grad();
      torch::cross_entropy_loss(model->forward(batch.data), batch.target).backward();
      optimizer.step();
      program.Step();
    }
    model->eval();
    const torch::NoGradGuard no_grad;
    int64_t right = 0;
    for (const auto& batch : *test)
      right += model->forward(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    std::printf("epoch %d accuracy %.3f\n", epoch, 1.0 * right / tests.size().value());
  }
  torch::save(model, program.File("tuned.pt"));
}
