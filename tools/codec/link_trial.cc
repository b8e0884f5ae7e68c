#include "tools/codec/link_trial.h"

#include <algorithm>
#include <limits>

#include "parallel/codec/make_codec.h"
#include "parallel/transport/emulated_link.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/parallel_for.h"
#include "runtime/team_size_guard.h"
#include "runtime/trace.h"

namespace torus::tools {
namespace {

using parallel::Codec;
using parallel::Tag;
using parallel::TagClass;
using parallel::Transport;

constexpr Tag kCount{TagClass::kControl, 0}, kPayload{TagClass::kActivation, 0};
constexpr Tag kTaken{TagClass::kControl, 1};

// One end of the link. The receiver acknowledges each micro-batch; the acknowledgement takes no
// time, since the link back is not emulated.
class End {
 public:
  End(Transport& transport, Codec* codec, const Tensor& micro_batch)
      : transport_(transport),
        codec_(codec),
        context_{.shape = micro_batch.shape()},
        values_(micro_batch.data<float>(), static_cast<size_t>(micro_batch.numel())),
        decoded_(codec == nullptr ? 0 : values_.size()),
        bytes_(codec == nullptr ? values_.size_bytes()
                                : codec->MaxTensorBytes(micro_batch.shape())) {}

  void Send() {
    uint64_t count = bytes_.size();
    const std::byte* payload = bytes_.data();
    if (codec_ == nullptr)
      payload = reinterpret_cast<const std::byte*>(values_.data());
    else
      count = parallel::EncodeWithin(*codec_, context_, values_, bytes_);
    auto head = transport_.Send(1, kCount, {&count, sizeof(count)}, "bytes of a micro-batch");
    auto body = transport_.Send(1, kPayload, {payload, count}, "a micro-batch");
    char taken = 0;
    transport_.Recv(1, kTaken, {&taken, 1}, "that it has come").Wait();
    head.Wait();
    body.Wait();
  }

  void Recv() {
    uint64_t count = 0;
    transport_.Recv(0, kCount, {&count, sizeof(count)}, "bytes of a micro-batch").Wait();
    transport_.Recv(0, kPayload, {bytes_.data(), count}, "a micro-batch").Wait();
    if (codec_ != nullptr) codec_->DecodeTensor(context_, std::span(bytes_).first(count), decoded_);
    const char taken = 1;
    transport_.Send(0, kTaken, {&taken, 1}, "that it has come").Wait();
  }

 private:
  Transport& transport_;
  Codec* const codec_;
  const parallel::CodecContext context_;
  const std::span<const float> values_;
  std::vector<float> decoded_;
  std::vector<std::byte> bytes_;
};

// A warm-up micro-batch, then the rest.
double SecondsOver(double bits_per_second, Codec* codec, const Tensor& micro_batch) {
  const parallel::LinkTable links = TrialLink(bits_per_second);
  const int team = TeamSize();  // of each end
  double seconds = 0;
  parallel::RunRanks(2, [&](Transport& inner) {
    SetTeamSize(team);
    parallel::EmulatedLink transport(inner, links);
    End end(transport, codec, micro_batch);
    const bool sends = transport.rank() == 0;
    sends ? end.Send() : end.Recv();
    const int64_t begin = trace::Now();
    for (int m = 0; m < kTrialMicroBatches; ++m) sends ? end.Send() : end.Recv();
    if (sends) seconds = static_cast<double>(trace::Now() - begin) * 1e-9;
  });
  return seconds;
}

double LeastSeconds(int repeats, double bits_per_second, Codec* codec, const Tensor& micro_batch) {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repeats; ++i)
    least = std::min(least, SecondsOver(bits_per_second, codec, micro_batch));
  return least;
}

}  // namespace

Tensor TrialMicroBatch(const std::vector<NamedTensor>& tensors) {
  std::vector<float> all;
  for (const NamedTensor& tensor : tensors) {
    const std::vector<float> values = ToVector<float>(tensor.value.To(DType::kF32));
    all.insert(all.end(), values.begin(), values.end());
  }
  Require(!all.empty(), "codec", "needs tensors with values to send over links");
  std::vector<float> taken(kTrialSide * kTrialSide);
  for (size_t i = 0; i < taken.size(); ++i) taken[i] = all[i % all.size()];
  return FromVector(taken, {kTrialSide, kTrialSide});
}

parallel::LinkTable TrialLink(double bits_per_second) {
  parallel::LinkTable links;
  links.Set(0, 1, {.bandwidth = bits_per_second / 8});
  return links;
}

std::vector<LinkTrial> TryLinks(const std::string& codec, const Tensor& micro_batch,
                                const std::vector<double>& bits_per_second, int repeats) {
  const TeamSizeGuard half(std::max(1, TeamSize() / 2));
  const CodecMeasurement own = MeasureCodec(codec, {{"micro-batch", micro_batch}}, repeats);
  Require(own.refused == 0, codec, "cannot carry values that are infinite or NaN");
  const auto made = parallel::MakeCodec(codec);
  std::vector<LinkTrial> trials;
  for (const double speed : bits_per_second) {
    Require(speed > 0, "codec", "needs links of more than 0 bits a second, got {}", speed);
    const double plain = 8 * static_cast<double>(micro_batch.bytes()) / speed;
    const double coded =
        8 * static_cast<double>(own.bytes) / speed + own.encode_seconds + own.decode_seconds;
    trials.push_back({.codec = own.codec,
                      .bits_per_second = speed,
                      .plain = LeastSeconds(repeats, speed, nullptr, micro_batch),
                      .coded = LeastSeconds(repeats, speed, made.get(), micro_batch),
                      .plain_computed = kTrialMicroBatches * plain,
                      .coded_computed = kTrialMicroBatches * coded});
  }
  return trials;
}

std::string TextOf(const std::vector<LinkTrial>& trials) {
  std::string text =
      fmt::format("{:<24}{:>9}{:>21}{:>21}{:>9}{:>10}\n", "codec", "Gbit/s", "float32 ms, computed",
                  "encoded ms, computed", "pays", "computed");
  const auto word = [](bool pays) { return pays ? "yes" : "no"; };
  int64_t agree = 0;
  for (const LinkTrial& t : trials) {
    text +=
        fmt::format("{:<24}{:>9.3f}{:>11.1f}{:>10.1f}{:>11.1f}{:>10.1f}{:>9}{:>10}\n", t.codec,
                    1e-9 * t.bits_per_second, 1e3 * t.plain, 1e3 * t.plain_computed, 1e3 * t.coded,
                    1e3 * t.coded_computed, word(t.pays()), word(t.pays_computed()));
    agree += t.pays() == t.pays_computed();
  }
  return text + fmt::format("{} of {} as computed\n", agree, trials.size());
}

}  // namespace torus::tools
