"""Headers of other projects that gcc parses once for all sources, which cost more to parse than most sources themselves.

A source still includes what it uses: only the parsing is saved, and nothing of ours may stand here, for whatever does is what
everything depends on. With --define=torus_precompiled=0 the list is empty, which shows a source that does not.
"""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")

def _compile(ctx, header, context):
    toolchain = ctx.attr._cc_toolchain[cc_common.CcToolchainInfo]
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    out = ctx.actions.declare_file(header.basename + ".gch", sibling = header)
    variables = cc_common.create_compile_variables(
        feature_configuration = features,
        cc_toolchain = toolchain,
        source_file = header.path,
        output_file = out.path,
        user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
        system_include_directories = context.system_includes,
        preprocessor_defines = context.defines,
    )
    args = ctx.actions.args()

    # gcc keeps what the header depends on for those who include it only if it writes it itself.
    args.add_all(["-MD", "-MF", "/dev/null", "-x", "c++-header"])
    args.add_all(cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = variables,
    ))
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = CPP_COMPILE_ACTION_NAME),
        arguments = [args],
        inputs = depset([header], transitive = [context.headers, toolchain.all_files]),
        outputs = [out],
        mnemonic = "PrecompileHeaders",
        env = cc_common.get_environment_variables(
            feature_configuration = features,
            action_name = CPP_COMPILE_ACTION_NAME,
            variables = variables,
        ),
    )
    return out

def _precompiled_headers_impl(ctx):
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    headers = ctx.attr.headers if ctx.attr.enabled else []
    ctx.actions.write(header, "".join(["#include <%s>\n" % name for name in headers]))
    deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    outputs = [header]
    if ctx.attr.enabled:
        outputs.append(_compile(ctx, header, deps.compilation_context))
    own = CcInfo(compilation_context = cc_common.create_compilation_context(headers = depset(outputs)))
    return [
        DefaultInfo(files = depset(outputs)),
        cc_common.merge_cc_infos(cc_infos = [own, deps]),
    ]

precompiled_headers = rule(
    implementation = _precompiled_headers_impl,
    attrs = {
        "headers": attr.string_list(doc = "As between < and >."),
        "copts": attr.string_list(doc = "Those of the sources, else gcc cannot use the result."),
        "enabled": attr.bool(),
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)
