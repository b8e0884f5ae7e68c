#include "data/datasets/cifar10.h"

#include <gtest/gtest.h>

#include "data/datasets/cifar100.h"
#include "data/datasets/cifar_records.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

constexpr int64_t kRecord = 3073;

// Labels i + 1; channel c of pixel p is (7 i + 50 c + p) % 256.
Bytes Records(int count) {
  Bytes bytes;
  for (int i = 0; i < count; ++i) {
    bytes.push_back(static_cast<uint8_t>(i + 1));
    for (int c = 0; c < 3; ++c) {
      for (int p = 0; p < 1024; ++p) bytes.push_back(static_cast<uint8_t>(7 * i + 50 * c + p));
    }
  }
  return bytes;
}

struct Target {
  Tensor images = Zeros({5, 32, 32, 3}, DType::kU8), labels = Zeros({5}, DType::kI64);
};

void Read(const Bytes& bytes, Target* target, std::string* path) {
  *path = WriteFile(TestFolder(), "batch.bin", bytes);
  ReadCifarFile(*path, 3, 1, target->images, target->labels);
}

TEST(ReadCifarRecords, TurnsPlanesIntoPixels) {
  Target target;
  std::string path;
  Read(Records(3), &target, &path);
  EXPECT_EQ(ToVector<int64_t>(target.labels), (std::vector<int64_t>{0, 1, 2, 3, 0}));
  const Bytes pixels = ToVector<uint8_t>(target.images);
  for (int i = 0; i < 3; ++i) {
    for (int p = 0; p < 1024; ++p) {
      for (int c = 0; c < 3; ++c) {
        ASSERT_EQ(pixels[((i + 1) * 1024 + p) * 3 + c], (7 * i + 50 * c + p) % 256);
      }
    }
  }
  EXPECT_EQ(ToVector<uint8_t>(target.images.Select(0, 4)), Bytes(3072));
}

TEST(ReadCifarRecords, RefusesTruncatedSurplusAndEmptyFiles) {
  for (const int64_t size : {int64_t{0}, kRecord, 3 * kRecord - 1, 3 * kRecord + 1, 4 * kRecord}) {
    Bytes bytes = Records(4);
    bytes.resize(size + 5);
    bytes.resize(size);
    Target target;
    std::string path;
    ExpectBadInput([&] { Read(bytes, &target, &path); }, "batch.bin",
                   fmt::format("3 records of 3073 bytes, 9219 in all, got {} bytes", size));
  }
}

TEST(ReadCifarRecords, RefusesALabelOutOfRange) {
  Bytes bytes = Records(3);
  bytes[2 * kRecord] = 10;
  Target target;
  std::string path;
  ExpectBadInput([&] { Read(bytes, &target, &path); }, "batch.bin", "0 to 9, got 10 in record 2");
}

TEST(OpenCifar10, NamesWhatIsMissing) {
  const std::string dir = TestFolder();
  WriteFile(dir, "data_batch_1", {1});
  ExpectBadInput([&] { OpenCifar10(dir, Split::kTest); }, dir,
                 "no CIFAR-10 here: looked for batches.meta.txt, also in cifar-10-batches-bin; got "
                 "data_batch_1 (the binary version is needed: cifar-10-binary.tar.gz)");
  WriteFile(dir, "batches.meta.txt", {'c', 'a', 't', '\n'});
  ExpectBadInput([&] { OpenCifar10(dir, Split::kTest); }, dir + "/batches.meta.txt",
                 "10 class names, one a line, got 1");
  WriteFile(dir, "batches.meta.txt",
            {'a', '\n', 'b', '\n', 'c', '\n', 'd', '\n', 'e', '\n', 'f', '\n', 'g', '\n', 'h', '\n',
             'i', '\n', 'j'});
  ExpectBadInput([&] { OpenCifar10(dir, Split::kTest); }, dir + "/test_batch.bin", "No such file");
  ExpectBadInput([&] { OpenCifar10(dir, Split::kTrain); }, dir + "/data_batch_1.bin",
                 "No such file");
}

// The coarse label comes first, the fine one is the class.
TEST(ReadCifarRecords, TakesTheFineLabelOfCifar100) {
  Bytes record{19, 99};
  for (int c = 0; c < 3; ++c) record.insert(record.end(), 1024, static_cast<uint8_t>(c + 1));
  const std::string dir = TestFolder(), path = WriteFile(dir, "train.bin", record);
  Tensor images({1, 32, 32, 3}, DType::kU8), labels({1}, DType::kI64);
  ReadCifarRecords(path, kCifar100, 1, 0, images, labels);
  EXPECT_EQ(labels.Item(), 99);
  const Bytes pixels = ToVector<uint8_t>(images);
  for (size_t i = 0; i < pixels.size(); ++i) ASSERT_EQ(pixels[i], i % 3 + 1);
  record[1] = 100;
  WriteFile(dir, "train.bin", record);
  ExpectBadInput([&] { ReadCifarRecords(path, kCifar100, 1, 0, images, labels); }, path,
                 "0 to 99, got 100 in record 0");
}

TEST(OpenCifar100, ReadsAWholeFile) {
  const std::string dir = TestFolder();
  std::string names;
  for (int i = 0; i < 100; ++i) names += fmt::format("class{}\n", i);
  WriteText(dir, "fine_label_names.txt", names);
  Bytes records(10000 * 3074);
  for (int i = 0; i < 10000; ++i) records[i * 3074 + 1] = static_cast<uint8_t>(i % 100);
  WriteFile(dir, "test.bin", records);
  const auto test = OpenCifar100(dir, Split::kTest);
  EXPECT_EQ(test->size(), 10000);
  EXPECT_EQ(test->info().classes[99], "class99");
  EXPECT_EQ(test->Get(123).target.Item(), 23);
  ExpectBadInput([&] { OpenCifar100(dir, Split::kTrain); }, dir + "/train.bin", "No such file");
  // Where the archive puts it.
  const std::string above = dir + "/above";
  std::filesystem::create_directories(above);
  ExpectBadInput(
      [&] { OpenCifar100(above, Split::kTest); }, above,
      "no CIFAR-100 here: looked for fine_label_names.txt, also in cifar-100-binary; got "
      "nothing");
  std::filesystem::create_directory_symlink(dir, above + "/cifar-100-binary");
  EXPECT_EQ(OpenCifar100(above, Split::kTest)->size(), 10000);
}

}  // namespace
}  // namespace torus::data
