#include "runtime/io/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "runtime/crc32c.h"

namespace torus {
namespace {

std::string TempFile(const std::string& name) { return testing::TempDir() + name; }

std::string Slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Writes a file of the given header and so many data bytes, reads it, and returns the error.
std::string Refusal(const std::string& header, size_t data_bytes) {
  const std::string path = TempFile("refused.safetensors");
  const uint64_t length = header.size();
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(&length), sizeof(length));
  out << header << std::string(data_bytes, '\1');
  out.close();
  try {
    ReadSafetensors(path);
  } catch (const BadInput& e) {
    const std::string what = e.what();
    EXPECT_TRUE(what.starts_with("[" + path + "] ")) << what;
    EXPECT_EQ(what.find('\n'), std::string::npos) << what;
    return what.substr(path.size() + 3);
  }
  return "accepted";
}

std::string One(const std::string& fields) { return "{\"a\":{" + fields + "}}"; }

template <class T>
void ExpectRoundTrip() {
  Tensor value = Arange(6, kDTypeOf<T>).View({2, 3}).Transpose(0, 1);
  const std::string path = TempFile("round.safetensors");
  WriteSafetensors(path, {{"x", value}});
  const SafetensorsFile file = ReadSafetensors(path);
  ASSERT_EQ(file.tensors.size(), 1u);
  const Tensor& back = file.tensors[0].value;
  EXPECT_EQ(back.dtype(), kDTypeOf<T>);
  EXPECT_EQ(back.shape(), (Shape{3, 2}));
  EXPECT_EQ(ToVector<double>(back.To(DType::kF64)), ToVector<double>(value.To(DType::kF64)));
}

TEST(Safetensors, EveryDTypeComesBack) {
  ExpectRoundTrip<double>();
  ExpectRoundTrip<float>();
  ExpectRoundTrip<BFloat16>();
  ExpectRoundTrip<Float16>();
  ExpectRoundTrip<int64_t>();
  ExpectRoundTrip<int32_t>();
  ExpectRoundTrip<uint8_t>();
  ExpectRoundTrip<bool>();
}

TEST(Safetensors, MetadataEmptyScalarAndOddNamesComeBack) {
  const std::string path = TempFile("odd.safetensors");
  const std::map<std::string, std::string> metadata{{"format", "pt"}, {"ü \"q\"", "a\nb"}};
  WriteSafetensors(path,
                   {{"byte", Full({3}, 7, DType::kU8)},
                    {"", Zeros({2, 0, 3})},
                    {"naïve \"name\"", Full({}, 2.5, DType::kF64)}},
                   metadata);
  const SafetensorsFile file = ReadSafetensors(path);
  EXPECT_EQ(file.metadata, metadata);
  ASSERT_EQ(file.tensors.size(), 3u);
  EXPECT_EQ(file.tensors[0].name, "naïve \"name\"");  // the widest first
  EXPECT_EQ(file.tensors[0].value.Item(), 2.5);
  EXPECT_EQ(file.tensors[1].value.shape(), (Shape{2, 0, 3}));
  EXPECT_EQ(ToVector<uint8_t>(file.tensors[2].value), (std::vector<uint8_t>{7, 7, 7}));
}

TEST(Safetensors, NoTensorsAtAll) {
  const std::string path = TempFile("none.safetensors");
  WriteSafetensors(path, {});
  EXPECT_TRUE(ReadSafetensors(path).tensors.empty());
}

// The header and the bytes are those of the format's description, written by hand.
TEST(Safetensors, BytesAreTheFormats) {
  const std::string path = TempFile("bytes.safetensors");
  WriteSafetensors(path, {{"a", FromVector<int32_t>({1, 256}, {2})}});
  std::string header =
      "{\"__metadata__\":{\"torus.crc32c\":\"552dc3fc 60555dd3\"},"
      "\"a\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
  header.resize(128 - 8, ' ');
  EXPECT_EQ(Slurp(path),
            std::string("\x78\0\0\0\0\0\0\0", 8) + header + std::string("\1\0\0\0\0\1\0\0", 8));
}

std::string ErrorOf(const std::string& path) {
  try {
    ReadSafetensors(path);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "accepted";
}

// A bit of each byte of a file turned over, one after another: none is read as if nothing had
// happened. (With another key it is another program's file; the folder's list finds that.)
TEST(Safetensors, EveryDamagedByteIsFound) {
  const std::string whole = TempFile("whole.safetensors"), bad = TempFile("damaged.safetensors");
  const uint32_t sum =
      WriteSafetensors(whole, {{"a", Arange(3)}, {"b", Zeros({2, 2}, DType::kBool)}}, {{"k", "v"}});
  const std::string bytes = Slurp(whole);
  EXPECT_EQ(sum, Crc32c(bytes));
  EXPECT_EQ(SafetensorsReader(io::InputFile(whole)).checksum(), sum);
  const size_t key = bytes.find("torus.crc32c"), behind = key + std::string("torus.crc32c").size();
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i >= key && i < behind) continue;
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 1 << i % 8);
    std::ofstream(bad, std::ios::binary) << changed;
    EXPECT_NE(ErrorOf(bad), "accepted") << "bit " << i % 8 << " of byte " << i;
  }
}

