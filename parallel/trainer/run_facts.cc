#include "parallel/trainer/run_facts.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "parallel/schedule/printer.h"
#include "parallel/trainer/bytes.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "runtime/vector_unit.h"

namespace torus::parallel {
namespace {

// Version of the messages between ranks; increased with each change of them.
constexpr int kVersion = 7;

std::string Text(const std::vector<TensorSpec>& specs) {
  std::vector<std::string> texts;
  for (const TensorSpec& spec : specs)
    texts.push_back(fmt::format("{} {}", Name(spec.dtype), spec.shape));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string DigestOf(const Schedule& schedule) {
  std::string actions;
  for (const std::vector<Action>& rank : schedule.ranks) {
    for (const Action& action : rank) actions += ToString(action) + ' ';
    actions += '\n';
  }
  return fmt::format("{:016x}", HashName(actions.c_str()));
}

std::vector<std::byte> ToBytes(const RunFacts& facts) {
  ByteWriter writer;
  for (const auto& [name, value] : facts) {
    writer.PutAll(name);
    writer.PutAll(value);
  }
  return writer.bytes();
}

RunFacts FactsFrom(std::span<const std::byte> bytes) {
  RunFacts facts;
  for (ByteReader reader(bytes); !reader.at_end();) {
    auto name = reader.GetAll<std::string>();
    facts.emplace_back(std::move(name), reader.GetAll<std::string>());
  }
  return facts;
}

// FNV-1a.
uint64_t DigestOf(std::span<const std::byte> bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<uint8_t>(byte)) * 0x100000001b3;
  return hash;
}

// Of all ranks.
std::vector<RunFacts> ShareFacts(Communicator& world, std::span<const std::byte> mine) {
  std::vector<RunFacts> facts;
  for (const std::vector<std::byte>& bytes : world.ShareBytes(mine, "what ranks have in common"))
    facts.push_back(FactsFrom(bytes));
  return facts;
}

std::string ValueAt(const RunFacts& facts, size_t i) {
  return i < facts.size() && !facts[i].second.empty() ? facts[i].second : "none";
}

[[noreturn]] void ThrowDifference(const std::vector<RunFacts>& facts, size_t other) {
  const RunFacts &first = facts[0], &theirs = facts[other];
  size_t i = 0;
  while (i < std::min(first.size(), theirs.size()) && first[i] == theirs[i]) ++i;
  std::vector<size_t> alike;
  for (size_t rank = 0; rank < facts.size(); ++rank)
    if (ValueAt(facts[rank], i) == ValueAt(theirs, i)) alike.push_back(rank);
  const bool one = alike.size() == 1;
  Throw<BadInput>("trainer", "rank{} {} {} {} {}, rank 0 has {}", one ? "" : "s",
                  fmt::join(alike, ", "), one ? "has" : "have",
                  (i < first.size() ? first : theirs)[i].first, ValueAt(theirs, i),
                  ValueAt(first, i));
}

}  // namespace

RunFacts FactsOf(const TrainerOptions& o, const TrainingParts& parts, const Schedule& schedule,
                 const RankModel& model, const std::string& codec) {
  const auto text = [](const auto& value) { return fmt::format("{}", value); };
  RunFacts facts{{"version", text(kVersion)},
                 {"compiler", __VERSION__},
                 {"vector unit", VectorUnit()},
                 {"threads", text(o.threads)},
                 {"stages", text(o.stages)},
                 {"chunks", text(o.chunks)},
                 {"replicas", text(o.replicas)},
                 {"tensor", text(o.tensor)},
                 {"shared cuts", text(o.share_cuts)},
                 {"micro-batches", text(o.micro_batches)},
                 {"schedule", schedule.name},
                 {"schedule of digest", DigestOf(schedule)},
                 {"cuts", fmt::format("{}", fmt::join(model.cuts, ","))},
                 {"strategy", o.strategy},
                 {"collectives", o.collectives},
                 {"bucket_bytes", text(o.bucket_bytes)},
                 {"reproducible", text(o.reproducible)},
                 {"sync_batch_norm", text(o.sync_batch_norm)},
                 {"codec", codec},
                 {"seed", text(o.seed)},
                 {"clip_norm", text(o.clip_norm)},
                 {"gradient_norm", text(o.gradient_norm)},
                 {"loss_scale", text(o.loss_scale ? o.loss_scale->state().value : 0)},
                 {"max_skipped", text(o.max_skipped)},
                 {"ema_decay", text(o.ema_decay)},
                 {"largest inputs", Text(parts.largest_inputs)},
                 {"smallest inputs", Text(parts.smallest_inputs)}};
  facts.insert(facts.end(), o.facts.begin(), o.facts.end());
  for (const WeightSpec& weight : model.weights)
    facts.emplace_back(
        weight.trained ? "parameter" : "buffer",
        fmt::format("{} {}", weight.name, Text({{weight.whole, weight.spec.dtype}})));
  for (const SkipConnection& skip : model.skips)
    facts.emplace_back("skip connection",
                       fmt::format("{} from stage {} to stage {}", skip.name, skip.from, skip.to));
  return facts;
}

void RequireEqualFacts(Communicator& world, const RunFacts& facts) {
  const std::vector<std::byte> bytes = ToBytes(facts);
  const std::vector<uint64_t> digests =
      world.Share(DigestOf(bytes), "digest of what ranks have in common");
  const auto other =
      std::ranges::find_if(digests, [&](uint64_t digest) { return digest != digests.front(); });
  if (other == digests.end()) return;
  ThrowDifference(ShareFacts(world, bytes), other - digests.begin());
}

}  // namespace torus::parallel
