// Fine-tunes torchvision's ResNet-18, trained on ImageNet, for other classes.
//   fine_tune_resnet resnet18-f37072fd.pth IMAGES OUT
// IMAGES/train and IMAGES/test have one folder of images for each class.
#include <torus/recipes.h>

#include <cstdio>

using namespace torus;  // NOLINT

int main(int argc, char** argv) try {
  if (argc != 4) throw BadInput("usage: fine_tune_resnet WEIGHTS IMAGES OUT");
  recipes::Settings settings = recipes::UsualSettings("resnet18");
  settings.init = argv[1];
  settings.data = "image-folder";
  settings.data_dir = argv[2];
  settings.image_size = 64;
  settings.augment = "flip";
  settings.batch_size = 8;
  settings.micro_batches = 1;
  settings.lr = 0.01;
  const recipes::RunResult result =
      recipes::Run({.settings = settings, .out = argv[3]},
                   {.on_message = [](const std::string& line) { std::puts(line.c_str()); }});
  std::fputs(recipes::SummaryText(result).c_str(), stdout);
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
