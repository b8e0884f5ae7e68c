#include "tools/labs/train_with/crash_note.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
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
// For a handler where the thread's own stack is used up.
thread_local std::array<char, 16384> stack;

void Write(const char* text) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text, std::strlen(text));
}

[[noreturn]] void End(const char* what) {
  note.set = false;
  Write(note.who.data());
  Write(" ");
  Write(what);
  Write("\n");
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

void OnExit() {
  if (note.set) End("has ended the program by a call of exit");
}

}  // namespace

void SayWhoCrashes() {
  struct sigaction action = {};
  action.sa_handler = OnFatal;
  action.sa_flags = SA_ONSTACK | SA_NODEFER;
  for (const auto& [number, what] : kFatal) sigaction(number, &action, nullptr);
  std::atexit(OnExit);
}

CrashNote::CrashNote(const std::string& who) {
  const size_t length = std::min(who.size(), note.who.size() - 1);
  std::copy_n(who.data(), length, note.who.data());
  note.who[length] = '\0';
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
