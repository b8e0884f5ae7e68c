// Torus is built for x86-64-v3. On an older processor the first AVX2 instruction, perhaps in a
// static initialiser, would end the program with SIGILL and no message. This check runs before all
// initialisers, including those of shared libraries, and says what is missing. Only this file is
// built for any x86-64; it calls nothing but write and _exit.
#if defined(__x86_64__)

#include <cpuid.h>
#include <unistd.h>

namespace {

#define TORUS_BARE __attribute__((no_sanitize("address", "thread", "undefined")))

struct Feature {
  const char* name;
  unsigned leaf, which;  // CPUID leaf; register 0..3 = eax, ebx, ecx, edx
  unsigned bit;
};

// What x86-64-v3 adds (System V ABI for AMD64, table 3.1), and that the system saves the wide
// registers.
constexpr Feature kNeeded[] = {
    {"SSE4.2", 1, 2, bit_SSE4_2}, {"AVX", 1, 2, bit_AVX},
    {"AVX2", 7, 1, bit_AVX2},     {"FMA", 1, 2, bit_FMA},
    {"BMI1", 7, 1, bit_BMI},      {"BMI2", 7, 1, bit_BMI2},
    {"F16C", 1, 2, bit_F16C},     {"LZCNT", 0x80000001, 2, bit_LZCNT},
    {"MOVBE", 1, 2, bit_MOVBE},   {"OSXSAVE", 1, 2, bit_OSXSAVE},
};

TORUS_BARE bool Has(const Feature& feature) {
  unsigned r[4] = {};
  return __get_cpuid_count(feature.leaf, 0, &r[0], &r[1], &r[2], &r[3]) != 0 &&
         (r[feature.which] & feature.bit) != 0;
}

// XCR0 bits 1 and 2: the system saves SSE and AVX registers. Call it only if OSXSAVE is set.
TORUS_BARE bool SystemSavesAvx() {
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & 6u) == 6u;
}

// A line of output, built without the C library.
struct Line {
  char text[400];
  unsigned length = 0;
  TORUS_BARE void Add(const char* part) {
    while (*part != 0 && length < sizeof(text)) text[length++] = *part++;
  }
};

TORUS_BARE void CheckVectorFloor() {
  Line line;
  line.Add(
      "torus: this processor is too old: x86-64-v3 (AVX2, FMA; Intel since 2013, AMD since 2015)"
      " is needed, it lacks");
  const unsigned none = line.length;
  for (const Feature& feature : kNeeded) {
    if (Has(feature)) continue;
    line.Add(" ");
    line.Add(feature.name);
  }
  if (line.length == none) {
    if (SystemSavesAvx()) return;
    line.Add(" AVX registers saved by the operating system");
  }
  line.Add("\n");
  if (::write(2, line.text, line.length) < 0) ::_exit(2);
  ::_exit(1);
}

#ifndef TORUS_IN_LIBRARY
// The loader runs .preinit_array of the program before the initialisers of every library and of the
// program.
__attribute__((section(".preinit_array"), used)) void (*const kCheckFirst)() = CheckVectorFloor;
#endif

}  // namespace

#ifdef TORUS_IN_LIBRARY
// A shared library has no .preinit_array: before its own other initialisers.
extern "C" __attribute__((constructor(101))) TORUS_BARE void TorusChecksProcessor() {
  CheckVectorFloor();
}
#endif

#endif
