"""One line an op family."""

load("//third_party/bazel:cc.bzl", "EVERYWHERE", "torus_library")

def op_family(name, deps = []):
    """The room ops/NAME: every header, source (and, with CUDA, .cu) in it is one target, open to the tree.

    Its ops' gradients are enrolled by tests/ops/gradient_table_test, which reads the sources: each Record("x", ...)
    needs a GRADIENT_CASE(x) or a written exemption.
    """
    torus_library(
        name,
        srcs = native.glob([name + "/*.cc"]),
        hdrs = native.glob([name + "/*.h"]),
        textual_hdrs = native.glob([name + "/*.inc"]),
        deps = deps + [
            "//autograd:node",
            "//autograd:saved_activation",
            "//runtime:parallel_for",
            "//runtime:tensor",
            "@highway",
        ],
        visibility = EVERYWHERE,
    )
