// Compiled together with a student's ring into the shared object that the trainer loads
// (tools/labs/train_with). No exception crosses this interface in either direction.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "lab_ring.h"
#include "lab_trainer_door.h"

namespace {

struct Stopped {};

class Door : public lab::Wire {
 public:
  explicit Door(const LabTrainerWire& trainer) : trainer_(trainer) {}
  int rank() const override { return trainer_.rank; }
  int size() const override { return trainer_.size; }
  void Send(int to, std::span<const float> data) override {
    if (trainer_.send(trainer_.trainer, to, data.data(), data.size()) != 0) throw Stopped();
  }
  void Recv(int from, std::span<float> data) override {
    if (trainer_.recv(trainer_.trainer, from, data.data(), data.size()) != 0) throw Stopped();
  }

 private:
  const LabTrainerWire trainer_;
};

}  // namespace

// These end a program without the functions that exit calls, by which the trainer says whose code
// it was. Linked with -Bsymbolic-functions, so that the student's file calls them and nobody else.
extern "C" {
void _exit(int status) { std::exit(status); }
void _Exit(int status) noexcept { std::exit(status); }
void quick_exit(int status) noexcept { std::exit(status); }
}

extern "C" int LabRingAllReduceMean(const LabTrainerWire* wire, float* data, size_t count,
                                    char* reason, size_t room) {
  Door door(*wire);
  try {
    lab::AllReduceMean(door, {data, count});
    return kLabRingDone;
  } catch (const Stopped&) {
    return kLabRingStopped;
  } catch (const std::exception& error) {
    std::snprintf(reason, room, "%s", error.what());
  } catch (...) {
    std::snprintf(reason, room, "one that is no std::exception");
  }
  return kLabRingThrew;
}
