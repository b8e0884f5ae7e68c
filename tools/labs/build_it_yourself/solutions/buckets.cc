// Lab "buckets", solved.
#include <algorithm>
#include <vector>

#include "lab_buckets.h"

namespace lab {
namespace {

struct Bucket {
  size_t begin = 0, end = 0;  // parameters [begin, end)
  size_t elements = 0;
  std::vector<float> data = {};
  int sum = 0;  // its number, once started
};

class Overlapped : public Buckets {
 public:
  Overlapped(std::span<const std::span<float>> gradients, size_t bucket_bytes, Sums& sums)
      : gradients_(gradients), sums_(sums), at_(gradients.size()) {
    for (size_t p = gradients.size(); p-- > 0;) {
      const size_t more = gradients[p].size();
      if (buckets_.empty() || (buckets_.back().elements + more) * sizeof(float) > bucket_bytes)
        buckets_.push_back({p, p + 1});
      Bucket& bucket = buckets_.back();
      bucket.begin = p;
      at_[p] = bucket.elements;
      bucket.elements += more;
    }
    for (Bucket& bucket : buckets_) bucket.data.resize(bucket.elements);
  }

  void GradientIsReady(size_t parameter) override {
    while (parameter < buckets_[next_].begin) Start();
    Bucket& bucket = buckets_[next_];
    const auto at = bucket.data.begin() + static_cast<ptrdiff_t>(at_[parameter]);
    std::ranges::copy(gradients_[parameter], at);
    if (parameter == bucket.begin) Start();
  }

  void Finish() override {
    while (next_ < buckets_.size()) Start();
    for (Bucket& bucket : buckets_) {
      sums_.Wait(bucket.sum);
      WriteBack(bucket);
      std::ranges::fill(bucket.data, 0.0F);  // what does not come in the next step
    }
    next_ = 0;
  }

 private:
  void Start() {
    Bucket& bucket = buckets_[next_++];
    bucket.sum = sums_.Start(bucket.data);
  }

  void WriteBack(const Bucket& bucket) {
    const float ranks = static_cast<float>(sums_.ranks());
    for (size_t p = bucket.begin; p < bucket.end; ++p)
      for (size_t i = 0; i < gradients_[p].size(); ++i)
        gradients_[p][i] = bucket.data[at_[p] + i] / ranks;
  }

  const std::span<const std::span<float>> gradients_;
  Sums& sums_;
  std::vector<size_t> at_;  // where each parameter's gradient begins in its bucket
  std::vector<Bucket> buckets_;
  size_t next_ = 0;  // the next bucket whose sum is to start
};

}  // namespace

std::unique_ptr<Buckets> MakeBuckets(std::span<const std::span<float>> gradients,
                                     size_t bucket_bytes, Sums& sums) {
  return std::make_unique<Overlapped>(gradients, bucket_bytes, sums);
}

}  // namespace lab
