#include <algorithm>
#include <string>

#include "ops/loss/class_rows.h"
#include "ops/loss/kernels.h"
#include "runtime/cuda/elements.h"
#include "runtime/gpu_graph.h"
//
#include "runtime/cuda/column_sums.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/safe_values.h"

namespace torus::cuda {
namespace {

constexpr int64_t kPart = 64;  // targets, or counts, per thread

ops::ClassRows RowsOf(const ops::ClassTargets& targets, int64_t classes) {
  return {Elements<int64_t>(targets.numbers), targets.ignore_index, classes};
}

// The smallest position of a wrong target.
struct FindWrong {
  ops::ClassRows rows;
  int64_t* first;
  __device__ void operator()(int64_t i) const {
    if (!rows.IsRight(i)) atomicMin(reinterpret_cast<long long*>(first), static_cast<long long>(i));
  }
};

struct CountsOne {
  ops::ClassRows rows;
  __device__ int64_t operator()(int64_t at, int64_t) const { return rows.Counts(at) ? 1 : 0; }
};

// Rounded where a T has not all numbers of that size.
template <class T>
void Count(const ops::ClassTargets& targets, T* out, StreamHandle stream) {
  const Tensor& numbers = targets.numbers;
  SumColumns("count_targets", 1, numbers.numel(), 1, CountsOne{RowsOf(targets, 0)}, 1, out,
             numbers.device(), stream);
}

// out[p] = the sum of load over part p of `count` indices.
template <class Load>
struct SumPart {
  Load load;
  int64_t count;
  int64_t* out;
  __device__ void operator()(int64_t part) const {
    const int64_t last = (part + 1) * kPart < count ? (part + 1) * kPart : count;
    int64_t sum = 0;
    for (int64_t i = part * kPart; i < last; ++i) sum += load(i, 0);
    out[part] = sum;
  }
};

// values[i] becomes the sum of the values before it, plus `before` of its part unless null.
struct StartPart {
  int64_t* values;
  int64_t count;
  const int64_t* before;
  __device__ void operator()(int64_t part) const {
    const int64_t last = (part + 1) * kPart < count ? (part + 1) * kPart : count;
    int64_t sum = before == nullptr ? 0 : before[part];
    for (int64_t i = part * kPart; i < last; ++i) {
      const int64_t value = values[i];
      values[i] = sum;
      sum += value;
    }
  }
};

// Exclusive prefix sum, recursive over parts.
void SumBefore(Tensor& values, StreamHandle stream) {
  const int64_t count = values.numel(), parts = SumParts(count, kPart);
  int64_t* const p = MutableElements<int64_t>(values);
  Tensor sums;
  if (parts > 1) {
    sums = Tensor({parts}, DType::kI64, values.device());
    ForEach("find_counted", parts, stream,
            SumPart<LoadFrom<int64_t>>{{p}, count, MutableElements<int64_t>(sums)});
    SumBefore(sums, stream);
  }
  ForEach("find_counted", parts, stream,
          StartPart{p, count, parts > 1 ? Elements<int64_t>(sums) : nullptr});
}

// At most `most`, whatever their number: a captured graph assumes it (runtime/gpu_graph.h).
struct WritePart {
  ops::ClassRows rows;
  int64_t count, most;
  const int64_t* start;  // of each part's, in the results
  int64_t *place, *number;
  __device__ void operator()(int64_t part) const {
    const int64_t last = (part + 1) * kPart < count ? (part + 1) * kPart : count;
    int64_t to = start[part];
    for (int64_t i = part * kPart; i < last; ++i) {
      if (!rows.Counts(i) || to >= most) continue;
      place[to] = i;
      number[to++] = rows.target[i];
    }
  }
};

struct IsTarget {
  int64_t classes, ignored;
  __device__ bool operator()(int64_t target) const {
    return target == ignored || (target >= 0 && target < classes);
  }
};

void CheckNow(std::string_view op, const ops::ClassTargets& targets, int64_t classes,
              StreamHandle stream) {
  const int64_t count = targets.numbers.numel();
  Tensor first = Full({1}, static_cast<double>(count), DType::kI64, targets.numbers.device());
  ForEach(op, count, stream, FindWrong{RowsOf(targets, classes), MutableElements<int64_t>(first)});
  const int64_t at = ToVector<int64_t>(first)[0];
  if (at >= count) return;
  const Tensor wrong = targets.numbers.View({count}).Narrow(0, at, 1);
  ops::FailTarget(op, ToVector<int64_t>(wrong)[0], at, classes, targets.ignore_index);
}

}  // namespace

void CheckClasses(std::string_view op, int64_t classes, ops::ClassTargets& targets) {
  const StreamHandle stream = CurrentStream(targets.numbers.device());
  if (targets.numbers.numel() == 0) return;
  DeferredChecks* const later = DeferredChecks::Here(targets.numbers.device());
  if (later == nullptr) return CheckNow(op, targets, classes, stream);
  const int64_t ignored = targets.ignore_index;
  const auto fail = [name = std::string(op), classes, ignored](int64_t at, int64_t target) {
    ops::FailTarget(name, target, at, classes, ignored);
  };
  targets.numbers =
      SafeValues(op, targets.numbers, ignored, IsTarget{classes, ignored}, *later, fail, stream);
}

void CountTargets(const ops::ClassTargets& targets, int64_t& count) {
  Tensor number({1}, DType::kI64, targets.numbers.device());
  Count(targets, MutableElements<int64_t>(number), CurrentStream(number.device()));
  count = ReadNumber(number);
}

void CountTargets(const ops::ClassTargets& targets, Tensor& count) {
  VisitCompute("count_targets", count.dtype(), [&]<class T>(ComputeType<T>) {
    Count(targets, MutableElements<T>(count), CurrentStream(count.device()));
  });
}

void FindCounted(const ops::ClassTargets& targets, ops::CountedTargets& counted) {
  const StreamHandle stream = CurrentStream(counted.places.device());
  const int64_t count = targets.numbers.numel();
  if (count == 0) return;
  const ops::ClassRows rows = RowsOf(targets, 0);
  Tensor starts({SumParts(count, kPart)}, DType::kI64, targets.numbers.device());
  ForEach("find_counted", starts.numel(), stream,
          SumPart<CountsOne>{{rows}, count, MutableElements<int64_t>(starts)});
  SumBefore(starts, stream);
  ForEach("find_counted", starts.numel(), stream,
          WritePart{rows, count, counted.places.numel(), Elements<int64_t>(starts),
                    MutableElements<int64_t>(counted.places),
                    MutableElements<int64_t>(counted.numbers)});
}

}  // namespace torus::cuda
