// Small work on a GPU that many layers have, put off until one launch does it for all of them.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace torus {

// While one exists, ops of this thread may put off work of which nothing depends before Finish. An
// innermost one takes precedence.
class BatchedWork {
 public:
  BatchedWork();
  ~BatchedWork();  // drops what Finish has not done
  BatchedWork(const BatchedWork&) = delete;
  BatchedWork& operator=(const BatchedWork&) = delete;

  // The innermost one of this thread; null if there is none.
  static BatchedWork* Here();

  // Does all that was put off.
  void Finish();

  // Finish will call run(items) once with all items that were put off for this `run`, in order.
  template <class Item>
  void PutOff(void (*run)(std::vector<Item>&), Item item) {
    std::unique_ptr<Batch>& batch = batches_[reinterpret_cast<void (*)()>(run)];
    if (batch == nullptr) batch = std::make_unique<BatchOf<Item>>(run);
    static_cast<BatchOf<Item>&>(*batch).items.push_back(std::move(item));
  }

 private:
  struct Batch {
    virtual ~Batch() = default;
    virtual void Run() = 0;
  };
  template <class Item>
  struct BatchOf : Batch {
    explicit BatchOf(void (*run)(std::vector<Item>&)) : run(run) {}
    void Run() override { run(items); }
    void (*run)(std::vector<Item>&);
    std::vector<Item> items;
  };

  BatchedWork* outer_;
  std::map<void (*)(), std::unique_ptr<Batch>> batches_;  // by what runs them
};

}  // namespace torus
