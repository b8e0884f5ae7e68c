#include "tools/codec/encoded_file.h"

#include <cstring>
#include <string_view>

#include "parallel/codec/frame.h"
#include "parallel/codec/make_codec.h"
#include "runtime/error.h"

namespace torus::tools {
namespace {

constexpr std::string_view kMagic = "TRCS";
constexpr size_t kMostName = 1024;

template <class T>
void Append(std::vector<std::byte>& out, const T* data, size_t count) {
  const size_t at = out.size();
  out.resize(at + sizeof(T) * count);
  if (count > 0) std::memcpy(out.data() + at, data, sizeof(T) * count);
}

std::vector<std::byte> FrameOf(parallel::Codec& codec, const NamedTensor& tensor,
                               std::vector<std::string>& as_it_is) {
  const Tensor values = tensor.value.To(DType::kF32).Contiguous();
  const std::span<const float> in(values.data<float>(), static_cast<size_t>(values.numel()));
  const DType dtype = tensor.value.dtype();
  std::vector<std::byte> frame = WriteFrame(codec, values.shape(), dtype, in);
  if (!frame.empty()) return frame;
  as_it_is.push_back(tensor.name);
  return WriteFrame(*parallel::MakeCodec("none"), values.shape(), dtype, in);
}

class Reader {
 public:
  Reader(const std::string& where, std::span<const std::byte> in) : where_(where), in_(in) {}

  std::span<const std::byte> Take(size_t count) {
    Require(in_.size() >= count, where_, "ends too early: {} bytes of {}", in_.size(), count);
    const auto front = in_.first(count);
    in_ = in_.subspan(count);
    return front;
  }
  template <class T>
  T Get() {
    T value;
    std::memcpy(&value, Take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string Text(size_t count) {
    const auto bytes = Take(count);
    return {reinterpret_cast<const char*>(bytes.data()), count};
  }
  std::span<const std::byte> rest() const { return in_; }

 private:
  const std::string& where_;
  std::span<const std::byte> in_;
};

}  // namespace

std::vector<std::byte> EncodeTensors(const std::string& codec,
                                     const std::vector<NamedTensor>& tensors,
                                     std::vector<std::string>& as_it_is) {
  const auto made = parallel::MakeCodec(codec);
  std::vector<std::byte> out;
  const auto count = static_cast<uint32_t>(tensors.size());
  Append(out, kMagic.data(), kMagic.size());
  Append(out, &count, 1);
  for (const NamedTensor& tensor : tensors) {
    const DType dtype = tensor.value.dtype();
    Require(dtype == DType::kF32 || IsLow(dtype), "codec",
            "encodes f32, bf16 and f16, got {} of {}", tensor.value, tensor.name);
    Require(!tensor.name.empty() && tensor.name.size() <= kMostName, "codec",
            "takes names of 1 to {} bytes, got {}", kMostName, tensor.name.size());
    const auto size = static_cast<uint16_t>(tensor.name.size());
    Append(out, &size, 1);
    Append(out, tensor.name.data(), tensor.name.size());
    const std::vector<std::byte> frame = FrameOf(*made, tensor, as_it_is);
    Append(out, frame.data(), frame.size());
  }
  return out;
}

std::vector<NamedTensor> DecodeTensors(const std::string& where, std::span<const std::byte> bytes,
                                       int64_t most) {
  Reader reader(where, bytes);
  Require(reader.Text(kMagic.size()) == kMagic, where, "is no file of encoded tensors");
  const auto count = reader.Get<uint32_t>();
  std::vector<NamedTensor> tensors;
  for (uint32_t i = 0; i < count; ++i) {
    const auto size = reader.Get<uint16_t>();
    Require(size >= 1 && size <= kMostName, where, "has a name of {} bytes", size);
    std::string name = reader.Text(size);
    const parallel::Frame frame = parallel::ReadFrame(reader.rest());
    reader.Take(frame.bytes);
    const std::vector<float> values = DecodeFrame(frame, most);
    most -= static_cast<int64_t>(values.size());
    tensors.push_back({std::move(name), FromVector(values, frame.shape).To(frame.dtype)});
  }
  Require(reader.rest().empty(), where, "has {} bytes behind its tensors", reader.rest().size());
  return tensors;
}

}  // namespace torus::tools
