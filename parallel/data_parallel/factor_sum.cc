#include "parallel/data_parallel/factor_sum.h"

#include <algorithm>
#include <utility>

namespace torus::parallel {
namespace {

std::vector<Shape> ShapesOf(const std::vector<CodedPart>& parts) {
  std::vector<Shape> shapes;
  for (const CodedPart& part : parts) shapes.push_back(part.shape);
  return shapes;
}

// The first message holds each part's P, or the part itself, then `rest`; the second each Q.
class FactorSum : public PendingCollective {
 public:
  FactorSum(Communicator& replicas, const FactorCodec& codec, std::vector<CodedPart> parts,
            std::span<float> rest, const CodecContext& context, std::string what, int lane)
      : replicas_(replicas),
        codec_(codec),
        parts_(std::move(parts)),
        rest_(rest),
        context_(context),
        what_(std::move(what)),
        lane_(lane) {
    const FactorSumSizes sizes = SizesOfFactorSum(codec, ShapesOf(parts_), rest.size());
    first_.resize(static_cast<size_t>(sizes.first));
    second_.resize(static_cast<size_t>(sizes.second));
    Divide();
    BeginFirst();
  }

  bool Advance() override {
    if (done_) return true;
    if (!running_->Advance()) return false;
    if (in_first_) {
      BeginSecond();
      if (!running_->Advance()) return false;
    }
    End();
    return true;
  }

  void Finish() override {
    if (done_) return;
    running_->Finish();
    if (in_first_) {
      BeginSecond();
      running_->Finish();
    }
    End();
  }

 private:
  // The factors of each part; if it is summed uncoded, `p` is the part itself and `q` is empty.
  struct Places {
    std::span<float> p, q;
    bool factors() const { return !q.empty(); }
  };

  void Divide() {
    std::span<float> first(first_), second(second_);
    const auto take = [](std::span<float>& from, size_t count) {
      return std::exchange(from, from.subspan(count)).first(count);
    };
    for (const CodedPart& part : parts_) {
      const FactorCodec::Sizes sizes = codec_.SizesOf(part.shape);
      const size_t p = sizes.pays() ? static_cast<size_t>(sizes.p) : part.values.size();
      places_.push_back({take(first, p), take(second, static_cast<size_t>(sizes.q))});
    }
    behind_ = first;
  }

  CodecContext ContextOf(size_t part) const {
    return parallel::ContextOf(context_, parts_[part], part);
  }

  void BeginFirst() {
    for (size_t i = 0; i < parts_.size(); ++i)
      if (places_[i].factors())
        codec_.MakeP(ContextOf(i), parts_[i].values, places_[i].p);
      else
        std::ranges::copy(parts_[i].values, places_[i].p.begin());
    std::ranges::copy(rest_, behind_.begin());
    running_ = StartSum(first_, what_ + ", first factors");
  }

  std::unique_ptr<PendingCollective> StartSum(std::vector<float>& factors, std::string what) {
    return replicas_.StartAllReduce(BufferOf(std::span(factors)), DType::kF32, std::move(what),
                                    lane_);
  }

  void BeginSecond() {
    in_first_ = false;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (places_[i].factors())
        codec_.MakeQ(ContextOf(i), parts_[i].values, places_[i].p, places_[i].q);
    running_ = StartSum(second_, what_ + ", second factors");
  }

  void End() {
    done_ = true;
    for (size_t i = 0; i < parts_.size(); ++i)
      if (places_[i].factors())
        codec_.Multiply(ContextOf(i), places_[i].p, places_[i].q, parts_[i].values);
      else
        std::ranges::copy(places_[i].p, parts_[i].values.begin());
    std::ranges::copy(behind_, rest_.begin());
  }

  Communicator& replicas_;
  const FactorCodec& codec_;
  const std::vector<CodedPart> parts_;
  const std::span<float> rest_;
  const CodecContext context_;
  const std::string what_;
  const int lane_;
  std::vector<float> first_, second_;
  std::vector<Places> places_;
  std::span<float> behind_;  // the parts in first_
  std::unique_ptr<PendingCollective> running_;
  bool in_first_ = true, done_ = false;
};

}  // namespace

std::unique_ptr<PendingCollective> StartFactorSum(Communicator& replicas, const FactorCodec& codec,
                                                  std::vector<CodedPart> parts,
                                                  std::span<float> rest,
                                                  const CodecContext& context, std::string what,
                                                  int lane) {
  return std::make_unique<FactorSum>(replicas, codec, std::move(parts), rest, context,
                                     std::move(what), lane);
}

FactorSumSizes SizesOfFactorSum(const FactorCodec& codec, const std::vector<Shape>& parts,
                                size_t rest) {
  FactorSumSizes all{static_cast<int64_t>(rest), 0};
  for (const Shape& shape : parts) {
    const FactorCodec::Sizes sizes = codec.SizesOf(shape);
    all.first += sizes.pays() ? sizes.p : Numel(shape);
    all.second += sizes.q;
  }
  return all;
}

}  // namespace torus::parallel
