// The tests of the lab "buckets".
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "tools/labs/build_it_yourself/grader/bucket_model.h"
#include "tools/labs/build_it_yourself/grader/exercises.h"
#include "tools/labs/build_it_yourself/grader/terms.h"

namespace torus::tools::labs {
namespace {

using Ranks = std::vector<RankRecord>;

// One element of one parameter on one rank, after one step.
struct Place {
  int rank = 0, step = 0;
  size_t parameter = 0, i = 0;
};

std::string WhyNaN(const BucketModel& m, const Place& at) {
  for (int rank = 0; rank < m.ranks; ++rank)
    if (!m.Comes(rank, at.step, at.parameter))
      return fmt::format(
          "rank {} has no gradient of it in this step: it counts as zeros there, and the mean is "
          "written all the same",
          rank);
  return "a gradient's memory was read before the gradient came, or nothing was written back";
}

// Determines from a mean which ranks' terms are in it.
std::string TermsIn(const BucketModel& m, const Place& at, float got) {
  return WrongTerms(got, m.Scale(at.step, at.parameter, at.i), m.ranks,
                    [&](int rank) { return m.Comes(rank, at.step, at.parameter) ? 1 : 0; });
}

bool HasLeftovers(const BucketModel& m, const Place& at, float got) {
  if (at.step == 0) return false;
  const float mean = m.Mean(at.step, at.parameter, at.i);
  const float before = m.Mean(at.step - 1, at.parameter, at.i);
  for (int times = 1; times <= m.ranks; ++times) {
    const float more = static_cast<float>(times) * before;
    if (Near(got, mean + more) || Near(got, mean + more / static_cast<float>(m.ranks))) return true;
  }
  return false;
}

// What a wrong mean says about the mistake.
std::string Diagnosis(const BucketModel& m, const Place& at, float got) {
  const float mean = m.Mean(at.step, at.parameter, at.i), n = static_cast<float>(m.ranks);
  const float own = m.Term(at.rank, at.step, at.parameter, at.i);
  if (std::isnan(got)) return WhyNaN(m, at);
  if (m.ranks == 1) return "one rank's mean is its own gradient, and zero where none comes";
  if (got == mean * n) return "this is the sum: the mean over the ranks is wanted";
  if (got == own) return "this is still the rank's own gradient";
  if (Near(got, own / n))
    return "this is the rank's own gradient divided by n: was it written back before its sum was "
           "waited for?";
  if (at.step > 0 && got == m.Mean(at.step - 1, at.parameter, at.i))
    return "this is the mean of the step before";
  if (HasLeftovers(m, at, got)) return "something is left in the bucket from the step before";
  return TermsIn(m, at, got);
}

void ExpectMean(const BucketModel& m, const Place& at, float got) {
  const float want = m.Mean(at.step, at.parameter, at.i);
  if (Near(got, want)) return;
  throw TestFailed{
      fmt::format("{} parameters in buckets of {} bytes: after step {} on rank {} of {} element {} "
                  "of parameter "
                  "{} is {} and should be {}; {}",
                  m.elements.size(), m.bucket_bytes, at.step, at.rank, m.ranks, at.i, at.parameter,
                  got, want, Diagnosis(m, at, got))};
}

void ExpectMeans(const BucketModel& m, const Ranks& ranks) {
  for (int rank = 0; rank < m.ranks; ++rank)
    for (int step = 0; step < m.steps; ++step)
      for (size_t p = 0; p < m.elements.size(); ++p)
        for (size_t i = 0; i < m.elements[p]; ++i)
          ExpectMean(m, {rank, step, p, i},
                     ranks[rank].result.at(step * m.total() + m.first[p] + i));
}

Ranks Run(Bench& bench, const BucketModel& m, Link link = {}) {
  const std::vector<RankTask> tasks = m.Tasks();
  return bench.Run(tasks, LengthsOf(tasks), link);
}

Ranks RunAndCheck(Bench& bench, const BucketModel& m, Link link = {}) {
  Ranks ranks = Run(bench, m, link);
  ExpectMeans(m, ranks);
  return ranks;
}

// Parameters of up to `most` floats, in some five buckets.
BucketModel SomeModel(Dice& dice, int ranks, int steps = 1, int most = 120) {
  std::vector<size_t> elements(static_cast<size_t>(dice.Between(14, 18)));
  for (size_t& count : elements) count = static_cast<size_t>(dice.Between(1, most));
  return {dice, ranks, steps, static_cast<size_t>(dice.Between(3 * most / 2, 2 * most)), elements};
}

void TwoRanks(Bench& bench) { RunAndCheck(bench, SomeModel(bench.dice, 2)); }

void MoreRanks(Bench& bench) {
  for (const int ranks : {3, 4, 5}) RunAndCheck(bench, SomeModel(bench.dice, ranks));
}

void OneRank(Bench& bench) {
  BucketModel model = SomeModel(bench.dice, 1, 2);
  model.LeaveOut(0, 0, 3);
  RunAndCheck(bench, model);
}

// The last parameter comes first.
void Sizes(Bench& bench) {
  const size_t b = static_cast<size_t>(bench.dice.Between(50, 100));
  RunAndCheck(bench, {bench.dice, 3, 2, b, {10, 2 * b + 3, 0, b, 5, b - 5, 0, 3 * b, 0, 7}});
  RunAndCheck(bench, {bench.dice, 2, 2, 1, {3, 1, 0, 2}});
  RunAndCheck(bench, {bench.dice, 2, 1, 100, {40, 60}});
  RunAndCheck(bench, {bench.dice, 2, 2, b, {0}});
  RunAndCheck(bench, {bench.dice, 2, 2, b, {}});
}

// The first parameter, whose bucket is the last one; then others, on all ranks, and all.
void Unused(Bench& bench) {
  BucketModel last = SomeModel(bench.dice, 3);
  last.LeaveOut(1, 0, 0);
  RunAndCheck(bench, last);
  BucketModel some = SomeModel(bench.dice, 4);
  for (int rank = 0; rank < 4; ++rank) {
    some.LeaveOut(rank, 0, 5);
    for (int times = 0; times < 3; ++times)
      some.LeaveOut(rank, 0, static_cast<size_t>(bench.dice.Between(0, 13)));
  }
  RunAndCheck(bench, some);
  BucketModel all = SomeModel(bench.dice, 2);
  for (size_t p = 0; p < all.elements.size(); ++p) all.LeaveOut(1, 0, p);
  RunAndCheck(bench, all);
}

void Steps(Bench& bench) {
  BucketModel model = SomeModel(bench.dice, 3, 4);
  for (int step = 1; step < 4; ++step)
    for (int rank = 0; rank < 3; ++rank)
      model.LeaveOut(rank, step, static_cast<size_t>(bench.dice.Between(0, 13)));
  RunAndCheck(bench, model);
}

std::vector<uint64_t> BytesOf(const RankRecord& rank) {
  std::vector<uint64_t> bytes;
  for (const SumBegun& sum : rank.sums) bytes.push_back(sum.bytes);
  return bytes;
}

void ExpectOrder(const BucketModel& m, int rank, const std::vector<uint64_t>& sums) {
  std::vector<uint64_t> want;
  for (const BucketCut& cut : m.Buckets()) want.push_back(cut.bytes);
  Expect(!sums.empty(), "rank {} of {} began no sum", rank, m.ranks);
  Expect(sums == want,
         "rank {} of {} began sums of {} bytes; buckets of {} bytes, from the last parameter to "
         "the first, have {}",
         rank, m.ranks, fmt::join(sums, ", "), m.bucket_bytes, fmt::join(want, ", "));
}

void Order(Bench& bench) {
  for (const int ranks : {2, 3}) {
    const BucketModel m = SomeModel(bench.dice, ranks);
    const Ranks records = Run(bench, m);
    for (int rank = 0; rank < ranks; ++rank) ExpectOrder(m, rank, BytesOf(records[rank]));
    ExpectMeans(m, records);
  }
}

void ExpectSums(const BucketModel& m, int rank, const std::vector<uint64_t>& sums) {
  const std::vector<BucketCut> cuts = m.Buckets();
  uint64_t all = 0;
  for (const uint64_t bytes : sums) {
    all += bytes;
    Expect(bytes <= m.bucket_bytes || std::ranges::count(cuts, bytes, &BucketCut::bytes) > 0,
           "rank {} began a sum of {} bytes; a bucket of more than one parameter has at most {}",
           rank, bytes, m.bucket_bytes);
  }
  Expect(sums.size() <= cuts.size(),
         "rank {} began {} sums in a step of {} parameters, which are {} buckets of {} bytes", rank,
         sums.size(), m.elements.size(), cuts.size(), m.bucket_bytes);
  Expect(all <= m.total() * sizeof(float), "rank {} summed {} bytes of gradients that have {}",
         rank, all, m.total() * sizeof(float));
}

void Sums(Bench& bench) {
  BucketModel m = SomeModel(bench.dice, 2, 1, 400);
  const Ranks ranks = RunAndCheck(bench, m);
  for (int rank = 0; rank < m.ranks; ++rank) ExpectSums(m, rank, BytesOf(ranks[rank]));
}

// Why the sums may have taken too long: they are not those of the buckets, or one started late.
std::string WhySlow(const BucketModel& m, const BucketTimes& times, const Ranks& ranks) {
  const size_t buckets = m.Buckets().size();
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::vector<SumBegun>& sums = ranks[rank].sums;
    if (const size_t want = static_cast<size_t>(m.steps) * buckets; sums.size() != want)
      return fmt::format(". Rank {} began {} sums for {} buckets", rank, sums.size(), want);
    for (size_t k = 0; k < buckets; ++k)
      if (sums[k].at > times.full[rank][k] + 1e-9)
        return fmt::format(
            ". Rank {} began sum {} at {:.3f} s; the last gradient of that bucket comes at {:.3f} "
            "s where nothing waits",
            rank, k, sums[k].at, times.full[rank][k]);
  }
  return "";
}

// A link on which the buckets' latency takes 0.3 of the backward's time, and their bytes 0.5.
Link SlowLink(const BucketModel& m) {
  const double backward = TimesOf(m, {}).backward;
  const double bytes = static_cast<double>(m.total() * sizeof(float));
  const double messages = 2.0 * (m.ranks - 1);  // of a rank in a sum, an nth of its bytes each
  return {0.3 * backward / (messages * static_cast<double>(m.Buckets().size())),
          messages * bytes / m.ranks / (0.5 * backward)};
}

void Overlap(Bench& bench) {
  const BucketModel m = SomeModel(bench.dice, bench.dice.Between(3, 5), 2, 1000);
  const Link link = SlowLink(m);
  const BucketTimes times = TimesOf(m, link);
  const Ranks ranks = RunAndCheck(bench, m, link);
  double took = 0;
  for (const RankRecord& rank : ranks) took = std::max(took, rank.clock);
  Expect(took <= times.all + 1e-9,
         "{} ranks: {} steps took {:.3f} s; {:.3f} s are allowed. The backward of a step takes "
         "{:.3f} s and the sums of its buckets {:.3f} s, beside it but for what is left when the "
         "last one is full{}",
         m.ranks, m.steps, took, times.all, times.backward, times.sums, WhySlow(m, times, ranks));
}

void Memory(Bench& bench) {
  const BucketModel m = SomeModel(bench.dice, 2, 2, 5000);
  const Ranks ranks = RunAndCheck(bench, m);
  const double most = static_cast<double>(m.total() * sizeof(float)) + 8192;
  for (int rank = 0; rank < m.ranks; ++rank)
    Expect(ranks[rank].facts.at("peak") <= most,
           "rank {} needed {} bytes; allowed are those of each gradient once, in its bucket, and "
           "8192: {}. Does a bucket grow while it is filled, or a gradient have two copies?",
           rank, ranks[rank].facts.at("peak"), most);
}

void Leak(Bench& bench) {
  const BucketModel m = SomeModel(bench.dice, 2, 5, 1000);
  const Ranks ranks = RunAndCheck(bench, m);
  for (int rank = 0; rank < m.ranks; ++rank) {
    const double kept = ranks[rank].facts.at("kept"), left = ranks[rank].facts.at("left");
    Expect(kept <= 0, "leak: from the first step to the last of 5 rank {} kept {} bytes more", rank,
           kept);
    Expect(left <= 8192, "leak: rank {} holds {} bytes when the buckets are gone", rank, left);
  }
}

}  // namespace

Exercise BucketsExercise() {
  return {"buckets",
          "buckets",
          "gradients summed in buckets beside the backward",
          {{"two-ranks", "the means over two ranks", 5, TwoRanks},
           {"more-ranks", "over three, four and five", 10, MoreRanks},
           {"one-rank", "nobody to sum with", 5, OneRank},
           {"sizes", "parameters larger than a bucket, as large, and empty", 10, Sizes},
           {"unused", "gradients that do not come", 15, Unused},
           {"steps", "several steps, of which nothing is left for the next", 5, Steps},
           {"order", "buckets from the last parameter to the first", 5, Order},
           {"sums", "no more sums than buckets, and none larger", 15, Sums},
           {"overlap", "sums run beside the backward", 20, Overlap},
           {"memory", "room for each gradient once", 5, Memory},
           {"leak", "nothing is kept from step to step, or behind the last", 5, Leak}}};
}

}  // namespace torus::tools::labs
