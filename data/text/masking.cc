#include "data/text/masking.h"

#include <algorithm>
#include <utility>

#include "data/text/bpe_tokenizer.h"
#include "runtime/error.h"

namespace torus::data {

TokenMasker::TokenMasker(const Tokenizer& tokenizer) : vocabulary_(tokenizer.vocabulary()) {
  const auto* const bpe = dynamic_cast<const BpeTokenizer*>(&tokenizer);
  Require(bpe != nullptr, tokenizer.name(), "has no special token '<mask>'");
  begin_ = bpe->Special("<s>");
  end_ = bpe->Special("</s>");
  mask_ = bpe->Special("<mask>");
  for (const SpecialToken& special : bpe->specials()) specials_.push_back(special.number);
  std::ranges::sort(specials_);
}

bool TokenMasker::IsSpecial(int64_t token) const {
  return std::ranges::binary_search(specials_, token);
}

int64_t TokenMasker::Shown(int64_t token, const RandomStream& random, uint64_t index) const {
  const double share = random.Uniform64(index);
  if (share < 0.8) return mask_;
  if (share >= 0.9) return token;
  const auto count = static_cast<int64_t>(specials_.size());
  auto drawn = static_cast<int64_t>(random.Below(index + 1, vocabulary_ - count));
  // Maps the drawn index to the tokens that are not special.
  for (const int64_t special : specials_) drawn += special <= drawn ? 1 : 0;
  return drawn;
}

void TokenMasker::Mask(std::span<const int64_t> text, const RandomKey& key, int64_t* row,
                       int64_t* target) const {
  const auto length = static_cast<int64_t>(text.size());
  row[0] = begin_;
  std::ranges::copy(text, row + 1);
  row[length + 1] = end_;
  std::fill_n(target, length + kAround, kNoTarget);
  std::vector<int64_t> places;
  for (int64_t place = 1; place <= length; ++place)
    if (!IsSpecial(row[place])) places.push_back(place);
  const RandomStream random(key);
  const size_t count = std::min(static_cast<size_t>(TargetsOf(length)), places.size());
  // The first steps of a Fisher-Yates shuffle. Each place uses three draws.
  for (size_t i = 0; i < count; ++i) {
    std::swap(places[i], places[i + random.Below(3 * i, places.size() - i)]);
    const int64_t place = places[i];
    target[place] = row[place];
    row[place] = Shown(row[place], random, 3 * i + 1);
  }
}

MakeBatch MaskedBatches(MakeBatch windows, TokenMasker masker, const MaskDraws& draws,
                        BatchMemory memory) {
  return [windows = std::move(windows), masker = std::move(masker), draws,
          memory](const MicroBatch& part) -> Batch {
    const Batch batch = windows(part);
    const Tensor& texts = batch.inputs[0];
    const int64_t rows = texts.dim(0), length = texts.dim(1), width = length + TokenMasker::kAround;
    Tensor masked = EmptyIn(memory, {rows, width}, DType::kI64);
    Tensor targets = EmptyIn(memory, {rows, width}, DType::kI64);
    const std::span<const int64_t> text(texts.data<int64_t>(), texts.numel());
    int64_t *row = masked.mutable_data<int64_t>(), *target = targets.mutable_data<int64_t>();
    for (int64_t r = 0; r < rows; ++r, row += width, target += width) {
      const RandomKey key{.seed = draws.seed,
                          .step = draws.each_epoch ? static_cast<uint64_t>(part.epoch) : 0,
                          .layer = HashName("data.mask"),
                          .sample = static_cast<uint64_t>(part.indices[r])};
      masker.Mask(text.subspan(r * length, length), key, row, target);
    }
    return {{std::move(masked)}, std::move(targets), batch.samples};
  };
}

}  // namespace torus::data
