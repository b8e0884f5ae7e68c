#include "data/images/jpeg.h"

// libjpeg's header needs stdio's before it.
#include <cstdio>
//
#include <jerror.h>
#include <jpeglib.h>

#include <array>
#include <csetjmp>
#include <new>
#include <vector>

#include "data/images/jpeg_segments.h"
#include "runtime/error.h"

namespace torus::data {
namespace {

using Bytes = std::span<const uint8_t>;

// libjpeg's first complaint that ends the decoding; Errors::manager is what libjpeg points to.
struct Errors {
  jpeg_error_mgr manager{};
  std::jmp_buf back{};
  std::array<char, JMSG_LENGTH_MAX> reason{};
};

[[noreturn]] void End(j_common_ptr common) {
  auto* const errors = reinterpret_cast<Errors*>(common->err);
  common->err->format_message(common, errors->reason.data());
  std::longjmp(errors->back, 1);
}

// Pixels are wrong after these warnings. After others, such as the one of bytes between the data
// and the next marker, they are not.
bool SpoilsPixels(int warning) {
  return warning == JWRN_HIT_MARKER || warning == JWRN_HUFF_BAD_CODE || warning == JWRN_MUST_RESYNC;
}

void OnMessage(j_common_ptr common, int level) {
  if (level < 0 && SpoilsPixels(common->err->msg_code)) End(common);
}

// Nothing is wrong with the image. The second is of JPEGMEM, an environment variable.
bool LacksMemory(int error) {
  return error == JERR_OUT_OF_MEMORY || error == JERR_NO_BACKING_STORE;
}

struct Handle : jpeg_decompress_struct {
  Handle() : jpeg_decompress_struct{} {}
  ~Handle() { jpeg_destroy_decompress(this); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
};

// One image being decoded. `file` must outlive it.
class Decompressor {
 public:
  Decompressor(const std::vector<uint8_t>& file, const std::string& name) : name_(name) {
    info_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = End;
    errors_.manager.emit_message = OnMessage;
    Run([&] {
      jpeg_create_decompress(&info_);
      jpeg_mem_src(&info_, file.data(), file.size());
      jpeg_read_header(&info_, TRUE);
    });
    Require(info_.arith_code == 0, name, "requires a JPEG of Huffman codes, got arithmetic ones");
  }

  ImageSize size() const { return CheckSize({info_.image_height, info_.image_width}, name_); }

  Tensor Decode() {
    const auto [height, width] = size();
    const bool inks = info_.num_components == 4;
    info_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    Run([&] { jpeg_start_decompress(&info_); });
    Tensor image({height, width, 3}, DType::kU8);
    std::vector<uint8_t> row(inks ? 4 * width : 0);
    uint8_t* to = image.mutable_data<uint8_t>();
    for (int64_t y = 0; y < height; ++y, to += 3 * width) {
      ReadRow(inks ? row.data() : to);
      if (inks) MixInks(row, to);
    }
    Run([&] { jpeg_finish_decompress(&info_); });
    return image;
  }

 private:
  // Calls libjpeg. `f` must own nothing: an error leaves it by a jump.
  template <class F>
  void Run(const F& f) {
    if (setjmp(errors_.back) != 0) Refuse();
    f();
  }

  [[noreturn]] void Refuse() const {
    if (LacksMemory(errors_.manager.msg_code)) throw std::bad_alloc();
    if (errors_.manager.msg_code == JWRN_HIT_MARKER)
      Throw<BadInput>(name_, "requires a whole image, got a JPEG that ends before its last pixels");
    Throw<BadInput>(name_, "requires a whole image, got a damaged JPEG: {}", errors_.reason.data());
  }

  void ReadRow(uint8_t* to) {
    Run([&] { jpeg_read_scanlines(&info_, &to, 1); });
  }

  // Four components are cyan, magenta, yellow and black; inverted, as Adobe's programs write them.
  static void MixInks(const std::vector<uint8_t>& inks, uint8_t* to) {
    for (size_t at = 0; at < inks.size(); at += 4)
      for (size_t c = 0; c < 3; ++c) {
        const uint32_t product = uint32_t{inks[at + c]} * inks[at + 3] + 128;
        *to++ = static_cast<uint8_t>((product + (product >> 8)) >> 8);  // / 255, rounded
      }
  }

  const std::string& name_;
  Errors errors_;
  Handle info_;
};

}  // namespace

ImageSize JpegSize(Bytes bytes, const std::string& name) {
  const std::vector<uint8_t> file = ReadJpegSegments(bytes, name);
  return Decompressor(file, name).size();
}

Tensor DecodeJpeg(Bytes bytes, const std::string& name) {
  const std::vector<uint8_t> file = ReadJpegSegments(bytes, name);
  return Decompressor(file, name).Decode();
}

}  // namespace torus::data
