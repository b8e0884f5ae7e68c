#include "tools/labs/train_with/crash_note.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace torus::tools::labs {
namespace {

constexpr std::array<std::pair<int, const char*>, 5> kFatal{
    {{SIGSEGV,
      "crashed: signal 11 (it touched memory that is not its own, or has called itself "
      "too deep)"},
     {SIGBUS, "crashed: signal 7 (it touched memory that is not its own)"},
     {SIGFPE, "crashed: signal 8 (it divided an integer by zero)"},
     {SIGILL, "crashed: signal 4 (it came to an instruction that is none)"},
     {SIGABRT, "crashed: signal 6 (its memory is damaged, or it has called abort)"}}};

// What a handler may touch: no memory that has to be allocated.
struct Note {
  bool set = false;
  std::array<char, 512> who;
};
thread_local Note note;
std::atomic<bool> watching = false;  // there is a CrashWatch
// For a handler where the thread's own stack is used up; aligned as any stack.
alignas(16) thread_local std::array<char, 16384> stack;

// Whether a thread has begun to say its line, by which the program ends.
std::atomic_flag told = ATOMIC_FLAG_INIT;

// In one write, so that nothing of another thread gets into it.
[[noreturn]] void End(const char* what) {
  while (told.test_and_set()) pause();
  std::array<char, 1024> line;
  size_t length = 0;
  const std::array<const char*, 4> parts{note.who.data(), " ", what, "\n"};
  for (const char* part : parts) {
    const size_t count = std::min(std::strlen(part), line.size() - length);
    std::memcpy(line.data() + length, part, count);
    length += count;
  }
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), length);
  _exit(1);
}

// Without a note the signal comes again, and ends the program in its own way.
void OnFatal(int signal) {
  if (note.set)
    for (const auto& [number, what] : kFatal)
      if (number == signal) End(what);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void Write(const std::string& who) {
  const size_t length = std::min(who.size(), note.who.size() - 1);
  std::copy_n(who.data(), length, note.who.data());
  note.who[length] = '\0';
}

// A thread without a note is one that the student's code has started: none of the trainer's exits.
void OnExit() {
  if (!watching) return;
  if (!note.set) Write("[ring] a thread that AllReduceMean has started");
  End("has ended the program by a call of exit");
}

// Threads that call exit at once run different ones of its functions, so each thread needs one.
void WatchExit() {
  thread_local bool watched = false;
  if (!std::exchange(watched, true)) std::atexit(OnExit);
}

}  // namespace

CrashWatch::CrashWatch() {
  struct sigaction action = {};
  action.sa_handler = OnFatal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const auto& [number, what] : kFatal) sigaction(number, &action, nullptr);
  watching = true;
}

CrashWatch::~CrashWatch() { watching = false; }

CrashNote::CrashNote(const std::string& who) {
  if (watching) WatchExit();
  Write(who);
  stack_t own = {};
  own.ss_sp = stack.data();
  own.ss_size = stack.size();
  sigaltstack(&own, nullptr);
  note.set = true;
}

CrashNote::~CrashNote() {
  note.set = false;
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

}  // namespace torus::tools::labs
