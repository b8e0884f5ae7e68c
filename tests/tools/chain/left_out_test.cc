// What the readers leave out, train and evaluate say: the programs themselves, on a damaged folder
// of images and a table with a bad line.
#include <fmt/format.h>
#include <zlib.h>

#include <nlohmann/json.hpp>

#include "tests/data/text/small_bpe.h"
#include "tests/testing/program.h"

namespace torus::tools::testing {
namespace {

class LeftOut : public ProgramTest {
 protected:
  Ended Run(const std::string& program, std::vector<std::string> flags,
            const std::vector<std::string>& more) const {
    flags.insert(flags.end(), more.begin(), more.end());
    return Program("tools/" + program + "/" + program, flags, scratch_).Wait();
  }
  std::string Path(const std::string& name) const { return scratch_ + "/" + name; }
  void Write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    std::ofstream(Path(name), std::ios::binary) << text;
  }
};

void ExpectSays(const std::string& out, const std::string& line) {
  EXPECT_NE(("\n" + out).find("\n" + line + "\n"), std::string::npos)
      << "no line \"" << line << "\" in\n"
      << out;
}

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

std::string PngChunk(const std::string& type, const std::string& content) {
  const std::string chunk = type + content;
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size());
  return BigEndian(content.size()) + chunk + BigEndian(static_cast<uint32_t>(crc));
}

// Of 32 x 32 grey pixels, whole by its chunks; what they hold is no zlib stream.
std::string PngOfNoPixels() {
  const std::string header = BigEndian(32) + BigEndian(32) + std::string("\x08\0\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + PngChunk("IHDR", header) + PngChunk("IDAT", "no pixels") +
         PngChunk("IEND", "");
}

TEST_F(LeftOut, OfImages) {
  std::string image = "P5 32 32 255\n";
  image.append(32 * 32, '7');
  for (const char* place : {"train/a/", "train/b/", "test/a/", "test/b/"})
    for (const char* name : {"1.pgm", "2.pgm"}) Write(std::string("images/") + place + name, image);
  Write("images/train/a/cut.pgm", "P5 32 32 255\n");
  Write("images/test/b/text.png", "no image");
  Write("images/test/b/notes.txt", "no image either");
  Write("images/test/a/late.png", PngOfNoPixels());
  const std::vector<std::string> data = {"--model",      "mobilenet_v2:0.1", "--data",
                                         "image-folder", "--data-dir",       Path("images")};
  const Ended trained = Run("train", data,
                            {"--batch-size", "5", "--micro-batches", "1", "--stages", "1",
                             "--epochs", "1", "--image-size", "32", "--out", Path("run")});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const std::string cut = Path("images/train/a/cut.pgm") +
                          ": requires a whole image, got 0 bytes for 32 x 32 pixels of 1 channels";
  const std::string text =
      Path("images/test/b/text.png") +
      ": requires a JPEG, PNG, WebP, TIFF, GIF, BMP, PPM or PGM image, got 8 bytes: "
      "unknown image type";
  const std::string late = Path("images/test/a/late.png") +
                           ": requires a whole image, got a damaged one: bad zlib header";
  ExpectSays(trained.out, "3 examples left out: " + cut + "; " + late + "; " + text);
  const std::string notes = Path("images/test/b/notes.txt") + ": not named as an image";
  ExpectSays(trained.out, "1 other file passed over: " + notes);
  std::ifstream named(Path("run/left_out.txt"));
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(named), {}),
            notes + "\n" + cut + "\n" + late + "\n" + text + "\n");
  const Ended tested = Run("train", {"--resume", Path("run")}, {"--eval-only"});
  ASSERT_EQ(tested.status, 0) << tested.err;
  ExpectSays(tested.out, "2 examples left out: " + late + "; " + text);
  const std::vector<std::string> weights = {"--init", Path("run/checkpoint")};
  const Ended evaluated = Run("evaluate", data, weights);
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  ExpectSays(evaluated.out, "2 examples left out: " + late + "; " + text);
  ExpectSays(evaluated.out, "1 other file passed over: " + notes);
  ExpectSays(evaluated.out, "samples 4");
  std::filesystem::remove(Path("images/test/b/text.png"));
  std::filesystem::remove(Path("images/test/a/late.png"));
  EXPECT_EQ(Run("evaluate", data, weights).out.find("left out"), std::string::npos);
}

// The second run and the resumed one take what the first has made; the files' pixels are not read.
TEST_F(LeftOut, OfACacheOfImages) {
  for (const char* place : {"train/a/", "train/b/", "test/a/", "test/b/"})
    for (const char* name : {"1.pgm", "2.pgm"})
      Write(std::string("kept/") + place + name, "P5 40 50 255\n" + std::string(40 * 50, '7'));
  Write("kept/train/a/cut.pgm", "P5 32 32 255\n");
  const auto run = [&](const std::vector<std::string>& more) {
    return Run("train",
               {"--model", "mobilenet_v2:0.1", "--data", "image-folder", "--data-dir", Path("kept"),
                "--batch-size", "5", "--micro-batches", "1", "--stages", "1", "--epochs", "2",
                "--image-size", "32"},
               more);
  };
  // 46 x 37 x 3 bytes each.
  const std::string cache = Path("caches/image-folder-kept-train-37"),
                    line = "image cache: 4 of 5 training images, 19.9 KiB in " + cache;
  const Ended first =
      run({"--image-cache", Path("caches"), "--out", Path("first"), "--max-steps", "1"});
  ASSERT_EQ(first.status, 0) << first.err;
  EXPECT_NE(first.out.find("\n" + line + ", made in "), std::string::npos) << first.out;
  const Ended second = run({"--image-cache", Path("caches"), "--out", Path("second")});
  const Ended resumed = Run("train", {"--resume", Path("first")}, {});
  const std::string left_out = "1 example left out: " + Path("kept/train/a/cut.pgm");
  EXPECT_NE(first.out.find(left_out), std::string::npos) << first.out;
  for (const Ended& ended : {second, resumed}) {
    ASSERT_EQ(ended.status, 0) << ended.err;
    ExpectSays(ended.out, line + "; the others are left out");
    EXPECT_NE(ended.out.find(left_out), std::string::npos) << ended.out;
  }
  std::filesystem::resize_file(cache + "/pixels", 100);
  const Ended damaged = run({"--image-cache", Path("caches"), "--out", Path("third")});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_NE(damaged.err.find(cache + "/pixels"), std::string::npos) << damaged.err;
}

