#include "runtime/io/npy.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "runtime/allocator.h"
#include "runtime/io/file.h"
#include "runtime/io/safetensors.h"
#include "tests/testing/error_of.h"

namespace torus {
namespace {

using testing::ErrorOf;

std::string TempFile(const std::string& name) { return ::testing::TempDir() + name; }

std::string Slurp(const std::string& path) { return io::InputFile(path).ReadAll(); }

std::string BytesOf(const Tensor& tensor) {
  const std::vector<uint8_t> bytes = ToVector<uint8_t>(tensor);
  return {bytes.begin(), bytes.end()};
}

// Of tests/golden/make_npy.py, those whose names begin so, without the beginning.
std::map<std::string, Tensor> Golden(const std::string& kind) {
  static const SafetensorsFile file = ReadSafetensors("tests/golden/npy.safetensors");
  std::map<std::string, Tensor> found;
  for (const auto& [name, value] : file.tensors)
    if (name.starts_with(kind + "/")) found[name.substr(kind.size() + 1)] = value;
  EXPECT_FALSE(found.empty());
  return found;
}

void ExpectSame(const Tensor& got, const Tensor& wanted) {
  ASSERT_EQ(got.Describe(), wanted.Describe());
  EXPECT_TRUE(got.is_contiguous());
  EXPECT_EQ(ToVector<double>(got.To(DType::kF64)), ToVector<double>(wanted.To(DType::kF64)));
}

TEST(Npy, ReadsWhatNumPyWrote) {
  const auto files = Golden("file");
  for (const auto& [name, value] : Golden("value")) {
    SCOPED_TRACE(name);
    ExpectSame(ReadNpyBytes(BytesOf(files.at(name)), name), value);
  }
}

TEST(Npy, WritesNumPysBytes) {
  const auto values = Golden("value");
  for (const auto& [name, bytes] : Golden("canon")) {
    SCOPED_TRACE(name);
    WriteNpy(TempFile("written.npy"), values.at(name));
    EXPECT_EQ(Slurp(TempFile("written.npy")), BytesOf(bytes));
  }
  const Tensor turned = Arange(6).View({2, 3}).Transpose(0, 1);
  WriteNpy(TempFile("turned.npy"), turned);
  ExpectSame(ReadNpy(TempFile("turned.npy")), turned.Contiguous());
}

TEST(Npy, RefusesTypesThatTensorsHaveNot) {
  for (const auto& [name, bytes] : Golden("refused")) {
    const std::string error = ErrorOf([&] { ReadNpyBytes(BytesOf(bytes), name); });
    EXPECT_TRUE(error.starts_with("[" + name + "] has elements of ") ||
                error == "[structure] its header has a structure of several types at byte 10")
        << error;
  }
  EXPECT_EQ(ErrorOf([] { WriteNpy(TempFile("none.npy"), Zeros({2}, DType::kBF16)); }),
            "[npy] NumPy has no bf16; cast the tensor to f32");
  for (const Tensor& without : {Tensor(), Empty({2}, DType::kF32, kMetaDevice)})
    EXPECT_NE(ErrorOf([&] { WriteNpy(TempFile("none.npy"), without); }).find("with values"),
              std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(TempFile("none.npy")));
}

// A file of this header and so many bytes of elements, and what is said of it.
std::string Refusal(const std::string& header, size_t elements, char version = 1) {
  std::string bytes = "\x93NUMPY";
  bytes += {version, '\0', static_cast<char>(header.size()), '\0'};
  if (version > 1) bytes += std::string(2, '\0');
  const std::string error =
      ErrorOf([&] { ReadNpyBytes(bytes + header + std::string(elements, '\1'), "x.npy"); });
  return error.starts_with("[x.npy] ") ? error.substr(8) : error;
}

TEST(Npy, AHeaderIsReadStrictly) {
  const std::string rest = "'fortran_order': False, 'shape': (2,), }";
  const auto of = [&](const std::string& descr) { return "{'descr': '" + descr + "', " + rest; };
  EXPECT_EQ(Refusal(of("<f4"), 8), "no error");
  EXPECT_EQ(Refusal(of("<f4"), 8, 2), "no error");
  EXPECT_EQ(Refusal("{\"shape\":(2L),\"fortran_order\":True,\"descr\":\"=f4\"}", 8),
            "has elements of =f4; read are f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1 of either byte "
            "order");
  EXPECT_EQ(Refusal("{\"shape\":(2L),\"fortran_order\":True,\"descr\":\"<f4\"}", 8), "no error");
  const std::string length =
      " bytes of elements, which is not what shape (2) needs at 4 bytes each";
  EXPECT_EQ(Refusal(of("<f4"), 7), "has 7" + length);
  EXPECT_EQ(Refusal(of("<f4"), 12), "has 12" + length);
  EXPECT_NE(Refusal(of(""), 8), "no error");
  EXPECT_NE(Refusal(of("|f4"), 8), "no error");
  EXPECT_EQ(Refusal("{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", 8),
            "its header has neither True nor False where one belongs at byte 34");
  EXPECT_EQ(Refusal("{'descr': '<f4', 'fortran_order': False}", 8),
            "its header has fewer than the three keys at byte 40");
  EXPECT_EQ(Refusal("{'descr': '<f4', 'descr': '<f4'}", 8),
            "its header has a key twice at byte 24");
  EXPECT_EQ(Refusal("{'descr': '<f4', 'a': 1}", 8),
            "its header has a key besides descr, fortran_order and shape at byte 21");
  EXPECT_EQ(Refusal("{'descr' '<f4'}", 8), "its header has no ':' at byte 9");
  EXPECT_NE(Refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}", 8), "no error");
  EXPECT_NE(Refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} x", 8), "no error");
  EXPECT_EQ(Refusal("{'shape': (1,1,1,1,1,1,1,1,1), }", 4),
            "its header has more dimensions than tensors have at byte 27");
  EXPECT_EQ(Refusal("{'shape': (99999999999999999999,), }", 4),
            "its header has a size beyond 64 bits at byte 29");
  EXPECT_NE(
      Refusal("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", 0),
      "no error");
  EXPECT_EQ(Refusal("{'descr': '|b1', 'fortran_order': False, 'shape': (1,)}", 1), "no error");
  EXPECT_EQ(Refusal(of("<f4"), 8, 4),
            "has version 4.0 of the .npy format; 1.0, 2.0 and 3.0 are read");
}

TEST(Npy, ACutFileIsRefused) {
  const std::string whole = BytesOf(Golden("file").at("f4"));
  for (const size_t length : {0, 5, 9, 10, 11, 40, 127, 128, 150})
    EXPECT_NE(ErrorOf([&] { ReadNpyBytes(whole.substr(0, length), "x"); }), "no error") << length;
  EXPECT_EQ(ErrorOf([&] { ReadNpy(TempFile("absent.npy")); }),
            "[" + TempFile("absent.npy") + "] cannot open: No such file or directory");
}

void ExpectArrays(const std::vector<NamedTensor>& got) {
  ASSERT_EQ(got.size(), 3u);
  EXPECT_EQ(got[0].name, "a");
  ExpectSame(got[0].value, Arange(6, DType::kF32).View({2, 3}));
  EXPECT_EQ(got[1].name, "b");
  EXPECT_EQ(ToVector<bool>(got[1].value), (std::vector<bool>{true, false}));
  EXPECT_EQ(got[2].name, "c/d");
  ExpectSame(got[2].value, Zeros({1000}, DType::kI64));
}

TEST(Npz, ReadsStoredAndDeflatedArchives) {
  const auto files = Golden("file");
  ExpectArrays(ReadNpzBytes(BytesOf(files.at("stored.npz")), "stored"));
  ExpectArrays(ReadNpzBytes(BytesOf(files.at("deflated.npz")), "deflated"));
}

TEST(Npz, WritesWhatItReads) {
  const std::vector<NamedTensor> arrays =
      ReadNpzBytes(BytesOf(Golden("file").at("stored.npz")), "");
  for (const bool compressed : {false, true}) {
    const std::string path = TempFile("written.npz");
    WriteNpz(path, arrays, compressed);
    ExpectArrays(ReadNpz(path));
    const std::string once = Slurp(path);
    WriteNpz(path, arrays, compressed);
    EXPECT_EQ(Slurp(path), once);
    EXPECT_EQ(once.size() < 8000, compressed);
  }
  WriteNpz(TempFile("none.npz"), {});
  EXPECT_TRUE(ReadNpz(TempFile("none.npz")).empty());
  EXPECT_NE(ErrorOf([] {
              WriteNpz(TempFile("n.npz"), {{"a", Zeros({1})}, {"a", Zeros({1})}});
            }),
            "no error");
  EXPECT_NE(ErrorOf([] { WriteNpz(TempFile("n.npz"), {{"", Zeros({1})}}); }), "no error");
}

TEST(Npz, CopiesAStridedArrayOnce) {
  const Tensor strided = Zeros({3, 4}).Transpose(0, 1);
  const uint64_t before = AllocatorFor({}).stats().allocations;
  WriteNpz(TempFile("strided.npz"), {{"a", strided}});
  EXPECT_EQ(AllocatorFor({}).stats().allocations, before + 1);
}

TEST(Npz, ADamagedArchiveIsRefused) {
  for (const char* name : {"stored.npz", "deflated.npz"}) {
    const std::string whole = BytesOf(Golden("file").at(name));
    for (size_t at = 60; at < 130; at += 7) {  // in the first array
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      EXPECT_NE(ErrorOf([&] { ReadNpzBytes(damaged, "x"); }), "no error") << name << " " << at;
    }
    EXPECT_NE(ErrorOf([&] { ReadNpzBytes(whole.substr(0, whole.size() - 1), "x"); }), "no error");
  }
  EXPECT_NE(ErrorOf([] { ReadNpzBytes("", "x"); }), "no error");
}

}  // namespace
}  // namespace torus
