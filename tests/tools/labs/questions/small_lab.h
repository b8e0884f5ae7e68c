// Options of a lab that is over in seconds: the CIFAR ResNet-20 on 96 images of bars.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/recipes/small_data.h"
#include "tools/labs/questions/lab_options.h"

namespace torus::labs::testing {

inline std::string SmallLabFolder() {
  static const std::string folder = [] {
    const std::string path = ::testing::TempDir() + "/small_lab_data";
    std::filesystem::create_directories(path);
    recipes::testing::WriteImages(path, "train", 96);
    recipes::testing::WriteImages(path, "t10k", 20);
    return path;
  }();
  return folder;
}

inline LabOptions SmallLab() {
  LabOptions o;
  o.settings.model = "cifar_resnet20";
  o.settings.data = "fashion-mnist";
  o.settings.data_dir = SmallLabFolder();
  o.batches = {2, 4};
  o.ranks = {1, 2};
  o.small_batch = 4;
  o.epochs = 2;
  o.steps = 3;
  o.images = 16;
  o.test_images = 10;
  return o;
}

inline void Silent(const std::string&) {}

}  // namespace torus::labs::testing
