"""Lines of generated Swift for each selected field: against the Python types that ariadne-codegen writes."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

TOUR = os.path.join(h.ROOT, "Examples", "SeedTour")
GENERAL = os.path.join(h.ROOT, "Benchmarks", "GraphQL")


def lines(folder, suffix):
    """Lines with code: neither empty nor only a comment."""
    count = 0
    for root, _, names in os.walk(folder):
        for name in names:
            if name.endswith(suffix):
                for line in open(os.path.join(root, name)):
                    count += bool(line.strip()) and not re.match(r"\s*(//|#)", line)
    return count


def ours(schema, operations, access):
    """Lines for the results and for all, and selected fields."""
    folder = tempfile.mkdtemp(prefix="martlet-generate-")
    try:
        out = subprocess.run([h.MARTLET, "generate", "--schema", schema, "--operations", operations, "--output", folder,
                              "--access", access], capture_output=True, text=True, check=True,
                             cwd=os.path.dirname(schema)).stdout
        fields = int(re.search(r"for (\d+) selected", out).group(1))
        every = lines(folder, ".swift")
        types = os.path.join(folder, "SchemaTypes.swift")
        if os.path.exists(types):
            os.remove(types)
        return lines(folder, ".swift"), every, fields
    finally:
        shutil.rmtree(folder)


def whole(schema):
    """The schema with what its models generate."""
    return subprocess.run([h.MARTLET, "schema", "print", schema], capture_output=True, text=True, check=True).stdout


def peer(schema_text, operations):
    """Lines ariadne-codegen writes for results and for all; nothing when it cannot be had."""
    folder = tempfile.mkdtemp(prefix="martlet-generate-")
    try:
        venv = os.path.join(h.TOOLS, "codegen")
        command = os.path.join(venv, "bin", "ariadne-codegen")
        if not os.path.exists(command):
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            subprocess.run([os.path.join(venv, "bin", "pip"), "install", "-q", "ariadne-codegen"], check=True)
        open(os.path.join(folder, "schema.graphql"), "w").write(schema_text)
        os.mkdir(os.path.join(folder, "operations"))
        for path in operations:
            shutil.copy(path, os.path.join(folder, "operations"))
        open(os.path.join(folder, "pyproject.toml"), "w").write(
            '[tool.ariadne-codegen]\nschema_path = "schema.graphql"\nqueries_path = "operations"\n'
            'include_comments = "none"\n')
        subprocess.run([command], cwd=folder, capture_output=True, check=True)
        client = os.path.join(folder, "graphql_client")
        every = lines(client, ".py")
        for name in ("enums.py", "input_types.py", "base_model.py", "exceptions.py", "async_base_client.py", "scalars.py"):
            path = os.path.join(client, name)
            if os.path.exists(path):
                os.remove(path)
        return lines(client, ".py"), every
    except (subprocess.CalledProcessError, OSError):
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if not os.path.exists(h.MARTLET):
    sys.exit("There is no %s: run make build first." % h.MARTLET)
print("Generated lines of code for each selected field: results and operations / with enums, inputs and support")
for name, folder, glob in (("tour", TOUR, "Operations/*.graphql"), ("30 fields", GENERAL, "query.graphql")):
    schema = os.path.join(folder, "schema.graphql")
    found = [os.path.join(folder, "Operations", f) for f in sorted(os.listdir(os.path.join(folder, "Operations")))] \
        if "*" in glob else [os.path.join(folder, glob)]
    for access in ("internal", "public"):
        results, every, fields = ours(schema, glob, access)
        print("  %-10s martlet, %-9s %.1f / %.1f (%d fields)" % (name, access, results / fields, every / fields, fields))
    other = peer(whole(schema), found)
    print("  %-10s %s" % (name, "ariadne-codegen    %.1f / %.1f" % tuple(n / fields for n in other) if other
                          else "ariadne-codegen could not be had"))
