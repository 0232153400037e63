#!/usr/bin/env python3
"""Checks every YAML file of the specs against its JSON Schema, and the schemas themselves."""
import json
import pathlib
import sys

import jsonschema
import yaml
from referencing import Registry, Resource

SPECS = pathlib.Path(__file__).resolve().parent.parent


def main() -> int:
    schemas = {p.name: json.loads(p.read_text()) for p in (SPECS / "schema").glob("*.json")}
    registry = Registry().with_resources(
        (name, Resource.from_contents(schema)) for name, schema in schemas.items())
    for schema in schemas.values():
        jsonschema.Draft202012Validator.check_schema(schema)

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    mistakes = 0
    for path in sorted(SPECS.rglob("*.yaml")):
        folder = path.parent.name if path.parent != SPECS else path.stem
        validator = jsonschema.Draft202012Validator(schemas[folder + ".json"], registry=registry)
        for error in validator.iter_errors(yaml.load(path.read_text(), Loader=loader)):
            where = "/".join(str(part) for part in error.absolute_path)
            print(f"{path.relative_to(SPECS)}: {where}: {error.message}")
            mistakes += 1
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
