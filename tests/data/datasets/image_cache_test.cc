#include "data/datasets/image_cache.h"

#include <gtest/gtest.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <utility>

#include "data/datasets/image_folder.h"
#include "data/datasets/make_image_cache.h"
#include "data/files/file.h"
#include "data/images/decode.h"
#include "runtime/io/folder.h"
#include "runtime/parallel_for.h"
#include "runtime/progress.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSide = 8, kImages = 7;  // of each class; two classes
constexpr double kTimeout = 60;

// Wide, high and small ones, no two alike.
Bytes Image(int64_t number) {
  const int64_t height = 5 + 4 * (number % 4), width = 6 + 5 * (number % 3);
  const std::string header = fmt::format("P6 {} {} 255\n", width, height);
  Bytes bytes(header.begin(), header.end());
  for (int64_t i = 0; i < height * width * 3; ++i)
    bytes.push_back(static_cast<uint8_t>(i * i + 31 * number));
  return bytes;
}

// Two classes of images; the third of the first class is damaged.
class ImageCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    for (int64_t i = 0; i < 2 * kImages; ++i) Put(i, Image(i));
    Put(2, {'P', '6'});
  }
  std::string Path(int64_t i) const {
    return fmt::format("{}/train/{}/{}.ppm", dir_, i < kImages ? "a" : "b", 10 + i);
  }
  void Put(int64_t i, const Bytes& bytes) const {
    fs::create_directories(fs::path(Path(i)).parent_path());
    std::ofstream(Path(i), std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  std::unique_ptr<ImageFiles> Files() const { return OpenImageFolder(dir_, Split::kTrain); }
  MadeCache Cache(int64_t side = kSide, double timeout = kTimeout) const {
    return OpenOrMakeImageCache(*Files(), folder_, side, timeout);
  }

  const std::string dir_ = TestFolder();
  const std::string folder_ = dir_ + "/caches/one";
};

TEST_F(ImageCacheTest, HasWhatIsDecodedAndShrunk) {
  const MadeCache made = Cache(), again = Cache();
  EXPECT_TRUE(made.made);
  EXPECT_FALSE(again.made);
  const auto files = Files();
  for (int64_t i = 0; i < 2 * kImages; ++i) {
    SCOPED_TRACE(i);
    const Tensor image = again.cache->Image(i);
    ASSERT_EQ(image.defined(), i != 2);
    if (i == 2) continue;
    const Tensor want = Shrunk(ReadImage(files->path(i)), kSide);
    EXPECT_EQ(image.shape(), want.shape());
    EXPECT_EQ(ToVector<uint8_t>(image), ToVector<uint8_t>(want));
  }
}

TEST(Shrunk, KeepsTheRatioAndNeverEnlarges) {
  const Tensor image = Full({375, 500, 3}, 7, DType::kU8);
  EXPECT_EQ(Shrunk(image, 256).shape(), (Shape{256, 341, 3}));
  EXPECT_EQ(Shrunk(image.Transpose(0, 1).Contiguous(), 256).shape(), (Shape{341, 256, 3}));
  EXPECT_EQ(Shrunk(image, 400).shape(), image.shape());
}

TEST_F(ImageCacheTest, HasTheSameBytesForAnyNumberOfThreads) {
  const int before = TeamSize();
  std::vector<Bytes> all;
  for (const int threads : {1, 3}) {
    SetTeamSize(threads);
    fs::remove_all(folder_);
    EXPECT_TRUE(Cache().made);
    for (const std::string& file : {CachePixels(folder_), CacheIndexFile(folder_)})
      all.push_back(ReadFile(file));
  }
  SetTeamSize(before);
  EXPECT_EQ(all[0], all[2]);
  EXPECT_EQ(all[1], all[3]);
}

// The files are not read any more; what is left out stays so, and is replaced as before.
TEST_F(ImageCacheTest, TakesThePlaceOfTheFiles) {
  Cache();
  const auto plain = Files(), cached = Files();
  cached->UseCache(Cache(kSide).cache);
  EXPECT_EQ(cached->left_out().size(), 1u);
  std::vector<Bytes> want;
  for (int64_t i = 0; i < plain->size(); ++i)
    want.push_back(ToVector<uint8_t>(Shrunk(plain->Get(i).inputs[0], kSide)));
  fs::remove_all(dir_ + "/train");
  for (int64_t i = 0; i < plain->size(); ++i) {
    EXPECT_EQ(ToVector<uint8_t>(cached->Get(i).inputs[0]), want[i]) << i;
    EXPECT_EQ(cached->Get(i).target.Item(), i < kImages ? 0 : 1);
  }
  EXPECT_FALSE(cached->GetUnlessLeftOut(2));
  ASSERT_EQ(plain->left_out().size(), 1u);
  EXPECT_EQ(cached->left_out()[0].where, plain->left_out()[0].where);
  EXPECT_EQ(cached->left_out()[0].reason, plain->left_out()[0].reason);
}

TEST_F(ImageCacheTest, IsMadeAnewWhenTheFilesChange) {
  EXPECT_TRUE(Cache().made);
  EXPECT_TRUE(Cache(kSide + 1).made) << "another side";
  EXPECT_FALSE(Cache(kSide + 1).made);
  Bytes image = Image(5);
  image.push_back(0);
  Put(5, image);
  EXPECT_TRUE(Cache(kSide + 1).made) << "another size";
  fs::last_write_time(Path(5), fs::last_write_time(Path(5)) + std::chrono::seconds(1));
  EXPECT_TRUE(Cache(kSide + 1).made) << "another time";
  Put(2 * kImages, Image(1));
  EXPECT_TRUE(Cache(kSide + 1).made) << "one more";
  fs::rename(Path(0), dir_ + "/train/a/0.ppm");
  EXPECT_TRUE(Cache(kSide + 1).made) << "another name";
  EXPECT_FALSE(Cache(kSide + 1).made);
}

// Takes from this process what lets root read any file. Returns whether files' modes count now.
bool ObeyModes() {
  __user_cap_header_struct header{.version = _LINUX_CAPABILITY_VERSION_3, .pid = 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> none{};
  return syscall(SYS_capset, &header, none.data()) == 0;
}

// In a process of its own, which gives up root's rights. A mode changes neither size nor time.
TEST_F(ImageCacheTest, IsMadeAnewWhenAFileCanBeRead) {
  const auto makes = [this](fs::perms mode) {
    fs::permissions(Path(5), mode);
    const MadeCache got = Cache();
    return std::pair(got.made, got.cache->Image(5).defined());
  };
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    SetTeamSize(1);
    int failed = 1;
    try {
      if (!ObeyModes()) _exit(failed);
      ++failed;
      if (makes(fs::perms::none) != std::pair(true, false)) _exit(failed);
      ++failed;
      if (makes(fs::perms::none) != std::pair(false, false)) _exit(failed);
      ++failed;
      failed = makes(fs::perms::owner_read) == std::pair(true, true) ? 0 : failed;
    } catch (const std::exception&) {
      failed = 9;
    }
    _exit(failed);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "number of the check that failed";
}

void ChangeByte(const std::string& path, int64_t at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const int byte = file.get();
  file.seekp(at);
  file.put(static_cast<char>(byte ^ 1));
}

TEST_F(ImageCacheTest, NamesWhatIsDamaged) {
  const MadeCache made = Cache();
  const CachedImage& fifth = made.cache->index().images[5];
  ChangeByte(CachePixels(folder_), fifth.offset + 1);
  const auto cache = Cache().cache;
  EXPECT_TRUE(cache->Image(4).defined());
  const std::string says = MessageOf<BrokenEnvironment>([&] { cache->Image(5); });
  EXPECT_NE(says.find(fmt::format("pixels] image 5 at byte {} is not what was written: remove the "
                                  "folder",
                                  fifth.offset)),
            std::string::npos)
      << says;
  fs::resize_file(CachePixels(folder_), made.cache->bytes() - 1);
  ExpectBadInput([&] { Cache(); }, CachePixels(folder_), "remove the folder");
  ChangeByte(CacheIndexFile(folder_),
             static_cast<int64_t>(fs::file_size(CacheIndexFile(folder_))) - 3);
  ExpectBadInput([&] { Cache(); }, CacheIndexFile(folder_), "checksum");
  fs::remove(CacheIndexFile(folder_));
  ExpectBadInput([&] { Cache(); }, CacheIndexFile(folder_), "No such file");
}

TEST_F(ImageCacheTest, SaysWhyItCannotBeWritten) {
  WriteText(dir_, "file", "x");
  ExpectBadInput([&] { OpenOrMakeImageCache(*Files(), dir_ + "/file", kSide, kTimeout); },
                 dir_ + "/file", "requires a folder for the image cache, got a file");
  const std::string below = MessageOf<BrokenEnvironment>(
      [&] { OpenOrMakeImageCache(*Files(), dir_ + "/file/cache", kSide, kTimeout); });
  EXPECT_NE(below.find("Not a directory"), std::string::npos) << below;
  RequireRoom(dir_, 1);
  const std::string full = MessageOf<BrokenEnvironment>([&] { RequireRoom(dir_, 1e18); });
  EXPECT_NE(full.find("requires about 1000000000.0 GB for the image cache, but has "),
            std::string::npos)
      << full;
}

// Each in a process of its own: one makes the cache, and all get it.
TEST_F(ImageCacheTest, IsMadeByOneOfSeveralProcesses) {
  constexpr int kProcesses = 3, kMade = 1, kFailed = 2;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      SetTeamSize(1);
      int status = kFailed;
      try {
        const MadeCache got = Cache();
        if (got.cache->Image(0).defined()) status = got.made ? kMade : 0;
      } catch (const std::exception&) {
      }
      _exit(status);
    }
    children.push_back(child);
  }
  int makers = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    ASSERT_NE(WEXITSTATUS(status), kFailed);
    makers += WEXITSTATUS(status);
  }
  EXPECT_EQ(makers, 1);
  EXPECT_FALSE(Cache().made);
}

