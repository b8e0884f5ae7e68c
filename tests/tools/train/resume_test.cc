// Runs that are stopped, killed and resumed: the program end to end.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <thread>

#include "tests/testing/environment.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

using Flags = std::vector<std::string>;

TEST_F(ProgramTest, ResumesInTheMiddleOfAnEpochInTheSameBits) {
  const Flags flags = {"--augment", "crop-flip", "--ema", "0.9"};
  ASSERT_EQ(Train(Small("whole", flags)).status, 0);
  Flags part = flags;
  part.insert(part.end(), {"--max-steps", "2"});
  ASSERT_EQ(Train(Small("part", part)).status, 0);
  EXPECT_NE(Tensors("whole"), Tensors("part"));
  const Ended resumed = Train({"--resume", scratch_ + "/part"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(Tensors("whole"), Tensors("part"));
  EXPECT_EQ(Losses("whole"), Losses("part"));
  EXPECT_EQ(Json("whole/summary.json")["test"], Json("part/summary.json")["test"]);
}

TEST_F(ProgramTest, ChecksItsOwnResuming) {
  const Ended checked = Train(Small("checked", {"--verify-resume", "3", "--ema", "0.9"}));
  ASSERT_EQ(checked.status, 0) << checked.err;
  EXPECT_NE((checked.out + checked.err).find("have the bits of the run without a stop"),
            std::string::npos)
      << checked.out << checked.err;
  EXPECT_EQ(Tensors("checked/resumed"), Tensors("checked/whole"));
  ExpectOneLine(Train(Small("other", {"--verify-resume", "0"})), 2, "must be at least 1, got 0");
  ExpectOneLine(Train(Small("other", {"--verify-resume", "2", "--max-steps", "3"})), 2,
                "leave out --max-steps");
}

// The averages that the stopped part leaves take the place of the weights with which it began, so
// the run without a stop begins with others.
TEST_F(ProgramTest, AResumedRunThatDiffersIsNoSuccess) {
  ASSERT_EQ(Train(Small("first", {"--ema", "0.9", "--max-steps", "1"})).status, 0);
  const std::string name = "/averaged_weights.safetensors",
                    weights = scratch_ + "/checked/stopped" + name;
  std::filesystem::create_directories(scratch_ + "/checked/stopped");
  std::filesystem::copy_file(scratch_ + "/first" + name, weights);
  const Ended checked =
      Train(Small("checked", {"--verify-resume", "2", "--ema", "0.9", "--init", weights}));
  EXPECT_EQ(checked.status, 1) << checked.err;
  EXPECT_NE(checked.out.find("differ from the run without a stop; the first: "), std::string::npos)
      << checked.out;
}

// A signal in an epoch's last step, or a kill behind its checkpoint, leaves the epoch's test line
// unwritten.
TEST_F(ProgramTest, AResumedRunHasTheTestLinesOfAWholeOne) {
  const auto lines = [&](const std::string& run) {
    std::vector<std::string> lines;
    std::istringstream text(ReadText(scratch_ + "/" + run + "/metrics.jsonl"));
    for (std::string line; std::getline(text, line);) {
      const nlohmann::json json = nlohmann::json::parse(line);
      lines.push_back(json["kind"].dump() + json["step"].dump() + " " + json["loss"].dump());
    }
    return lines;
  };
  ASSERT_EQ(Train(Small("whole")).status, 0);
  ASSERT_EQ(Train(Small("part", {"--max-steps", "4"})).status, 0);
  const std::string metrics = scratch_ + "/part/metrics.jsonl";
  const std::string text = ReadText(metrics);
  const size_t last = text.rfind('\n', text.size() - 2) + 1;
  ASSERT_NE(text.find("\"test\"", last), std::string::npos) << text;
  std::ofstream(metrics) << text.substr(0, last);
  ASSERT_EQ(Train({"--resume", scratch_ + "/part"}).status, 0);
  EXPECT_EQ(lines("part"), lines("whole"));
  EXPECT_EQ(Json("part/summary.json")["test"], Json("whole/summary.json")["test"]);
  // Nothing is left to train: it is evaluated again, and written once.
  ASSERT_EQ(Train({"--resume", scratch_ + "/part"}).status, 0);
  EXPECT_EQ(lines("part"), lines("whole"));
}

// Cut otherwise, and on more threads in all, it has the bits of one that never stopped.
TEST_F(ProgramTest, AResumedRunMayBeLaidOutAnew) {
  ASSERT_EQ(Train(Small("whole", {"--codec", "none", "--threads", "2"})).status, 0);
  ASSERT_EQ(Train(Small("part", {"--codec", "none", "--threads", "2", "--max-steps", "3"})).status,
            0);
  const Ended resumed = Train({"--resume", scratch_ + "/part", "--stages", "3", "--threads", "3"});
  ASSERT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(Tensors("whole"), Tensors("part"));
  EXPECT_EQ(Losses("whole"), Losses("part"));
  EXPECT_EQ(Json("part/checkpoint/settings.json")["settings"]["stages"], 3);
  EXPECT_EQ(Json("part/checkpoint/settings.json")["cut"]["cuts"].size(), 2u);
  const Ended longer = Train({"--resume", scratch_ + "/part", "--epochs", "3"});
  ASSERT_EQ(longer.status, 0) << longer.err;
  EXPECT_EQ(Losses("part").size(), 12u);
}

TEST_F(ProgramTest, AResumedRunHasTheSameData) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  const std::string run = scratch_ + "/run", other = scratch_ + "/other";
  std::filesystem::copy(scratch_ + "/data", other);
  EXPECT_EQ(Train({"--resume", run, "--data-dir", other, "--max-steps", "2"}).status, 0);
  // The last label of the test images.
  const std::string labels = other + "/t10k-labels-idx1-ubyte";
  std::string bytes = ReadText(labels);
  bytes.back() = static_cast<char>((bytes.back() + 1) % 10);
  std::ofstream(labels, std::ios::binary) << bytes;
  ExpectOneLine(Train({"--resume", run, "--data-dir", other}), 2, "other test examples");
  EXPECT_EQ(Train({"--resume", run, "--data-dir", other, "--eval-only"}).status, 0);
  recipes::testing::WriteImages(other, "train", 80);
  ExpectOneLine(Train({"--resume", run, "--data-dir", other}), 2,
                "the run has 90 training examples, but --data-dir has 80");
  nlohmann::json settings = Json("run/checkpoint/settings.json");
  EXPECT_GE(settings["version"], 2);
  settings["settings"]["warp"] = 9;
  settings["version"] = 99;
  std::filesystem::remove_all(run + "/earlier");
  std::ofstream(run + "/checkpoint/settings.json") << settings.dump();
  nlohmann::json manifest = Json("run/checkpoint/checkpoint.json");
  for (const char* sums : {"texts", "crc32c"}) manifest.erase(sums);
  std::ofstream(run + "/checkpoint/checkpoint.json") << manifest.dump();
  ExpectOneLine(Train({"--resume", run}), 2, "warp; a newer Torus wrote it");
}

TEST_F(ProgramTest, ResumeRefusesAnotherSettingAndNamesBoth) {
  ASSERT_EQ(Train(Small("run", {"--max-steps", "1"})).status, 0);
  const std::string run = scratch_ + "/run";
  const Ended lr = Train({"--resume", run, "--lr", "0.7"});
  ExpectOneLine(lr, 2, "--lr 0.7");
  ExpectOneLine(lr, 2, "--lr 0.07");
  ExpectOneLine(Train({"--resume", run, "--batch-size", "12"}), 2, "--batch-size 24");
  ExpectOneLine(Train({"--resume", run + "/nowhere"}), 2, "nowhere");
  ExpectOneLine(Train(Small("run")), 2, "holds a run already");
  EXPECT_EQ(Train({"--resume", run + "/checkpoint", "--eval-only", "--stages", "2"}).status, 0);
}

TEST_F(ProgramTest, AResumedRunMayGoOnForMoreEpochs) {
  ASSERT_EQ(Train(Small("run")).status, 0);
  const std::string run = scratch_ + "/run";
  ExpectOneLine(Train({"--resume", run, "--epochs", "1"}), 2, "--epochs 2");
  const Ended longer = Train({"--resume", run, "--epochs", "3"});
  ASSERT_EQ(longer.status, 0) << longer.err;
  EXPECT_EQ(Json("run/summary.json")["steps"], 12);
  EXPECT_EQ(Json("run/checkpoint/settings.json")["settings"]["epochs"], 3);
  EXPECT_EQ(Losses("run").size(), 12u);
}

// Its times, trace and page are of steps that a run without any does not know.
TEST_F(ProgramTest, ARunAtItsEndKeepsWhatItHasLeft) {
  ASSERT_EQ(Train(Small("run", {"--ema", "0.9"})).status, 0);
  const std::string run = scratch_ + "/run";
  const auto files = [&] {
    std::map<std::string, std::string> texts;
    for (const auto& entry : std::filesystem::directory_iterator(run))
      if (entry.is_regular_file()) texts[entry.path().filename()] = ReadText(entry.path());
    return texts;
  };
  const auto before = files();
  const Ended again = Train({"--resume", run});
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_NE(again.out.find("all 8 steps are already done"), std::string::npos) << again.out;
  EXPECT_NE(again.out.find("averaged_weights.safetensors"), std::string::npos) << again.out;
  EXPECT_EQ(files(), before);
  std::filesystem::remove(run + "/summary.json");  // as a kill before it was written
  EXPECT_EQ(Train({"--resume", run}).status, 0);
  EXPECT_EQ(Json("run/summary.json")["steps"], 8);
}

TEST_F(ProgramTest, SignalWritesACheckpointAndSaysHowToGoOn) {
  const Program program = Start(Small("run", {"--epochs", "1000"}));
  EXPECT_EQ(program.Wait().status, 2);  // --epochs twice
  Flags flags = Small("run");
  flags[std::find(flags.begin(), flags.end(), "--epochs") - flags.begin() + 1] = "1000";
  const Program endless = Start(flags);
  while (endless.running() && Losses("run").size() < 3)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  endless.Signal(SIGINT);
  const Ended ended = endless.Wait();
  EXPECT_EQ(ended.status, 128 + SIGINT) << ended.err;
  EXPECT_NE(ended.out.find("--resume " + scratch_ + "/run"), std::string::npos) << ended.out;
  const nlohmann::json summary = Json("run/summary.json");
  EXPECT_FALSE(summary["finished"]);
  const int64_t steps = summary["steps"];
  EXPECT_GE(steps, 3);
  const Ended resumed =
      Train({"--resume", scratch_ + "/run", "--max-steps", std::to_string(steps + 1)});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_EQ(Json("run/summary.json")["resumed_from"], steps);
  EXPECT_EQ(static_cast<int64_t>(Losses("run").size()), steps + 1);
}

// On a slow disk, and killed only while the next checkpoint's own folder is there: it is looked for
// while the program stands still.
TEST_F(ProgramTest, SurvivesAKillWhileItSaves) {
  Flags flags = Small("run", {"--checkpoint-every", "1"});
  flags[std::find(flags.begin(), flags.end(), "--epochs") - flags.begin() + 1] = "1000";
  const Program endless = [&] {
    const torus::testing::EnvironmentVariable slow("TORUS_SLOW_DISK", "1e6");
    return Start(flags);
  }();
  const auto saves = [&] {
    std::error_code none;
    for (const auto& entry :
         std::filesystem::directory_iterator(scratch_ + "/run/.checkpoint.torus", none))
      if (entry.path().filename().string().starts_with("new")) return true;
    return false;
  };
  const auto caught = [&] {
    endless.Signal(SIGSTOP);
    siginfo_t stopped{};
    waitid(P_PID, static_cast<id_t>(endless.pid()), &stopped, WSTOPPED | WEXITED | WNOWAIT);
    if (std::filesystem::exists(scratch_ + "/run/checkpoint") && saves()) return true;
    endless.Signal(SIGCONT);
    return false;
  };
  while (endless.running() && !caught()) std::this_thread::sleep_for(std::chrono::milliseconds(7));
  endless.Signal(SIGKILL);
  EXPECT_EQ(endless.Wait().status, 128 + SIGKILL);
  const std::string more = std::to_string(Losses("run").size() + 2);
  const Ended resumed = Train({"--resume", scratch_ + "/run", "--max-steps", more});
  EXPECT_EQ(resumed.status, 0) << resumed.err;
  EXPECT_GE(Json("run/summary.json")["resumed_from"], 1);
}

}  // namespace
}  // namespace torus::tools::testing
