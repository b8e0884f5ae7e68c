// Classifies images by a ResNet-18, with one model that several threads use at once.
//   inference_service WEIGHTS THREADS < PATHS
// Reads a path of an image from each line, and writes a line "PATH CLASS SCORE" for each in the
// order in which they are ready. An image that cannot be read gets a line with the reason.
#include <torus/torus.h>

#include <cstdio>
#include <iostream>
#include <mutex>
#include <thread>

using namespace torus;  // NOLINT

// A 224 x 224 image as torchvision's weights want it.
Tensor Prepared(const std::string& path) {
  static const data::Normalizer normalizer(
      {.mean = {0.485f, 0.456f, 0.406f}, .std = {0.229f, 0.224f, 0.225f}});
  const Tensor image = data::CenterCrop(data::Resize(data::ReadImage(path), 256, 256), 224, 224);
  return normalizer.Apply(image).View({1, 224, 224, 3});
}

std::string Classify(nn::Module& model, const std::string& path) try {
  const NoGrad no_grad;
  const Variable logits = model.Forward(Variable(Prepared(path)), {.training = false});
  const auto scores = ToVector<float>(ops::Softmax(logits, -1).data());
  const auto best = std::max_element(scores.begin(), scores.end());
  return path + " " + std::to_string(best - scores.begin()) + " " + std::to_string(*best);
} catch (const BadInput& error) {
  return path + " " + error.what();
}

// Takes one line after the other until there are none.
void Serve(nn::Module& model, std::mutex& input) {
  for (std::string path; true;) {
    {
      const std::lock_guard lock(input);
      if (!std::getline(std::cin, path)) return;
    }
    std::puts(Classify(model, path).c_str());
  }
}

int main(int argc, char** argv) try {
  if (argc != 3) throw BadInput("usage: inference_service WEIGHTS THREADS < PATHS");
  const auto model = ResNet({.depth = 18});
  LoadWeights(*model, argv[1]);
  std::mutex input;
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::stoi(argv[2]); ++i) threads.emplace_back([&] { Serve(*model, input); });
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
