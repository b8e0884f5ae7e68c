// Classifiers in Hugging Face's form whose outputs stand for the task's classes in another order:
// evaluate maps them by their names, train refuses them. The programs themselves.
#include <nlohmann/json.hpp>

#include "tests/data/text/small_bpe.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

namespace fs = std::filesystem;

class ClassOrder : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    data::WriteSmallBpe(scratch_, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
    // Three to test: whatever the model says, the accuracy of the other order is another one.
    for (const char* table : {"train.tsv", "dev.tsv"})
      std::ofstream(Path(table)) << "sentence\tlabel\nab\t1\na\t0\nab b\t1\n";
    ASSERT_EQ(TrainFrom("", "run").status, 0);
  }
  std::string Path(const std::string& name) const { return scratch_ + "/" + name; }
  Ended TrainFrom(const std::string& init, const std::string& out) const {
    std::vector<std::string> flags{"--model",      "roberta:1", "--data",          "sst2",
                                   "--data-dir",   scratch_,    "--vocab-dir",     scratch_,
                                   "--length",     "8",         "--stages",        "1",
                                   "--batch-size", "3",         "--micro-batches", "1",
                                   "--epochs",     "1",         "--out",           Path(out)};
    if (!init.empty()) flags.insert(flags.end(), {"--init", init});
    return Train(flags);
  }
  // The trained model with these names of its outputs.
  std::string Named(const std::string& folder, const std::vector<std::string>& labels) const {
    fs::copy(Path("run/model"), Path(folder), fs::copy_options::recursive);
    fs::remove(Path(folder + "/torus_checksums.json"));  // as for any file changed on purpose
    nlohmann::json config = Json(folder + "/config.json");
    for (size_t i = 0; i < labels.size(); ++i) config["id2label"][std::to_string(i)] = labels[i];
    std::ofstream(Path(folder + "/config.json")) << config;
    return Path(folder);
  }
  nlohmann::json Evaluated(const std::string& model) const {
    const Ended ended = Program("tools/evaluate/evaluate",
                                {"--init", model, "--data", "sst2", "--data-dir", scratch_,
                                 "--json", Path("result.json")},
                                scratch_)
                            .Wait();
    EXPECT_EQ(ended.status, 0) << ended.err;
    return Json("result.json");
  }
};

TEST_F(ClassOrder, IsMappedByEvaluateAndRefusedByTrain) {
  const std::string other = Named("other", {"positive", "negative"});
  const nlohmann::json plain = Evaluated(Path("run/model")),
                       same = Evaluated(Named("same", {"negative", "positive"})),
                       mapped = Evaluated(other);
  ASSERT_EQ(plain["samples"], 3);
  EXPECT_EQ(same, plain);
  EXPECT_NEAR(mapped["accuracy"].get<double>(), 1 - plain["accuracy"].get<double>(), 1e-12);
  EXPECT_NE(mapped["loss"], plain["loss"]);
  ExpectOneLine(TrainFrom(other, "a"), 2,
                "[" + other +
                    "] config.json's id2label has the classes of --data sst2 in another order than "
                    "negative, positive");
  ExpectOneLine(TrainFrom(Named("foreign", {"happy", "sad"}), "b"), 2,
                "id2label must name the classes negative, positive, got happy, sad");
}

}  // namespace
}  // namespace torus::tools::testing
