// The tests of the lab "sortq".
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tools/labs/build_it_yourself/grader/exercises.h"

namespace torus::tools::labs {
namespace {

struct Form {
  explicit Form(int b) : bits(b), q(b - b / 4), buckets(size_t{1} << (b / 4)) {}
  size_t Begin(size_t n, size_t k) const { return n * k / buckets; }
  double LastPoint() const { return std::ldexp(1.0, q) - 1; }
  size_t Bytes(size_t n) const { return 8 * buckets + (n * static_cast<size_t>(bits) + 7) / 8; }
  int bits, q;
  size_t buckets;
};

// The place of a value: its bucket, or several if equal values lie on both sides of a cut; and the
// largest step of these.
struct Place {
  size_t bucket = 0;
  double step = 0;
};

std::vector<Place> PlacesOf(const Form& form, const std::vector<float>& values) {
  const size_t n = values.size();
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return values[i]; });
  std::vector<Place> sorted(n), places(n);
  for (size_t k = 0; k < form.buckets; ++k)
    for (size_t r = form.Begin(n, k); r < form.Begin(n, k + 1); ++r) {
      const double least = values[order[form.Begin(n, k)]];
      const double greatest = values[order[form.Begin(n, k + 1) - 1]];
      sorted[r] = {k, (greatest - least) / form.LastPoint()};
    }
  for (size_t begin = 0, end; begin < n; begin = end) {
    double widest = 0;
    for (end = begin; end < n && values[order[end]] == values[order[begin]]; ++end)
      widest = std::max(widest, sorted[end].step);
    for (size_t r = begin; r < end; ++r) places[order[r]] = {sorted[r].bucket, widest};
  }
  return places;
}

double UlpOf(float value) {
  const float size = std::abs(value);
  return static_cast<double>(size) - std::nextafter(size, -std::numeric_limits<float>::infinity());
}

// Half a step, three roundings of numbers as large as the bucket is wide, and one of the value.
double BoundOf(const Form& form, const Place& place, float value) {
  return place.step * (0.5 + std::ldexp(3, form.q - 24)) + UlpOf(value);
}

std::string Diagnosis(const Form& form, const std::vector<float>& values, const Place& place,
                      double error) {
  const auto [least, greatest] = std::ranges::minmax(values);
  const double whole = (static_cast<double>(greatest) - least) / form.LastPoint();
  if (std::isnan(error)) return "; is a step of 0 divided by?";
  if (error <= place.step * 1.001) return "; it is within a whole step: are points rounded down?";
  if (error <= whole * 0.501) return "; so would points be that are spread over the whole range";
  return "";
}

struct Sent {
  size_t bytes = 0;
  std::vector<RankRecord> ranks;
};

Sent Send(Bench& bench, const std::vector<float>& values, int bits, int calls = 1) {
  const int64_t count = static_cast<int64_t>(values.size());
  Sent sent;
  sent.ranks =
      bench.Run({{{bits, count, calls}, values}, {{bits, count, calls}, {}}}, {0, values.size()});
  sent.bytes = static_cast<size_t>(sent.ranks[0].facts.at("bytes"));
  return sent;
}

Sent SendAndCheck(Bench& bench, const std::vector<float>& values, int bits, int calls = 1) {
  const Form form(bits);
  Sent sent = Send(bench, values, bits, calls);
  if (values.empty()) return sent;
  Expect(sent.bytes > 0, "Encode returned no bytes for {} finite values", values.size());
  const std::vector<float>& back = sent.ranks[1].result;
  const std::vector<Place> places = PlacesOf(form, values);
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(static_cast<double>(back.at(i)) - values[i]);
    const double bound = BoundOf(form, places[i], values[i]);
    if (error <= bound) continue;  // a diagnosis reads all values, so only a failure has one
    throw TestFailed{fmt::format(
        "{} bits, {} values: value {}, of bucket {}, is {} and came back as {}, off by {:.3g}; "
        "half a step of its bucket is {:.3g}{}",
        bits, values.size(), i, places[i].bucket, values[i], back[i], error, places[i].step / 2,
        Diagnosis(form, values, places[i], error))};
  }
  return sent;
}

size_t SomeCount(Bench& bench) { return static_cast<size_t>(bench.dice.Between(2000, 4000)); }

