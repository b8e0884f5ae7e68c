// The tests of the lab "autograd", against the same formulas in double precision. Tolerances count
// roundings: a sum of n float32 terms is off by at most n 2^-24 of the sum of their sizes; twice
// that is allowed, with a few more for what is done to the sum.
#include <algorithm>
#include <cmath>

#include "tools/labs/build_it_yourself/grader/exercises.h"
#include "tools/labs/build_it_yourself/grader/layer_norm.h"

namespace torus::tools::labs {
namespace {

NormInput MakeInput(Dice& dice, size_t rows, size_t width) {
  NormInput in{width, rows};
  in.x = dice.Normals(rows * width);
  for (size_t row = 0; row < rows; ++row) {
    const float scale = row % 2 == 0 ? 1 : 1e-3F, shift = row % 2 == 0 ? dice.Normal() : 0;
    for (size_t i = 0; i < width; ++i) {
      float& x = in.x[row * width + i];
      x = scale * x + shift;
    }
  }
  in.gamma = dice.Normals(width);
  in.beta = dice.Normals(width);
  in.dy = dice.Normals(rows * width);
  in.dx.resize(rows * width);
  in.dgamma.resize(width);
  in.dbeta.resize(width);
  return in;
}

NormInput SomeInput(Bench& bench) {
  return MakeInput(bench.dice, static_cast<size_t>(bench.dice.Between(5, 20)),
                   static_cast<size_t>(bench.dice.Between(20, 60)));
}

struct How {
  bool spoil = false, second = false;
  int backwards = 1, wanted = 7, calls = 1;
};

RankRecord Run(Bench& bench, const NormInput& in, How how = {}) {
  RankTask task{{static_cast<int64_t>(in.width), static_cast<int64_t>(in.rows), how.spoil,
                 how.second, how.backwards, how.wanted, how.calls},
                {}};
  for (const auto* part : {&in.x, &in.gamma, &in.beta, &in.dy, &in.dx, &in.dgamma, &in.dbeta})
    task.values.insert(task.values.end(), part->begin(), part->end());
  return bench.Run({task}, {2 * in.x.size() + 2 * in.width})[0];
}

// A part of the result against what is expected there.
void ExpectPart(const char* what, const RankRecord& record, size_t begin,
                const std::vector<double>& want, const std::vector<double>& tolerance,
                const std::function<std::string()>& diagnosis) {
  for (size_t i = 0; i < want.size(); ++i) {
    const double got = record.result.at(begin + i);
    if (std::abs(got - want[i]) <= tolerance[i]) continue;
    throw TestFailed{fmt::format("{} {} is {} and should be {}, give or take {:.2g}{}", what, i,
                                 got, want[i], tolerance[i], diagnosis())};
  }
}

void ExpectForward(const NormInput& in, const RankRecord& record) {
  const NormOutput want = LayerNormInDouble(in);
  ExpectPart("y", record, 0, want.y, want.y_tolerance, [&] {
    for (const NormVariant variant : {NormVariant::kUnbiased, NormVariant::kEpsilonOutside})
      if (IsNear(record.result, 0, LayerNormInDouble(in, variant).y, want.y_tolerance))
        return TextOf(variant);
    return std::string();
  });
}

void ExpectInputGradient(const NormInput& in, const RankRecord& record, double times = 1) {
  const NormOutput want = LayerNormInDouble(in, NormVariant::kRight, times);
  const size_t at = in.x.size();
  ExpectPart("the gradient by x,", record, at, want.dx, want.dx_tolerance, [&] {
    for (const NormVariant variant : {NormVariant::kNoMean, NormVariant::kNoProduct})
      if (IsNear(record.result, at, LayerNormInDouble(in, variant, times).dx, want.dx_tolerance))
        return TextOf(variant);
    return std::string();
  });
}

void ExpectGammaGradient(const NormInput& in, const RankRecord& record, double times = 1) {
  const NormOutput want = LayerNormInDouble(in, NormVariant::kRight, times);
  ExpectPart("the gradient by gamma,", record, 2 * in.x.size(), want.dgamma, want.dgamma_tolerance,
             [] { return std::string(); });
}

void ExpectBetaGradient(const NormInput& in, const RankRecord& record, double times = 1) {
  const NormOutput want = LayerNormInDouble(in, NormVariant::kRight, times);
  ExpectPart("the gradient by beta,", record, 2 * in.x.size() + in.width, want.dbeta,
             want.dbeta_tolerance, [] { return std::string(); });
}

void ExpectWeightGradients(const NormInput& in, const RankRecord& record, double times = 1) {
  ExpectGammaGradient(in, record, times);
  ExpectBetaGradient(in, record, times);
}

void ExpectAll(const NormInput& in, const RankRecord& record, double times = 1) {
  ExpectForward(in, record);
  ExpectInputGradient(in, record, times);
  ExpectWeightGradients(in, record, times);
}

void Forward(Bench& bench) {
  const NormInput in = SomeInput(bench);
  ExpectForward(in, Run(bench, in));
}

void LargeMean(Bench& bench) {
  NormInput in = MakeInput(bench.dice, 8, 64);
  for (size_t i = 0; i < in.x.size(); ++i) in.x[i] = bench.dice.Normal() + 4000;
  ExpectForward(in, Run(bench, in));
}

void InputGradient(Bench& bench) {
  const NormInput in = SomeInput(bench);
  ExpectInputGradient(in, Run(bench, in));
}

void WeightGradients(Bench& bench) {
  const NormInput in = SomeInput(bench);
  ExpectWeightGradients(in, Run(bench, in));
}

void Adds(Bench& bench) {
  NormInput in = SomeInput(bench);
  in.dx = bench.dice.Normals(in.dx.size());
  in.dgamma = bench.dice.Normals(in.width);
  in.dbeta = bench.dice.Normals(in.width);
  ExpectAll(in, Run(bench, in));
}

void Wanted(Bench& bench) {
  for (int wanted = 0; wanted < 8; ++wanted) {
    const NormInput in = SomeInput(bench);
    const RankRecord record = Run(bench, in, {.wanted = wanted});
    ExpectForward(in, record);
    if (wanted & 1) ExpectInputGradient(in, record);
    if (wanted & 2) ExpectGammaGradient(in, record);
    if (wanted & 4) ExpectBetaGradient(in, record);
  }
}

void OwnData(Bench& bench) {
  const NormInput in = SomeInput(bench);
  const RankRecord record = Run(bench, in, {.spoil = true});
  for (size_t i = in.x.size(); i < record.result.size(); ++i)
    Expect(!std::isnan(record.result[i]),
           "a gradient is NaN: the backward reads x, gamma, beta or y, which have been changed "
           "since the forward");
  ExpectAll(in, record);
}

void Several(Bench& bench) {
  const NormInput in = SomeInput(bench);
  ExpectAll(in, Run(bench, in, {.second = true, .backwards = 2}), 2);
}

void Shapes(Bench& bench) {
  for (const auto& [rows, width] : {std::pair<size_t, size_t>{0, 7}, {1, 20}, {9, 1}}) {
    const NormInput in = MakeInput(bench.dice, rows, width);
    ExpectAll(in, Run(bench, in));
  }
}

void Memory(Bench& bench) {
  const NormInput in = MakeInput(bench.dice, 200, 100);
  const RankRecord record = Run(bench, in);
  ExpectAll(in, record);
  const double most = 4.0 * static_cast<double>(in.x.size() + in.width + 2 * in.rows) + 1024;
  Expect(record.facts.at("held") <= most,
         "a backward keeps {} bytes; allowed are those of x and gamma, two numbers a row, and "
         "1024: {}",
         record.facts.at("held"), most);
}

void Leak(Bench& bench) {
  const NormInput in = SomeInput(bench);
  const RankRecord record = Run(bench, in, {.calls = 5});
  ExpectAll(in, record);
  Expect(record.facts.at("kept") <= 0,
         "leak: from the first call to the last of 5 {} bytes more are kept, though the "
         "backwards are gone",
         record.facts.at("kept"));
}

}  // namespace

Exercise AutogradExercise() {
  return {"autograd",
          "autograd",
          "an op with its gradient: layer normalization",
          {{"forward", "y", 15, Forward},
           {"large-mean", "y where the mean is far larger than the deviation", 10, LargeMean},
           {"input", "the gradient by x", 15, InputGradient},
           {"weights", "the gradients by gamma and beta", 10, WeightGradients},
           {"adds", "gradients are added to what is there", 10, Adds},
           {"wanted", "gradients that are not wanted are left out", 10, Wanted},
           {"own-data", "the backward runs when x, gamma, beta and y are gone", 10, OwnData},
           {"several", "two alive at once, one running twice", 5, Several},
           {"shapes", "no row, one row, one column", 5, Shapes},
           {"memory", "a backward keeps no more than x, gamma and two numbers a row", 5, Memory},
           {"leak", "nothing is kept when the backward is gone", 5, Leak}}};
}

}  // namespace torus::tools::labs
