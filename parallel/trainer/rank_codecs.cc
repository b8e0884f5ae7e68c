#include "parallel/trainer/rank_codecs.h"

namespace torus::parallel {
namespace {

std::string NameOf(const std::shared_ptr<Codec>& codec) {
  return codec == nullptr ? "none" : codec->name();
}

}  // namespace

std::string PipelineName(const RankPlace& place) {
  if (place.tensor.size == 1) return fmt::format("replica {}", place.replica);
  return fmt::format("tensor {} of {} in replica {}", place.tensor.rank, place.tensor.size,
                     place.replica);
}

void TakeCodecs(const TrainerOptions& from, const RankPlace& place, ExecutorOptions& to) {
  if (from.codec) to.activation_codec = from.codec();
  const auto& gradient = from.gradient_codec ? from.gradient_codec : from.codec;
  if (gradient) to.gradient_codec = gradient();
  for (const auto& [cut, make] : from.codec_at) to.activation_codec_at[cut] = make();
  for (const auto& [cut, make] : from.gradient_codec_at) to.gradient_codec_at[cut] = make();
  to.codec_warmup = from.codec_warmup;
  if (!from.codec_folder.empty())
    to.codec_folder = fmt::format("{}/{}", from.codec_folder, PipelineName(place));
}

std::string CodecsText(const TrainerOptions& from, const ExecutorOptions& options) {
  std::string text = NameOf(options.activation_codec);
  const std::string gradient = NameOf(options.gradient_codec);
  if (gradient != text) text += ", gradients " + gradient;
  for (const auto& [cut, codec] : options.activation_codec_at)
    text += fmt::format(", at cut {} {}", cut, NameOf(codec));
  for (const auto& [cut, codec] : options.gradient_codec_at)
    text += fmt::format(", gradients at cut {} {}", cut, NameOf(codec));
  if (from.reduce_codec) text += ", between replicas " + from.reduce_codec()->name();
  if (options.codec_warmup > 0) text += fmt::format(", from step {}", options.codec_warmup);
  return text;
}

}  // namespace torus::parallel
