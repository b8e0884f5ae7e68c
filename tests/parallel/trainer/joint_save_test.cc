// Checkpoints to which every rank writes what it owns, and what happens where one of them cannot.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <mutex>

#include "parallel/trainer/checkpoint.h"
#include "parallel/trainer/rank_trainer.h"
#include "parallel/trainer/shared_folder.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/allocator.h"
#include "runtime/error.h"
#include "tests/parallel/trainer/outcome.h"
#include "tests/testing/error_of.h"

namespace torus::parallel {
namespace {

namespace fs = std::filesystem;
using testing::PartsOfShapes;
using testing::ToyRun;

class JointSave : public ::testing::Test {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  const std::string folder_ = ::testing::TempDir() + "/joint_save/" +
                              ::testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::string checkpoint_ = folder_ + "/checkpoint";
};

// No limit on the size of files once it is gone.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : before_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit own{bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &own);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  void (*const before_)(int);
  rlimit limit_{};
};

TEST_F(JointSave, EachStageIsWrittenByItsOwnerAndReadByAnyLayout) {
  ToyRun run;
  run.options = {.stages = 4,
                 .chunks = 2,
                 .replicas = 2,
                 .micro_batches = 2,
                 .schedule = "interleaved",
                 .ema_decay = 0.5};
  Trainer trainer(run.options, run.Parts());
  trainer.Train(3, run.Batches());
  trainer.Save(checkpoint_, {{"note.txt", "of rank 0"}});
  const io::CheckpointReader checkpoint(checkpoint_);
  EXPECT_EQ(checkpoint.manifest().files.size(), 12u);
  EXPECT_EQ(checkpoint.manifest().files.at("weights-3.safetensors").tensors,
            (std::vector<std::string>{"layer3.weight", "layer3.running"}));
  EXPECT_EQ(checkpoint.Text("note.txt"), "of rank 0");
  ToyRun other;
  other.options = {.stages = 2, .replicas = 1, .micro_batches = 4, .ema_decay = 0.5};
  Trainer reader(other.options, other.Parts());
  reader.SetState(SourceOf(checkpoint));
  EXPECT_EQ(reader.step(), 3);
  testing::ExpectEqualBits(trainer.State().weights, reader.State().weights);
  testing::ExpectEqualBits(trainer.State().optimizer, reader.State().optimizer);
  testing::ExpectEqualBits(trainer.State().averages, reader.State().averages);
}

constexpr int64_t kWide = 512;

// Wide layers, of which the second is four times the first.
TrainingParts WideParts(const ToyRun& run) {
  return PartsOfShapes(run, {Shape{kWide, kWide}, Shape{4 * kWide, kWide}});
}

TEST_F(JointSave, ARankThatCannotWriteIsNamedAndTheOldOneStays) {
  ToyRun run;
  run.options = {.stages = 2, .cuts = {1}};
  Trainer trainer(run.options, WideParts(run));
  trainer.Save(checkpoint_);
  std::string message;
  {
    const FileSizeLimit limit(2 * kWide * kWide * sizeof(double));  // the first layer's would fit
    message = torus::testing::ErrorOf<Error>([&] { trainer.Save(checkpoint_); });
  }
  EXPECT_EQ(message.find("rank 1 on "), 0u) << message;
  EXPECT_NE(message.find("weights-1.safetensors"), message.npos) << message;
  EXPECT_EQ(io::CheckpointReader(checkpoint_).manifest().commit, 1);
  EXPECT_EQ(LoadCheckpoint(checkpoint_).weights.size(), 2u);
  EXPECT_FALSE(fs::exists(folder_ + "/.checkpoint.torus"));
  trainer.Save(checkpoint_);  // the ranks are none the worse for it
  EXPECT_EQ(io::CheckpointReader(checkpoint_).manifest().commit, 2);
}

TEST_F(JointSave, AStateThatIsNotFiniteOnOneRankLeavesTheOldOne) {
  ToyRun run;
  run.options = {.stages = 2, .cuts = {2}};
  Trainer trainer(run.options, run.Parts());
  trainer.Save(checkpoint_);
  TrainState state = trainer.State();
  state.weights[3].value.mutable_data<double>()[5] = NAN;
  trainer.SetState(state);
  const std::string message = torus::testing::ErrorOf<Error>([&] { trainer.Save(checkpoint_); });
  EXPECT_EQ(message.find("rank 1 on "), 0u) << message;
  EXPECT_NE(message.find("layer3.weight has 1 values"), message.npos) << message;
  EXPECT_EQ(io::CheckpointReader(checkpoint_).manifest().commit, 1);
}

// Nobody holds another's state, not even for a moment: what is taken meanwhile is less than the
// smaller layer, and no tensor is sent.
TEST_F(JointSave, TakesNoMemoryAndSendsNoTensors) {
  ToyRun run;
  run.options = {.stages = 2, .cuts = {1}};
  const TrainingParts parts = WideParts(run);
  constexpr size_t kSmaller = kWide * kWide * sizeof(double);
  RunRanks(2, [&](Transport& world) {
    RankTrainer trainer(world, run.options, parts);
    trainer.Prepare();
    AllocatorFor({}).ResetPeak();
    const uint64_t sent = world.BytesSent(1 - world.rank(), TagClass::kControl);
    const size_t before = AllocatorFor({}).stats().live_bytes;
    EXPECT_EQ(trainer.Save(checkpoint_), nullptr);
    EXPECT_LT(AllocatorFor({}).stats().peak_bytes, before + kSmaller);
    EXPECT_LT(world.BytesSent(1 - world.rank(), TagClass::kControl) - sent, 4096u);
  });
}

TEST_F(JointSave, AFolderThatIsNotOneAndTheSameIsFound) {
  const std::string own = folder_ + "/own", all = folder_ + "/all";
  fs::create_directories(own);
  fs::create_directories(all);
  const auto check = [](const std::function<std::string(int rank)>& folder_of) {
    std::mutex mutex;
    std::vector<std::string> messages;
    RunRanks(3, [&](Transport& world) {
      Communicator ranks(world);
      const std::exception_ptr failure = CheckSharedFolder(ranks, folder_of(world.rank()));
      const std::lock_guard lock(mutex);
      messages.push_back(torus::testing::ErrorOf<Error>([&] {
        if (failure) std::rethrow_exception(failure);
      }));
    });
    EXPECT_EQ(messages, std::vector<std::string>(3, messages[0]));
    return messages[0];
  };
  EXPECT_EQ(check([&](int) { return all; }), "no error");
  const std::string unlike = check([&](int rank) { return rank == 2 ? own : all; });
  EXPECT_EQ(unlike.find("rank 0 on "), 0u) << unlike;
  EXPECT_NE(unlike.find("what rank 2 has written there is not to be seen"), unlike.npos) << unlike;
  const std::string missing = check([&](int rank) { return rank == 1 ? folder_ + "/no" : all; });
  EXPECT_EQ(missing.find("rank 1 on "), 0u) << missing;
  EXPECT_NE(missing.find("/no/.rank-1"), missing.npos) << missing;
  EXPECT_TRUE(fs::is_empty(all));
  EXPECT_TRUE(fs::is_empty(own));
}

}  // namespace
}  // namespace torus::parallel