TEST(Safetensors, DamageIsNamed) {
  const std::string path = TempFile("damaged.safetensors");
  WriteSafetensors(path, {{"a", Arange(3)}, {"b", FromVector<float>({1}, {1})}});
  std::string bytes = Slurp(path);
  bytes.back() = 0;  // 1.0 ends with 3f
  std::ofstream(path, std::ios::binary) << bytes;
  const uint32_t want = Crc32c(std::string("\0\0\x80\x3f", 4)), got = Crc32c({"\0\0\x80\0", 4});
  EXPECT_EQ(ErrorOf(path), fmt::format("[{}] is damaged: tensor \"b\" must have the checksum "
                                       "(CRC-32C) {:08x}, got {:08x}",
                                       path, want, got));
  bytes[bytes.find("data_offsets") + 1] = 'A';
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_NE(ErrorOf(path).find("tensor \"a\""), std::string::npos) << ErrorOf(path);
}

// Other programs write none, and may keep another file's metadata.
TEST(Safetensors, ChecksumsThatDoNotBelongAreRefused) {
  const std::string tensor = "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}";
  EXPECT_EQ(Refusal("{" + tensor, 1), "accepted");
  for (const std::string sums : {"", "0", "00000000", "00000000 1", "00000000 0000000x",
                                 "00000000 00000000 00000000", "00000000  0000000"})
    EXPECT_NE(Refusal("{\"__metadata__\":{\"torus.crc32c\":\"" + sums + "\"}," + tensor, 1)
                  .find("must have a checksum in \"torus.crc32c\""),
              std::string::npos)
        << sums;
  EXPECT_NE(Refusal("{\"__metadata__\":{\"torus.crc32c\":\"12345678 00000000\"}," + tensor, 1)
                .find("its header must have the checksum (CRC-32C) 12345678, got "),
            std::string::npos);
}

TEST(Safetensors, RefusesWhatIsNoHeader) {
  EXPECT_EQ(Refusal("", 0), "the header is not UTF-8 JSON (at its byte 1)");
  EXPECT_EQ(Refusal("[]", 0), "the header is not a JSON object");
  EXPECT_EQ(Refusal("{} x", 0), "the header is not UTF-8 JSON (at its byte 4)");
  EXPECT_EQ(Refusal("\xef\xbb\xbf{}", 0), "the header begins with a byte order mark");
  EXPECT_EQ(Refusal("{\"\xff\":1}", 0), "the header is not UTF-8 JSON (at its byte 3)");
  EXPECT_EQ(Refusal("{\"a\":" + std::string(100000, '['), 0),
            "the header nests deeper than a tensor's fields");
}

