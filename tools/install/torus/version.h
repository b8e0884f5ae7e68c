// The version of Torus, by semver.org: from 1.0.0 on only a new first number removes or changes
// what docs/api.md calls public; before, a new second one may.
#pragma once

// The first number, for #if.
#define TORUS_VERSION_MAJOR 0
// The second number.
#define TORUS_VERSION_MINOR 1
// The third number.
#define TORUS_VERSION_PATCH 0
// All three as text.
#define TORUS_VERSION "0.1.0"