TEST_F(ImageCacheTest, NamesWhoHoldsItWithoutProgress) {
  const io::FolderWriter other(folder_);
  ExpectBadInput([&] { Cache(kSide, 0.1); }, folder_,
                 fmt::format("is in use by process {}", getpid()));
}

// Others may hold the file that would be truncated by another name.
TEST_F(ImageCacheTest, DoesNotOverwriteItsFiles) {
  const CacheSource source{.paths = {Path(0)}, .side = kSide};
  const CacheIndex index{.images = {StampOf(Path(0))}, .left_out = {}};
  WriteCacheIndex(dir_, source, index);
  EXPECT_THROW(WriteCacheIndex(dir_, source, index), BrokenEnvironment);
}

// Other errors than a held lock do not go away: nothing is waited for, and each wait ticks.
TEST_F(ImageCacheTest, WaitsOnlyForAnotherProcess) {
  fs::create_directories(io::PlaceOf(folder_).work);
  WriteText(io::PlaceOf(folder_).work, "strange", "x");
  const auto files = Files();  // whose reading ticks too
  ProgressCounter progress;
  SetProgressCounter(&progress);
  ExpectBadInput([&] { OpenOrMakeImageCache(*files, folder_, kSide, 0.1); },
                 io::PlaceOf(folder_).work, "of somebody else");
  SetProgressCounter(nullptr);
  EXPECT_EQ(progress.ticks, 0u);
}

}  // namespace
}  // namespace torus::data