TEST(Safetensors, RefusesFieldsOfOtherForms) {
  const std::string offsets = ",\"data_offsets\":[0,4]";
  const std::string shape = ",\"shape\":[1]";
  const std::string f32 = "\"dtype\":\"F32\"";
  const std::string needs = "tensor \"a\": needs exactly dtype, shape and data_offsets";
  EXPECT_EQ(Refusal("{\"a\":3}", 0), needs);
  EXPECT_EQ(Refusal(One(f32 + shape), 4), needs);
  EXPECT_EQ(Refusal(One(f32 + shape + offsets + ",\"extra\":1"), 4), needs);
  EXPECT_EQ(Refusal(One("\"dtype\":1" + shape + offsets), 4),
            "tensor \"a\": dtype is not a string");
  EXPECT_EQ(Refusal(One("\"dtype\":\"F4\"" + shape + offsets), 4),
            "tensor \"a\": dtype \"F4\" is none of F64 F32 BF16 F16 I64 I32 U8 BOOL F8_E4M3 "
            "F8_E5M2 I8 I16 "
            "U16 U32 U64");
  for (const char* size : {"-1", "1.0", "\"1\"", "9223372036854775808", "1e99"}) {
    EXPECT_EQ(Refusal(One(f32 + ",\"shape\":[" + size + "]" + offsets), 4),
              "tensor \"a\": size 0 of its shape is not a whole number below 2^63");
  }
  EXPECT_EQ(Refusal(One(f32 + ",\"shape\":[1,1,1,1,1,1,1,1,1]" + offsets), 4),
            "tensor \"a\": shape must be a list of at most 8 sizes");
  EXPECT_EQ(Refusal(One(f32 + shape + ",\"data_offsets\":[0,-4]"), 4),
            "tensor \"a\": data_offsets must be two whole numbers");
  EXPECT_EQ(Refusal("{\"__metadata__\":{\"k\":1}}", 0), "__metadata__ \"k\" is not a string");
  EXPECT_EQ(Refusal("{\"__metadata__\":[]}", 0), "__metadata__ is not an object of strings");
}

TEST(Safetensors, RefusesLengthsThatDoNotFit) {
  const std::string f32 = "\"dtype\":\"F32\",\"shape\":";
  EXPECT_EQ(Refusal(One(f32 + "[2],\"data_offsets\":[0,4]"), 4),
            "tensor \"a\": data_offsets [0, 4] do not hold the 8 bytes of F32 (2)");
  EXPECT_EQ(Refusal(One(f32 + "[1],\"data_offsets\":[4,0]"), 4),
            "tensor \"a\": data_offsets [4, 0] do not hold the 4 bytes of F32 (1)");
  EXPECT_EQ(Refusal(One(f32 + "[0,4611686018427387904,4],\"data_offsets\":[0,0]"), 0),
            "tensor \"a\": shape (0, 4611686018427387904, 4) has more bytes than can be counted");
  EXPECT_EQ(Refusal(One(f32 + "[1],\"data_offsets\":[0,4]"), 5),
            "its tensors take 4 data bytes, the file holds 5");
  EXPECT_EQ(Refusal(One(f32 + "[1],\"data_offsets\":[0,4]"), 3),
            "tensor \"a\": ends at 4, the file holds 3 data bytes");
  EXPECT_EQ(Refusal(One(f32 + "[1],\"data_offsets\":[1,5]"), 5),
            "tensor \"a\": begins at 1, leaving a hole from byte 0");
  EXPECT_EQ(Refusal(One(f32 + "[2305843009213693951],\"data_offsets\":[0,9223372036854775804]"), 3),
            "tensor \"a\": ends at 9223372036854775804, the file holds 3 data bytes");
  const std::string one = "{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}";
  EXPECT_EQ(Refusal("{\"a\":" + one + ",\"b\":" + one + "}", 8),
            "tensor \"b\": begins at 0, overlapping the bytes before byte 4");
  EXPECT_EQ(Refusal("{\"a\":" + one + ",\"a\":" + one + "}", 4), "\"a\" comes twice in the header");
}

