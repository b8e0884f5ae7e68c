// The tests of the lab "ring". Element i of a rank is its term (terms.h), with an s of that i.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "tools/labs/build_it_yourself/grader/exercises.h"
#include "tools/labs/build_it_yourself/grader/terms.h"
#include "tools/labs/build_it_yourself/ring/lab_ring.h"

namespace torus::tools::labs {
namespace {

using lab::ChunkBegin;

struct Problem {
  int ranks = 1;
  size_t count = 0;
  std::vector<int> scales;  // s of each element

  Problem(int n, size_t elements, Dice& dice) : ranks(n), count(elements) {
    for (size_t i = 0; i < count; ++i) scales.push_back(dice.Between(1, 5));
  }
  float Term(int rank, size_t i) const {
    return static_cast<float>(ranks * scales[i] * FourTo(rank));
  }
  float Mean(size_t i) const { return static_cast<float>(scales[i] * (FourTo(ranks) - 1) / 3); }
  std::vector<RankTask> Tasks(int calls) const {
    std::vector<RankTask> tasks(ranks, {{calls}, std::vector<float>(count)});
    for (int rank = 0; rank < ranks; ++rank)
      for (size_t i = 0; i < count; ++i) tasks[rank].values[i] = Term(rank, i);
    return tasks;
  }
};

size_t LongestChunk(const Problem& problem) { return ChunkBegin(problem.count, problem.ranks, 1); }

int ChunkOf(const Problem& problem, size_t i) {
  int chunk = 0;
  while (ChunkBegin(problem.count, problem.ranks, chunk + 1) <= i) ++chunk;
  return chunk;
}

// What a wrong mean says about the mistake.
std::string Diagnosis(const Problem& problem, int rank, size_t i, float got) {
  const float mean = problem.Mean(i);
  if (problem.ranks == 1) return "one rank's mean is its own value";
  if (got == mean * static_cast<float>(problem.ranks))
    return "this is the sum: the mean over the ranks is wanted";
  if (got == problem.Term(rank, i)) return "this is still the rank's own value";
  return WrongTerms(got, problem.scales[i], problem.ranks, [](int) { return 1; });
}

void ExpectMeans(const Problem& problem, const std::vector<RankRecord>& ranks) {
  for (int rank = 0; rank < problem.ranks; ++rank)
    for (size_t i = 0; i < problem.count; ++i) {
      const float got = ranks[rank].result.at(i);
      Expect(Near(got, problem.Mean(i)),
             "rank {} of {}, {} elements: element {}, of chunk {}, is {} and should be {}; {}",
             rank, problem.ranks, problem.count, i, ChunkOf(problem, i), got, problem.Mean(i),
             Diagnosis(problem, rank, i, got));
    }
}

std::vector<RankRecord> RunAndCheck(Bench& bench, const Problem& problem, int calls = 1) {
  const std::vector<RankTask> tasks = problem.Tasks(calls);
  auto ranks = bench.Run(tasks, LengthsOf(tasks));
  ExpectMeans(problem, ranks);
  return ranks;
}

void TwoRanks(Bench& bench) {
  RunAndCheck(bench, {2, static_cast<size_t>(2 * bench.dice.Between(5, 50)), bench.dice});
}

void EvenRanks(Bench& bench) {
  const int n = 2 * bench.dice.Between(2, 3);
  RunAndCheck(bench, {n, static_cast<size_t>(n * bench.dice.Between(5, 50)), bench.dice});
}

void OddRanks(Bench& bench) {
  for (const int n : {3, 5, 7})
    RunAndCheck(bench, {n, static_cast<size_t>(n * bench.dice.Between(5, 50)), bench.dice});
}

void UnevenChunks(Bench& bench) {
  for (const int n : {2, 3, 4, 5})
    RunAndCheck(
        bench,
        {n, static_cast<size_t>(n * bench.dice.Between(5, 50) + bench.dice.Between(1, n - 1)),
         bench.dice});
}

void FewElements(Bench& bench) {
  const int n = bench.dice.Between(3, 6);
  for (size_t count = 0; count < static_cast<size_t>(n); ++count)
    RunAndCheck(bench, {n, count, bench.dice});
}

void OneRank(Bench& bench) { RunAndCheck(bench, {1, 17, bench.dice}); }

void Bytes(Bench& bench) {
  const int n = bench.dice.Between(3, 6);
  const Problem problem(n, static_cast<size_t>(bench.dice.Between(20000, 30000)), bench.dice);
  const auto ranks = RunAndCheck(bench, problem);
  const uint64_t chunk = 4 * LongestChunk(problem), whole = 4 * problem.count;
  for (int rank = 0; rank < n; ++rank)
    Expect(ranks[rank].bytes_sent <= 2 * (n - 1) * chunk,
           "rank {} of {} sent {} bytes of a tensor of {}; 2 (n - 1) chunks of {} are allowed, "
           "which is {}. Its largest message had {} bytes{}",
           rank, n, ranks[rank].bytes_sent, whole, chunk, 2 * (n - 1) * chunk,
           ranks[rank].largest_message,
           ranks[rank].largest_message == whole ? ", the whole tensor" : "");
}

void Steps(Bench& bench) {
  const int n = bench.dice.Between(3, 6);
  const auto ranks = RunAndCheck(bench, {n, static_cast<size_t>(100 * n), bench.dice});
  for (int rank = 0; rank < n; ++rank) {
    for (const auto& [to, bytes] : ranks[rank].sent_to)
      Expect(to == (rank + 1) % n, "rank {} of {} sent to rank {}; its right neighbour is {}", rank,
             n, to, (rank + 1) % n);
    Expect(ranks[rank].steps <= 2 * (n - 1),
           "rank {} of {} waited for a chain of {} messages, each sent after the one before it had "
           "come; a ring needs 2 (n - 1) = {}",
           rank, n, ranks[rank].steps, 2 * (n - 1));
  }
}

// Terms of very different size, so that the bits depend on the order of the sums.
void Order(Bench& bench) {
  const int n = bench.dice.Between(3, 6);
  const size_t count = static_cast<size_t>(bench.dice.Between(200, 300));
  std::vector<RankTask> tasks(n, {{1}, {}});
  for (RankTask& task : tasks)
    for (size_t i = 0; i < count; ++i)
      task.values.push_back(std::ldexp(bench.dice.Normal(), bench.dice.Between(0, 20)));
  const auto ranks = bench.Run(tasks, LengthsOf(tasks));
  for (int c = 0; c < n; ++c)
    for (size_t i = ChunkBegin(count, n, c); i < ChunkBegin(count, n, c + 1); ++i) {
      float sum = tasks[(c + 1) % n].values[i];
      double exact = sum, magnitude = std::abs(sum);
      for (int k = 2; k <= n; ++k) {
        const float term = tasks[(c + k) % n].values[i];
        sum += term;
        exact += term;
        magnitude += std::abs(term);
      }
      for (int rank = 0; rank < n; ++rank) {
        const float got = ranks[rank].result.at(i), want = sum / static_cast<float>(n);
        const bool rounding = std::abs(got - exact / n) <= n * 0x1p-24 * magnitude / n;
        Expect(Near(got, want), "rank {} of {}: element {}, of chunk {}, is {} and should be {}{}",
               rank, n, i, c, got, want,
               rounding ? fmt::format("; the terms are right, but not added in the order of the "
                                      "ring, which begins at rank {}",
                                      (c + 1) % n)
                        : "");
      }
    }
}

void PeakMemory(Bench& bench) {
  const int n = bench.dice.Between(5, 7);
  const Problem problem(n, static_cast<size_t>(bench.dice.Between(40000, 60000)), bench.dice);
  const auto ranks = RunAndCheck(bench, problem);
  const double most = 2 * 4 * static_cast<double>(LongestChunk(problem)) + 4096;
  for (int rank = 0; rank < n; ++rank)
    Expect(ranks[rank].facts.at("peak") <= most,
           "rank {} of {} needed {} bytes besides a tensor of {}; allowed are two chunks and 4096 "
           "bytes: {}",
           rank, n, ranks[rank].facts.at("peak"), 4 * problem.count, most);
}

void Leak(Bench& bench) {
  const int n = bench.dice.Between(2, 4), calls = 5;
  const auto ranks = RunAndCheck(bench, {n, static_cast<size_t>(1000 * n), bench.dice}, calls);
  for (int rank = 0; rank < n; ++rank)
    Expect(ranks[rank].facts.at("kept") <= 0,
           "leak: from the first call to the last of {} rank {} kept {} bytes more", calls, rank,
           ranks[rank].facts.at("kept"));
}

}  // namespace

Exercise RingExercise() {
  return {"ring",
          "ring",
          "all-reduce in a ring",
          {{"two-ranks", "the mean over two ranks", 10, TwoRanks},
           {"even-ranks", "over four or six ranks", 10, EvenRanks},
           {"odd-ranks", "over three, five and seven ranks", 10, OddRanks},
           {"uneven-chunks", "a length that the ranks do not divide", 10, UnevenChunks},
           {"few-elements", "fewer elements than ranks, also none", 10, FewElements},
           {"one-rank", "nobody to talk to", 5, OneRank},
           {"bytes", "no rank sends more than 2 (n - 1) chunks", 15, Bytes},
           {"steps", "2 (n - 1) steps, to the right neighbour alone", 10, Steps},
           {"order", "each chunk is added in the order of the ring", 10, Order},
           {"memory", "room for two chunks at most", 5, PeakMemory},
           {"leak", "nothing is kept from call to call", 5, Leak}}};
}

}  // namespace torus::tools::labs
