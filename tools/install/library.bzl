"""One archive and one shared library of many targets, and their public headers, for those who build without Bazel."""

def _own_archives(targets):
    found = {}
    for target in targets:
        for given in target[CcInfo].linking_context.linker_inputs.to_list():
            if given.owner.workspace_name:
                continue
            for library in given.libraries:
                archive = library.static_library or library.pic_static_library
                if archive:
                    found[archive.path] = archive
    return found

def _link_flags(targets):
    flags = []
    for target in targets:
        for given in target[CcInfo].linking_context.linker_inputs.to_list():
            flags += [flag for flag in given.user_link_flags if flag not in flags]
    return flags

def _merged_archive_impl(ctx):
    left_out = _own_archives(ctx.attr.without)
    archives = [archive for path, archive in _own_archives(ctx.attr.deps).items() if path not in left_out]
    script = ctx.actions.declare_file(ctx.label.name + ".mri")
    ctx.actions.write(script, "\n".join(
        ["CREATE " + ctx.outputs.archive.path] + ["ADDLIB " + archive.path for archive in archives] + ["SAVE", "END", ""],
    ))
    ctx.actions.run_shell(
        command = "ar -M < " + script.path,
        inputs = archives + [script],
        outputs = [ctx.outputs.archive],
        mnemonic = "MergeArchives",
    )

merged_archive = rule(
    implementation = _merged_archive_impl,
    doc = "All objects of the project that `deps` need, but those that `without` need too.",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "without": attr.label_list(providers = [CcInfo]),
        "archive": attr.output(mandatory = True),
    },
)

# What it exports is the list of symbols alone: a version script that names them, and hides all others.
_VERSION_SCRIPT = """
{ echo "{ global:"; sed -n 's/^\\(_Z.*\\)/\\1;/p' "$1"; echo "local: *; };"; } > "$2"
"""

# Where there is gold, of functions with equal code one is kept.
_LINK = """
gold=()
if command -v ld.gold >/dev/null; then gold=(-fuse-ld=gold -Wl,--icf=safe); fi
exec /usr/bin/g++ "${gold[@]}" "$@"
"""

def _shared_library_impl(ctx):
    script = ctx.actions.declare_file(ctx.label.name + ".map")
    ctx.actions.run_shell(
        command = _VERSION_SCRIPT,
        arguments = [ctx.file.symbols.path, script.path],
        inputs = [ctx.file.symbols],
        outputs = [script],
        mnemonic = "VersionScript",
    )
    args = ctx.actions.args()
    args.add_all(["-shared", "-o", ctx.outputs.library])
    args.add(ctx.attr.soname, format = "-Wl,-soname,%s")
    args.add(script, format = "-Wl,--version-script,%s")

    # The others lie beside it, wherever that is.
    args.add_all(["-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN"])
    args.add_all(["-Wl,-z,defs", "-Wl,--gc-sections", "-Wl,--as-needed", "-Wl,-s", "-Wl,-O1"])

    args.add_all(["-Wl,--whole-archive", ctx.file.archive, "-Wl,--no-whole-archive"])
    args.add_all(ctx.files.libraries)
    args.add_all(_link_flags(ctx.attr.deps))
    ctx.actions.run_shell(
        command = _LINK,
        arguments = [args],
        inputs = [script, ctx.file.archive] + ctx.files.libraries,
        outputs = [ctx.outputs.library],
        env = {"PATH": "/usr/bin:/bin"},
        mnemonic = "LinkLibrary",
    )

shared_library = rule(
    implementation = _shared_library_impl,
    doc = "The archive of `deps` as a shared library that exports `symbols`; `libraries` are others of ours that it needs.",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "archive": attr.label(allow_single_file = True),
        "libraries": attr.label_list(allow_files = True),
        "soname": attr.string(mandatory = True),
        "symbols": attr.label(allow_single_file = True),
        "library": attr.output(mandatory = True),
    },
)

def _public_headers_impl(ctx):
    out = ctx.actions.declare_directory(ctx.label.name)
    headers = [
        header
        for dep in ctx.attr.deps
        for header in dep[CcInfo].compilation_context.headers.to_list()
        if not header.owner.workspace_name and header.is_source
    ]
    ctx.actions.run(
        executable = ctx.executable._collect,
        arguments = [out.path, ",".join(ctx.attr.libraries)] + [root.path for root in ctx.files.roots],
        inputs = headers + ctx.files.roots,
        outputs = [out],
        mnemonic = "CollectHeaders",
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles(files = [out]))]

public_headers = rule(
    implementation = _public_headers_impl,
    doc = "The headers `roots`, and all of the project's that they include, as they are installed (collect_headers.cc).",
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "roots": attr.label_list(allow_files = [".h"]),
        "libraries": attr.string_list(default = ["fmt"], doc = "Of which they may include headers."),
        "_collect": attr.label(default = "//tools/install:collect_headers", executable = True, cfg = "exec"),
    },
)

def _link_flags_impl(ctx):
    out = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(out, " ".join(_link_flags(ctx.attr.deps)))
    return [DefaultInfo(files = depset([out]))]

link_flags = rule(
    implementation = _link_flags_impl,
    doc = "A file with the flags that link the archive of `deps`.",
    attrs = {"deps": attr.label_list(providers = [CcInfo])},
)
