// DryRun: a forward that is run to learn the shapes and dtypes of its outputs.
#pragma once

namespace torus {

namespace internal {
inline thread_local bool dry_run = false;
}

inline bool InDryRun() { return internal::dry_run; }

// While one lives, matrix products and convolutions called on this thread sum over nothing, so that
// a forward costs little. Its outputs have their shapes and dtypes, and values that mean nothing.
class DryRun {
 public:
  DryRun() : before_(internal::dry_run) { internal::dry_run = true; }
  ~DryRun() { internal::dry_run = before_; }
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

 private:
  bool before_;
};

}  // namespace torus
