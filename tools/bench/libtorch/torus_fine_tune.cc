// Fine-tunes a ResNet-18 of 1000 classes for a folder of images of other classes.
#include <torus/recipes.h>

#include "tools/bench/libtorch/program.h"

using namespace torus;  // NOLINT

int main(int argc, char** argv) {
  Program program(argc, argv, [] { Ones({1}); });
  recipes::Settings settings = recipes::UsualSettings("resnet18");
  settings.init = program.File("resnet18.safetensors");
  settings.data = "image-folder";
  settings.data_dir = program.File("images");
  settings.augment = "flip";
  settings.epochs = 2;
  settings.batch_size = 8;
  settings.micro_batches = 1;
  settings.lr = 0.01;
  settings.lr_schedule = "constant";
  recipes::Run({.settings = settings, .out = program.File("run")},
               {.on_step = [&](const parallel::StepReport&) { program.Step(); },
                .on_evaluate =
                    [](const recipes::Evaluation& test) {
                      std::printf("epoch %.0f accuracy %.3f\n", test.epoch, *test.accuracy);
                    }});
}
