// A codec that keeps what it is given and what it restores.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "parallel/codec/make_codec.h"

namespace torus::recipes::testing {

using Values = std::vector<float>;

// Of all ranks, by step, micro-batch and stream, which says link, direction and tensor.
struct CodecLog {
  using Key = std::tuple<int64_t, int64_t, uint64_t>;
  std::mutex mutex;
  std::map<Key, std::vector<Values>> given, restored;

  void Add(std::map<Key, std::vector<Values>>& to, const parallel::CodecContext& context,
           std::span<const float> values) {
    if (!context.training) return;
    const std::lock_guard lock(mutex);
    to[{context.step, context.micro_batch, context.stream}].emplace_back(values.begin(),
                                                                         values.end());
  }
};

class RecordingCodec : public parallel::ContextCodec {
 public:
  RecordingCodec(const std::string& name, std::shared_ptr<CodecLog> log)
      : inner_(parallel::MakeCodec(name)), log_(std::move(log)) {}
  std::string name() const override { return inner_->name(); }
  size_t MaxTensorBytes(const Shape& shape) const override { return inner_->MaxTensorBytes(shape); }
  size_t EncodeTensor(const parallel::CodecContext& context, std::span<const float> in,
                      std::span<std::byte> out) override {
    log_->Add(log_->given, context, in);
    return inner_->EncodeTensor(context, in, out);
  }
  void DecodeTensor(const parallel::CodecContext& context, std::span<const std::byte> in,
                    std::span<float> out) override {
    inner_->DecodeTensor(context, in, out);
    log_->Add(log_->restored, context, out);
  }
  bool is_stateful() const override { return inner_->is_stateful(); }
  bool decodes_from_memory() const override { return inner_->decodes_from_memory(); }

 private:
  std::unique_ptr<parallel::Codec> inner_;
  std::shared_ptr<CodecLog> log_;
};

}  // namespace torus::recipes::testing
