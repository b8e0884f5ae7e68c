#include "parallel/trainer/rank_counts.h"

#include "parallel/trainer/bytes.h"

namespace torus::parallel {

RankCounts RankCounts::Since(const RankCounts& before) const {
  RankCounts counts = *this;
  for (double RankTotals::*time :
       {&RankTotals::forward, &RankTotals::backward, &RankTotals::transfer, &RankTotals::reduce,
        &RankTotals::optimizer, &RankTotals::idle, &RankTotals::pipeline})
    counts.times.*time -= before.times.*time;
  counts.data_wait -= before.data_wait;
  counts.wall -= before.wall;
  for (size_t i = 0; i < cuts.size(); ++i) {
    counts.cuts[i].raw_bytes -= before.cuts[i].raw_bytes;
    counts.cuts[i].sent_bytes -= before.cuts[i].sent_bytes;
  }
  for (size_t i = 0; i < reduced_bytes.size(); ++i)
    counts.reduced_bytes[i] -= before.reduced_bytes[i];
  for (size_t i = 0; i < uncoded_bytes.size(); ++i)
    counts.uncoded_bytes[i] -= before.uncoded_bytes[i];
  for (size_t i = 0; i < computed_bytes.size(); ++i)
    counts.computed_bytes[i] -= before.computed_bytes[i];
  return counts;
}

std::vector<std::byte> ToBytes(const RankCounts& counts) {
  ByteWriter writer;
  writer.Put(counts.times);
  writer.Put(counts.data_wait);
  writer.Put(counts.wall);
  writer.PutAll(counts.cuts);
  writer.PutAll(counts.reduced_bytes);
  writer.PutAll(counts.uncoded_bytes);
  writer.PutAll(counts.computed_bytes);
  writer.Put(counts.threads);
  writer.Put(counts.weights_bytes);
  writer.Put(counts.optimizer_bytes);
  writer.Put(counts.peak_bytes);
  writer.Put(counts.drift_distance);
  writer.Put(counts.drift_weights);
  return writer.bytes();
}

RankCounts CountsFrom(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  RankCounts counts;
  counts.times = reader.Get<RankTotals>();
  counts.data_wait = reader.Get<double>();
  counts.wall = reader.Get<double>();
  counts.cuts = reader.GetAll<std::vector<CutTraffic>>();
  counts.reduced_bytes = reader.GetAll<std::vector<uint64_t>>();
  counts.uncoded_bytes = reader.GetAll<std::vector<uint64_t>>();
  counts.computed_bytes = reader.GetAll<std::vector<uint64_t>>();
  counts.threads = reader.Get<int64_t>();
  counts.weights_bytes = reader.Get<uint64_t>();
  counts.optimizer_bytes = reader.Get<uint64_t>();
  counts.peak_bytes = reader.Get<uint64_t>();
  counts.drift_distance = reader.Get<double>();
  counts.drift_weights = reader.Get<double>();
  return counts;
}

}  // namespace torus::parallel
