// The real image task in this process: MobileNetV2 with batch norm and dropout, of a tenth of the
// width, on a few augmented images of 32 x 32, through loader and trainer.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "recipes/run/run.h"
#include "recipes/run/task.h"
#include "tests/recipes/small_data.h"

namespace torus::recipes::testing {

// 90 training images; made once a test program.
inline std::string SmallDataFolder() {
  static const std::string folder = [] {
    const std::string path = ::testing::TempDir() + "/image_run_data";
    std::filesystem::create_directories(path);
    WriteImages(path, "train", 90);
    WriteImages(path, "t10k", 20);
    return path;
  }();
  return folder;
}

// 4 steps an epoch, the last with 18 samples instead of 24. One thread a rank.
inline Settings SmallSettings(int64_t stages, int64_t replicas, int64_t micro_batches) {
  Settings s;
  s.model = "mobilenet_v2:0.1";
  s.data_dir = SmallDataFolder();
  s.epochs = 13;
  s.batch_size = 24;
  s.stages = stages;
  s.replicas = replicas;
  s.micro_batches = micro_batches;
  s.threads = stages * replicas;
  s.codec = "none";
  s.augment = "crop-flip";
  return s;
}

class ImageRun {
 public:
  // `options` are completed from the settings. `on_blocks` sees each model that is built. `first`:
  // the first step that is trained here.
  using OnBlocks = std::function<void(const std::vector<parallel::Block>&)>;
  explicit ImageRun(const Settings& settings, parallel::TrainerOptions options = {},
                    OnBlocks on_blocks = {}, int64_t first = 0)
      : task_(settings, "") {
    options.stages = static_cast<int>(settings.stages);
    options.replicas = static_cast<int>(settings.replicas);
    options.micro_batches = static_cast<int>(settings.micro_batches);
    options.threads = static_cast<int>(settings.threads);
    options.seed = settings.seed;
    parallel::TrainingParts parts = task_.Parts();
    parts.model = [this, on_blocks] {
      const std::vector<parallel::Block> blocks = task_.Blocks();
      if (on_blocks) on_blocks(blocks);
      return blocks;
    };
    trainer_ = std::make_unique<parallel::Trainer>(std::move(options), std::move(parts));
    feed_ = std::make_shared<BatchFeed>(task_.data().train, settings, trainer_->layout().places(),
                                        first, 60, 1);
  }

  void TrainTo(int64_t end) {
    trainer_->Train(end, BatchFeed::Fn(feed_),
                    {.on_step = [this](const parallel::StepReport& report) {
                      losses_.push_back(report.loss);
                    }});
  }
  parallel::Trainer& trainer() { return *trainer_; }
  const std::vector<double>& losses() const { return losses_; }

 private:
  Task task_;
  std::unique_ptr<parallel::Trainer> trainer_;
  std::shared_ptr<BatchFeed> feed_;
  std::vector<double> losses_;
};

inline bool EqualBits(const Tensor& a, const Tensor& b) {
  const Tensor x = a.Contiguous(), y = b.Contiguous();
  return x.shape() == y.shape() && x.dtype() == y.dtype() &&
         std::memcmp(x.raw(), y.raw(), x.bytes()) == 0;
}

inline void ExpectEqualBits(const std::vector<NamedTensor>& a, const std::vector<NamedTensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_TRUE(EqualBits(a[i].value, b[i].value)) << a[i].name;
  }
}

}  // namespace torus::recipes::testing
