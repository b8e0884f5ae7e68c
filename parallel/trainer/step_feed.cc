#include "parallel/trainer/step_feed.h"

#include <utility>
#include <vector>

namespace torus::parallel {
namespace {

void CopyAll(Uploader& uploader, std::vector<Tensor>& tensors) {
  for (Tensor& tensor : tensors)
    if (tensor.defined()) tensor = uploader.Copy(tensor);
}

}  // namespace

void StepFeed::Open(Fetch fetch, int64_t end) {
  fetch_ = std::move(fetch);
  end_ = end;
  ahead_.reset();
}

MiniBatch StepFeed::FetchAndUpload(int64_t step) {
  MiniBatch batch = fetch_(step);
  if (!uploader_) return batch;
  uploader_->Begin();
  for (MicroBatch& part : batch.micro_batches) {
    CopyAll(*uploader_, part.inputs);
    CopyAll(*uploader_, part.targets);
  }
  return batch;
}

MiniBatch StepFeed::Take(int64_t step) {
  if (ahead_ && ahead_->step != step) ahead_.reset();
  std::optional<Ahead> ahead = std::exchange(ahead_, std::nullopt);
  if (ahead && ahead->failure) std::rethrow_exception(ahead->failure);
  MiniBatch batch = ahead ? std::move(ahead->batch) : FetchAndUpload(step);
  if (uploader_) uploader_->Await();
  for (MicroBatch& part : batch.micro_batches)
    if (const auto prepare = std::exchange(part.prepare, nullptr)) prepare(part.inputs);
  return batch;
}

void StepFeed::Release() {
  if (uploader_) uploader_->Release();
}

void StepFeed::FetchAhead(int64_t step) noexcept {
  if (!uploader_ || step >= end_ || (ahead_ && ahead_->step == step)) return;
  ahead_.emplace();
  ahead_->step = step;
  try {
    ahead_->batch = FetchAndUpload(step);
  } catch (...) {
    ahead_->failure = std::current_exception();
  }
}

}  // namespace torus::parallel