// One image is in both classes, so half of what counts is right whatever the model says.
TEST_F(LeftOut, ImagesDoNotCount) {
  std::string image = "P5 32 32 255\n";
  image.append(32 * 32, '7');
  for (const char* place : {"train/a/", "train/b/", "test/a/", "test/b/"})
    Write(std::string("few/") + place + "1.pgm", image);
  for (const char* name : {"0.jpg", "2.jpg", "3.jpg"}) Write(std::string("few/test/a/") + name, "");
  const std::vector<std::string> data = {"--model",      "mobilenet_v2:0.1", "--data",
                                         "image-folder", "--data-dir",       Path("few")};
  for (const char* stages : {"1", "2"}) {
    const Ended trained = Run("train", data,
                              {"--batch-size", "2", "--micro-batches", "1", "--stages", stages,
                               "--epochs", "1", "--out", Path(stages)});
    ASSERT_EQ(trained.status, 0) << trained.err;
    std::ifstream file(Path(std::string(stages) + "/summary.json"));
    const auto test = nlohmann::json::parse(file)["test"];
    EXPECT_EQ(test["samples"], 2);
    EXPECT_EQ(test["accuracy"], 0.5);
    const Ended evaluated =
        Run("evaluate", data, {"--init", Path(std::string(stages) + "/checkpoint")});
    ASSERT_EQ(evaluated.status, 0) << evaluated.err;
    ExpectSays(evaluated.out, "samples 2");
    ExpectSays(evaluated.out, "accuracy 50.00 %");
    ExpectSays(evaluated.out, fmt::format("loss {:.6f}", test["loss"].get<double>()));
  }
}

// Of three in training and two in testing, one each is longer than 8 tokens.
TEST_F(LeftOut, OfLongSentences) {
  data::WriteSmallBpe(scratch_, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const std::string begin = "sentence\tlabel\nab\t1\n" + std::string(300, 'x') + "y\t0\n";
  Write("train.tsv", begin + "b\t0\n");
  Write("dev.tsv", begin);
  const std::vector<std::string> data = {"--data", "sst2", "--data-dir", scratch_};
  const Ended trained =
      Run("train", data,
          {"--model", "roberta:1", "--length", "8", "--vocab-dir", scratch_, "--batch-size", "3",
           "--micro-batches", "1", "--stages", "1", "--epochs", "1", "--out", Path("run")});
  ASSERT_EQ(trained.status, 0) << trained.err;
  ExpectSays(trained.out, "2 of 5 examples truncated to 8 tokens");
  const Ended tested = Run("train", {"--resume", Path("run")}, {"--eval-only"});
  ExpectSays(tested.out, "2 of 5 examples truncated to 8 tokens");
  const auto evaluate = [&](std::vector<std::string> length) {
    length.insert(length.end(), {"--init", Path("run/model")});
    const Ended evaluated = Run("evaluate", data, length);
    EXPECT_EQ(evaluated.status, 0) << evaluated.err;
    return evaluated.out;
  };
  const std::string as_trained = evaluate({});
  ExpectSays(as_trained, "1 of 2 examples truncated to 8 tokens");
  EXPECT_EQ(as_trained, evaluate({"--length", "8"}));
  ExpectSays(evaluate({"--length", "128"}), "1 of 2 examples truncated to 128 tokens");
  const std::string whole = evaluate({"--length", "512"});
  EXPECT_EQ(whole.find("truncated"), std::string::npos) << whole;
}

TEST_F(LeftOut, OfSentences) {
  data::WriteSmallBpe(scratch_, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  const std::string table = "sentence\tlabel\nab\t1\na\t0\nab b\t1\nb\t0\n";
  Write("train.tsv", table + "ab\n");
  Write("dev.tsv", table + "\t1\n");
  const std::vector<std::string> data = {"--data",   "sst2", "--data-dir",  scratch_,
                                         "--length", "8",    "--vocab-dir", scratch_};
  const Ended trained = Run("train", data,
                            {"--model", "roberta:1", "--batch-size", "4", "--micro-batches", "1",
                             "--stages", "1", "--epochs", "1", "--out", Path("run")});
  ASSERT_EQ(trained.status, 0) << trained.err;
  const std::string dev = Path("dev.tsv") + " line 6: requires a sentence, got an empty one";
  ExpectSays(trained.out, "2 examples left out: " + Path("train.tsv") +
                              " line 6: requires 2 columns, got 1; " + dev);
  EXPECT_EQ(trained.out.find(" more example"), std::string::npos) << trained.out;
  const Ended evaluated = Run("evaluate", data, {"--init", Path("run/model")});
  ASSERT_EQ(evaluated.status, 0) << evaluated.err;
  ExpectSays(evaluated.out, "1 example left out: " + dev);
}

}  // namespace
}  // namespace torus::tools::testing