void Normal(Bench& bench) { SendAndCheck(bench, bench.dice.Normals(SomeCount(bench)), 8); }

void Widths(Bench& bench) {
  for (const int bits : {4, 12, 16})
    SendAndCheck(bench, bench.dice.Normals(SomeCount(bench)), bits);
}

void HeavyTail(Bench& bench) {
  std::vector<float> values = bench.dice.Normals(SomeCount(bench));
  for (float& value : values) value = value * value * value * value * value;
  SendAndCheck(bench, values, 8);
}

void Ties(Bench& bench) {
  SendAndCheck(bench, std::vector<float>(777, bench.dice.Normal()), 8);
  std::vector<float> values = bench.dice.Normals(SomeCount(bench));
  for (float& value : values) value = std::max(value, 0.0F);  // half of them zeros, as a ReLU does
  SendAndCheck(bench, values, 8);
  for (float& value : values) value = static_cast<float>(bench.dice.Between(0, 2));
  SendAndCheck(bench, values, 8);
}

void Few(Bench& bench) {
  for (size_t count = 0; count < 6; ++count)
    for (const int bits : {4, 16}) SendAndCheck(bench, bench.dice.Normals(count), bits);
}

void Large(Bench& bench) {
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i)
    values.push_back(static_cast<float>((2 * bench.dice.Uniform() - 1) * 3.4e38));
  SendAndCheck(bench, values, 4);
}

void NotFinite(Bench& bench) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float bad : {kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()}) {
    std::vector<float> values = bench.dice.Normals(1000);
    SendAndCheck(bench, values, 8);
    values[static_cast<size_t>(bench.dice.Between(0, 999))] = bad;
    const size_t bytes = Send(bench, values, 8).bytes;
    Expect(bytes == 0, "a value of 1000 is {}, and Encode returned {} bytes instead of none", bad,
           bytes);
  }
}

void Bytes(Bench& bench) {
  for (const int bits : {4, 8, 12, 16}) {
    const std::vector<float> values = bench.dice.Normals(SomeCount(bench));
    const size_t bytes = SendAndCheck(bench, values, bits).bytes,
                 most = Form(bits).Bytes(values.size());
    Expect(bytes <= most,
           "{} values in {} bits each are {} bytes; allowed are {}: 8 for each of {} buckets, and "
           "the codes packed bit to bit",
           values.size(), bits, bytes, most, Form(bits).buckets);
  }
}

void Memory(Bench& bench) {
  const std::vector<float> values = bench.dice.Normals(50000);
  const Sent sent = SendAndCheck(bench, values, 8);
  const double most = 4.0 * 4 * 50000;
  for (int rank = 0; rank < 2; ++rank)
    Expect(sent.ranks[rank].facts.at("peak") <= most,
           "{} needed {} bytes for values of {}; allowed are {}", rank == 0 ? "Encode" : "Decode",
           sent.ranks[rank].facts.at("peak"), 4 * 50000, most);
}

void Leak(Bench& bench) {
  const Sent sent = SendAndCheck(bench, bench.dice.Normals(5000), 8, 5);
  for (int rank = 0; rank < 2; ++rank)
    Expect(sent.ranks[rank].facts.at("kept") <= 0,
           "leak: from the first call to the last of 5 {} kept {} bytes more",
           rank == 0 ? "Encode" : "Decode", sent.ranks[rank].facts.at("kept"));
}

}  // namespace

Exercise SortqExercise() {
  return {"sortq",
          "sortq",
          "sort quantization",
          {{"normal", "normal values in 8 bits, within half a step", 15, Normal},
           {"widths", "in 4, 12 and 16 bits", 15, Widths},
           {"heavy-tail", "a few values far from all others", 15, HeavyTail},
           {"ties", "equal values: a constant, half zeros, three numbers", 10, Ties},
           {"few-values", "fewer values than buckets, also none", 10, Few},
           {"large", "a range that float32 cannot hold", 5, Large},
           {"not-finite", "infinities and NaN are refused", 5, NotFinite},
           {"bytes", "no more than the buckets and the packed codes", 15, Bytes},
           {"memory", "four times the values at most", 5, Memory},
           {"leak", "nothing is kept from call to call", 5, Leak}}};
}

}  // namespace torus::tools::labs
