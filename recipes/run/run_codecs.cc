#include "recipes/run/run_codecs.h"

#include <algorithm>
#include <limits>

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

bool AnyRemembersSamples(const parallel::CodecChoice& choice) {
  const auto remembers = [](const std::string& name) {
    return parallel::MakeCodec(name)->decodes_from_memory();
  };
  return remembers(choice.everywhere) ||
         std::ranges::any_of(choice.at, [&](const auto& at) { return remembers(at.second); });
}

}  // namespace

bool RemembersSamples(const Settings& settings) {
  constexpr int kAnyStages = std::numeric_limits<int>::max();  // a cut may not be known yet
  const auto remembers = [](const char* flag, const std::string& text) {
    return AnyRemembersSamples(parallel::ParseCodecChoice(flag, text, kAnyStages));
  };
  return remembers("--codec", settings.codec) ||
         (!settings.codec_backward.empty() &&
          remembers("--codec-backward", settings.codec_backward));
}

void SetCodecs(const Settings& settings, parallel::TrainerOptions& options) {
  const int stages = static_cast<int>(settings.stages);
  options.codec_warmup = settings.codec_warmup;
  options.codec_folder = settings.codec_folder;
  if (settings.codec_gradients != "none") options.reduce_codec = MakerOf(settings.codec_gradients);
  const auto choice = parallel::ParseCodecChoice("--codec", settings.codec, stages);
  if (choice.any()) options.codec = MakerOf(choice.everywhere);
  options.codec_at = options.gradient_codec_at = MakersOf(choice.at);
  if (settings.codec_backward.empty()) return;
  const auto backward =
      parallel::ParseCodecChoice("--codec-backward", settings.codec_backward, stages);
  options.gradient_codec = MakerOf(backward.everywhere);
  options.gradient_codec_at = MakersOf(backward.at);
}

}  // namespace torus::recipes
