#include "tools/ledger/instruction.h"

#ifdef __x86_64__

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace torus::ledger {
namespace {

constexpr double kWide = 4;            // on integers of 64 bits, which a GPU computes with two
constexpr double kWideProduct = 8;     // with four
constexpr double kDivision = 40;       // of 32 bits, which a GPU computes with some 20
constexpr double kWideDivision = 160;  // with some 80
constexpr double kFloatDivision = 10;  // or square root: an approximation and steps that refine it

// A code's fields (Intel's manual, volume 2, "Instruction format").
struct Fields {
  int map = 0;     // of opcodes: 0 for those of one byte, 1 after 0f, 2 after 0f 38, 3 after 0f 3a
  int opcode = 0;  // in its map
  bool wide = false;                        // on 64-bit integers
  int base_bit = 0, index_bit = 0;          // the fourth bits of these registers' numbers, in place
  const unsigned char* operands = nullptr;  // the byte behind the opcode

  int mode() const { return operands[0] >> 6; }
  int reg() const { return operands[0] >> 3 & 7; }
  int rm() const { return operands[0] & 7; }
};

const unsigned char* SkipPrefixes(const unsigned char* code) {
  while (*code == 0x66 || *code == 0xf2 || *code == 0xf3 || *code == 0x64) ++code;
  return code;
}

Fields FieldsAt(const unsigned char* code) {
  Fields f;
  code = SkipPrefixes(code);
  if ((*code & 0xf0) == 0x40) {
    f.wide = *code & 8;
    f.index_bit = (*code & 2) << 2;
    f.base_bit = (*code & 1) << 3;
    ++code;
  }
  if (*code == 0xc5) {
    f.map = 1;
    code += 2;
  } else if (*code == 0xc4) {
    f.map = code[1] & 0x1f;
    f.wide = f.map > 1 && code[2] & 0x80 && code[3] >= 0xf0;  // integers', not vectors'
    f.index_bit = code[1] & 0x40 ? 0 : 8;
    f.base_bit = code[1] & 0x20 ? 0 : 8;
    code += 3;
  } else if (*code == 0x0f) {
    ++code;
    f.map = *code == 0x38 ? 2 : *code == 0x3a ? 3 : 1;
    if (f.map > 1) ++code;
  }
  f.opcode = code[0];
  f.operands = code + 1;
  return f;
}

uintptr_t Register(const gregset_t& registers, int number) {
  static constexpr std::array<int, 16> kInOrder{
      REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI,
      REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  return static_cast<uintptr_t>(registers[kInOrder[static_cast<size_t>(number)]]);
}

uintptr_t Displacement(int mode, const unsigned char* at) {
  if (mode == 1) return static_cast<uintptr_t>(static_cast<int8_t>(*at));
  int32_t far = 0;
  if (mode == 2) std::memcpy(&far, at, sizeof far);
  return static_cast<uintptr_t>(far);
}

// Of its operand in memory; 0 for none, and where no register tells.
uintptr_t AddressOf(const Fields& f, const gregset_t& registers) {
  if (f.mode() == 3 || (f.mode() == 0 && f.rm() == 5)) return 0;
  if (f.rm() != 4)
    return Register(registers, f.rm() + f.base_bit) + Displacement(f.mode(), f.operands + 1);
  const int scale = f.operands[1] >> 6, index = (f.operands[1] >> 3 & 7) + f.index_bit;
  const int base = f.operands[1] & 7;
  if (base == 5 && f.mode() == 0) return 0;
  uintptr_t address =
      Register(registers, base + f.base_bit) + Displacement(f.mode(), f.operands + 2);
  if (index != 4) address += Register(registers, index) << scale;
  return address;
}

// In the frames of a kernel and of what it calls: variables, which a GPU has in registers.
bool IsOnStack(const Fields& f, const gregset_t& registers) {
  constexpr uintptr_t kFrames = 1 << 16;
  return AddressOf(f, registers) - static_cast<uintptr_t>(registers[REG_RSP]) < kFrames;
}

bool IsMove(const Fields& f) {
  static constexpr std::array<int, 6> kOneByte{0x88, 0x89, 0x8a, 0x8b, 0xc6, 0xc7};
  static constexpr std::array<int, 13> kVector{0x10, 0x11, 0x12, 0x13, 0x16, 0x17, 0x28,
                                               0x29, 0x6e, 0x6f, 0x7e, 0x7f, 0xd6};
  if (f.map == 0) return std::ranges::find(kOneByte, f.opcode) != kOneByte.end();
  return f.map == 1 && std::ranges::find(kVector, f.opcode) != kVector.end();
}

// The address that an access is told with, to which it adds constants by itself.
bool IsFreeAddress(const Fields& f, const gregset_t& registers) {
  constexpr int kFirstArgument = 7;
  if (f.map != 0 || f.opcode != 0x8d) return false;
  return (f.reg() == kFirstArgument && f.rm() != 4) || IsOnStack(f, registers);
}

// Those that a GPU executes nothing for: moves as above, calls with their arguments, jumps that the
// compiler placed, constants.
bool IsFree(const Fields& f, const gregset_t& registers) {
  if (IsMove(f)) return f.mode() == 3 || IsOnStack(f, registers);
  if (f.map == 1) return f.opcode == 0x1e || f.opcode == 0x1f || f.opcode == 0x77;
  if (f.map != 0) return false;
  const int op = f.opcode;
  const bool pushes = (op & 0xf0) == 0x50 || (op == 0xff && f.reg() >= 2);
  const bool jumps = op == 0xe8 || op == 0xe9 || op == 0xeb || op == 0xc3 || op == 0xc9;
  const bool copies = op == 0xa4 || op == 0xa5;
  return pushes || jumps || copies || (op & 0xf0) == 0xb0 || op == 0x90 ||
         IsFreeAddress(f, registers);
}

bool IsFloat(const Fields& f) {
  if (f.map == 2 || f.map == 3) return !f.wide && f.opcode < 0xf0;
  const int row = f.opcode & 0xf0;
  return f.map == 1 &&
         (row == 0x10 || row == 0x20 || (row >= 0x50 && row <= 0x70) || f.opcode >= 0xc2);
}

bool IsProduct(const Fields& f) {
  if (f.map == 1) return f.opcode == 0xaf;
  return f.map == 0 && (f.opcode == 0x69 || f.opcode == 0x6b || (f.opcode == 0xf7 && f.reg() >= 4));
}

double WeightOf(const Fields& f, const gregset_t& registers) {
  if (IsFree(f, registers)) return 0;
  if (IsMove(f)) return kAccess;
  if (f.map == 0 && f.opcode == 0xf7 && f.reg() >= 6) return f.wide ? kWideDivision : kDivision;
  if (IsProduct(f)) return f.wide ? kWideProduct : kInteger;
  if (f.map == 1 && (f.opcode == 0x5e || f.opcode == 0x51)) return kFloatDivision;
  if (IsFloat(f)) return 1;
  return f.wide ? kWide : kInteger;
}

}  // namespace

Instruction NextInstruction(const gregset_t& registers) {
  const Fields f = FieldsAt(reinterpret_cast<const unsigned char*>(registers[REG_RIP]));
  const int row = f.opcode & 0xf0;
  const bool branch = f.map == 0 ? row == 0x70 : f.map == 1 && row == 0x80;
  return {WeightOf(f, registers), branch};
}

}  // namespace torus::ledger

#endif