TEST(Safetensors, RefusesABoolThatIsNone) {
  const std::string header = One("\"dtype\":\"BOOL\",\"shape\":[1],\"data_offsets\":[0,1]");
  EXPECT_EQ(Refusal(header, 1), "accepted");
  const std::string path = TempFile("bool.safetensors");
  std::string bytes = Slurp(TempFile("refused.safetensors"));
  bytes.back() = '\2';
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_THROW(ReadSafetensors(path), BadInput);
}

TEST(Safetensors, HostileNamesStayOnOneShortLine) {
  const std::string name = "line\\n\\u0007" + std::string(100000, 'x');
  const std::string what = Refusal("{\"" + name + "\":3}", 0);
  EXPECT_LT(what.size(), 300u);
  EXPECT_TRUE(what.starts_with("tensor \"line\\n\\u0007xxx")) << what;
}

// Every prefix of a good file is refused, and none crashes or asks for memory that the file has
// not.
TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string whole = TempFile("whole.safetensors"), cut = TempFile("cut.safetensors");
  WriteSafetensors(whole, {{"a", Arange(3)}, {"b", Arange(3, DType::kU8)}});
  const std::string bytes = Slurp(whole);
  for (size_t length = 0; length < bytes.size(); ++length) {
    std::ofstream(cut, std::ios::binary) << bytes.substr(0, length);
    EXPECT_THROW(ReadSafetensors(cut), BadInput) << length;
  }
}

// Each byte of the header changed in turn: read or refused, never anything else.
TEST(Safetensors, AnyChangedHeaderByteIsReadOrRefused) {
  const std::string whole = TempFile("whole.safetensors"), bad = TempFile("bad.safetensors");
  WriteSafetensors(whole, {{"a", Arange(3)}, {"b", Zeros({2, 2}, DType::kBool)}}, {{"k", "v"}});
  const std::string bytes = Slurp(whole);
  int refused = 0;
  for (size_t i = 0; i < bytes.size() - 28; ++i) {
    for (char value : {'\0', '9', '"', '{', ',', '\xff', '\xc3'}) {
      std::string changed = bytes;
      changed[i] = value;
      std::ofstream(bad, std::ios::binary) << changed;
      try {
        ReadSafetensors(bad);
      } catch (const BadInput&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Safetensors, WriterRefusesBeforeTouchingTheFile) {
  const std::string path = TempFile("kept.safetensors");
  WriteSafetensors(path, {{"a", Arange(3)}});
  const Tensor t = Arange(3);
  EXPECT_THROW(WriteSafetensors(path, {{"a", t}, {"a", t}}), BadInput);
  EXPECT_THROW(WriteSafetensors(path, {{"__metadata__", t}}), BadInput);
  EXPECT_THROW(WriteSafetensors(path, {{"\xff", t}}), BadInput);
  EXPECT_THROW(WriteSafetensors(path, {{"a", t}}, {{"k", "\xc3"}}), BadInput);
  EXPECT_THROW(WriteSafetensors(path, {{"a", Tensor()}}), BadInput);
  EXPECT_EQ(ReadSafetensors(path).tensors.at(0).name, "a");
}

TEST(Safetensors, SystemErrorsNameThePathAndTheReason) {
  try {
    WriteSafetensors("/nonexistent/x", {});
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(), "[/nonexistent/x] cannot create: No such file or directory");
  }
  try {
    ReadSafetensors("/nonexistent/x");
    FAIL();
  } catch (const BadInput& e) {
    EXPECT_STREQ(e.what(), "[/nonexistent/x] cannot open: No such file or directory");
  }
  EXPECT_THROW(ReadSafetensors(testing::TempDir()), BadInput);
}

TEST(Safetensors, FullDiskIsBrokenEnvironment) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full on this system";
  try {
    WriteSafetensors("/dev/full", {{"a", Arange(3)}});
    FAIL();
  } catch (const BrokenEnvironment& e) {
    EXPECT_STREQ(e.what(), "[/dev/full] cannot write: No space left on device");
  }
}

}  // namespace
}  // namespace torus
