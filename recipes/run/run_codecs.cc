#include "recipes/run/run_codecs.h"

#include "parallel/codec/codec_choice.h"
#include "parallel/codec/make_codec.h"

namespace torus::recipes {
namespace {

using Maker = std::function<std::unique_ptr<parallel::Codec>()>;

Maker MakerOf(const std::string& name) {
  return [name] { return parallel::MakeCodec(name); };
}

std::map<int, Maker> MakersOf(const std::map<int, std::string>& names) {
  std::map<int, Maker> makers;
  for (const auto& [cut, name] : names) makers[cut] = MakerOf(name);
  return makers;
}

}  // namespace

void SetCodecs(const Settings& settings, parallel::TrainerOptions& options) {
  const int stages = static_cast<int>(settings.stages);
  options.codec_warmup = settings.codec_warmup;
  options.codec_folder = settings.codec_folder;
  if (settings.codec_gradients != "none") options.reduce_codec = MakerOf(settings.codec_gradients);
  const bool own = options.codec != nullptr;
  if (!own) {
    const auto choice = parallel::ParseCodecChoice("--codec", settings.codec, stages);
    if (choice.any()) options.codec = MakerOf(choice.everywhere);
    options.codec_at = options.gradient_codec_at = MakersOf(choice.at);
  }
  if (settings.codec_backward.empty()) return;
  const auto backward =
      parallel::ParseCodecChoice("--codec-backward", settings.codec_backward, stages);
  options.gradient_codec = MakerOf(backward.everywhere);
  options.gradient_codec_at = MakersOf(backward.at);
}

}  // namespace torus::recipes
