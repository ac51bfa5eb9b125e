#!/usr/bin/env python3
"""Writes the expectations of the differential test against graphql-core.

Everything follows from SEED: the documents, their variables and the answers of the deterministic resolvers that
Tests/GraphQLExecution/Differential implements a second time. One JSON object per line:

  s  schema (file name without suffix)      q  document        o  operation name, if any
  v  variables                              e  errors before execution: [rule, message, [[line, column], ...]]
  r  the response, when the document is valid (no "data" member for a request error)
"""
import base64, gzip, json, random, sys, pathlib

import graphql
from graphql import GraphQLError, build_schema, parse, validate, specified_rules
from graphql.execution import execute_sync
from graphql.validation.rules.max_introspection_depth_rule import MaxIntrospectionDepthRule

SEED = 20250901
COUNT = 12000
HERE = pathlib.Path(__file__).resolve().parent


# graphql-core prints offending values in Python's notation; JSON is what is compared.
def shown(value):
    if value is graphql.Undefined:
        return "undefined"
    try:
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    except (TypeError, ValueError):
        return str(value)


original_inspect = graphql.pyutils.inspect
for module in list(sys.modules.values()):
    if module and module.__name__.startswith("graphql") and getattr(module, "inspect", None) is original_inspect:
        module.inspect = shown

RULES = [rule for rule in specified_rules if rule is not MaxIntrospectionDepthRule and "Defer" not in rule.__name__
         and "Stream" not in rule.__name__]


# --- the resolvers ---------------------------------------------------------------------------------------------

def fnv(text):
    h = 0x811C9DC5
    for byte in text.encode("utf-8"):
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    # One more mixing round, so that short texts spread over the low bits.
    h ^= h >> 15
    h = (h * 0x2C1B3C6D) & 0xFFFFFFFF
    h ^= h >> 12
    return h


def canonical(value):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, float) and value == int(value) and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(canonical(item) for item in value) + "]"
    return "{" + ",".join(json.dumps(k, ensure_ascii=False) + ":" + canonical(value[k]) for k in sorted(value)) + "}"


class Made(dict):
    pass


class Resolvers:
    """Values from the parent type, the field, its arguments and the path; a few of them wrong on purpose."""

    def __init__(self, schema):
        self.schema = schema

    def resolve(self, source, info, **arguments):
        path = "/".join(str(part) for part in info.path.as_list())
        text = f"{info.parent_type.name}.{info.field_name}({canonical(arguments)})@{path}"
        seed = fnv(text)
        if seed % 29 == 7:
            raise ValueError(f"Failed at {path}")
        value = self.make(info.return_type, seed, arguments)
        return value

    def make(self, type_, seed, arguments):
        if graphql.is_non_null_type(type_):
            # Null where none is allowed, sometimes.
            if seed % 41 == 3:
                return None
            return self.make(type_.of_type, seed, arguments) or self.make(type_.of_type, seed + 1, arguments)
        if seed % 17 == 5:
            return None
        if graphql.is_list_type(type_):
            if seed % 59 == 11:
                return 5
            return [self.make(type_.of_type, fnv(f"{seed}:{index}"), arguments) for index in range(seed % 3 + seed % 2)]
        name = type_.name
        if graphql.is_enum_type(type_):
            if seed % 37 == 2:
                return "WRONG"
            values = list(type_.values)
            return values[(seed // 7) % len(values)]
        if graphql.is_scalar_type(type_):
            return self.scalar(name, seed, arguments)
        if graphql.is_abstract_type(type_):
            possible = sorted(t.name for t in self.schema.get_possible_types(type_))
            wrong = {1: "Nowhere", 2: "Query", 3: None}
            pick = seed // 5 % 61
            runtime = wrong[pick] if pick in wrong else possible[(seed // 11) % len(possible)]
            return Made(type=runtime)
        return Made(type=name)

    def scalar(self, name, seed, arguments):
        odd = seed // 3 % 31
        if name == "Int":
            return {1: 3000000000, 2: "text", 3: 2.5, 4: "12", 5: True, 6: 4.0}.get(odd, seed % 2001 - 1000)
        if name == "Float":
            return {1: "text", 2: 7, 3: False, 4: "2.5"}.get(odd, (seed % 4001 - 2000) / 4)
        if name == "String":
            if odd == 1:
                return [1]
            if odd == 2:
                return 42
            if odd == 3:
                return True
            if odd == 4:
                return 1.5
            if arguments:
                return canonical(arguments)
            return ["plain", "with \"quotes\" and \\", "två ord", "line\nbreak\ttab", "", "emoji 🐦"][seed % 6] + str(seed % 100)
        if name == "Boolean":
            return {1: "true", 2: 0, 3: 3}.get(odd, seed % 2 == 0)
        if name == "ID":
            return {1: 17, 2: True, 3: [1]}.get(odd, f"id{seed % 1000}")
        return [{"seed": seed % 100, "list": [1, None, "x"]}, "custom", 5, [True]][seed % 4]

    def type_of(self, value, info, abstract):
        return value["type"]


# --- documents -------------------------------------------------------------------------------------------------

class Field:
    def __init__(self, name, alias=None, arguments=(), directives=(), selections=None):
        self.name, self.alias, self.arguments = name, alias, list(arguments)
        self.directives, self.selections = list(directives), selections


class Spread:
    def __init__(self, name, directives=()):
        self.name, self.directives = name, list(directives)


class Inline:
    def __init__(self, on, selections, directives=()):
        self.on, self.selections, self.directives = on, selections, list(directives)


class Operation:
    def __init__(self, kind, name):
        self.kind, self.name, self.variables, self.directives, self.selections = kind, name, [], [], []
        self.values = {}


class Fragment:
    def __init__(self, name, on, selections):
        self.name, self.on, self.selections, self.directives = name, on, selections, []


class Generator:
    def __init__(self, schema, chance):
        self.schema, self.chance = schema, chance
        self.fragments, self.operation, self.counter = [], None, 0

    def maybe(self, probability):
        return self.chance.random() < probability

    # Values: text of a literal, and the JSON of a variable.
    def literal(self, type_, depth=0, variables=True):
        c = self.chance
        if variables and self.operation and self.maybe(0.25):
            return "$" + self.variable(type_)
        if graphql.is_non_null_type(type_):
            return self.literal(type_.of_type, depth, False) if not self.maybe(0.004) else "null"
        if self.maybe(0.05):
            return "null"
        if graphql.is_list_type(type_):
            if self.maybe(0.2):
                return self.literal(type_.of_type, depth, False)
            return "[" + ", ".join(self.literal(type_.of_type, depth + 1, variables) for _ in range(c.randrange(4))) + "]"
        if graphql.is_input_object_type(type_):
            names = list(type_.fields)
            if type_.is_one_of:
                chosen = [c.choice(names)]
            else:
                chosen = [n for n in names if graphql.is_required_input_field(type_.fields[n])
                          or (depth < 2 and self.maybe(0.4))]
                c.shuffle(chosen)
            parts = []
            for n in chosen:
                inner = type_.fields[n].type
                text = self.literal(inner, depth + 1, variables and not type_.is_one_of)
                if type_.is_one_of and text == "null":
                    text = self.literal(graphql.GraphQLNonNull(inner), depth + 1, False)
                parts.append(f"{n}: {text}")
            return "{" + ", ".join(parts) + "}"
        if graphql.is_enum_type(type_):
            return c.choice(list(type_.values))
        if type_.name == "Int":
            return str(c.choice([0, 1, -5, 42, 2147483647, -2147483648]))
        if type_.name == "Float":
            return c.choice(["1.5", "-2", "0.25", "1e2", "3"])
        if type_.name == "Boolean":
            return c.choice(["true", "false"])
        if type_.name == "ID":
            return c.choice(['"a1"', "7", '"ü"'])
        if type_.name == "String":
            return c.choice(['"x"', '"a \\"b\\" \\u00e9"', '""', '"""\n    block\n      text\n    """', '"tab\\t"'])
        return c.choice(['"any"', "3", "{a: 1, b: [true, null]}", "[1, 2.5]", "FREE", "true"])

    def json_value(self, type_, depth=0):
        c = self.chance
        if graphql.is_non_null_type(type_):
            return self.json_value(type_.of_type, depth) if not self.maybe(0.02) else None
        if self.maybe(0.06):
            return None
        if self.maybe(0.02):
            return c.choice([7, "wrong", True, 1.5, {"odd": 1}, [[]], 3000000000])
        if graphql.is_list_type(type_):
            if self.maybe(0.2):
                return self.json_value(type_.of_type, depth)
            return [self.json_value(type_.of_type, depth + 1) for _ in range(c.randrange(4))]
        if graphql.is_input_object_type(type_):
            names = list(type_.fields)
            chosen = [c.choice(names)] if type_.is_one_of else [
                n for n in names if graphql.is_required_input_field(type_.fields[n]) or (depth < 2 and self.maybe(0.4))]
            result = {n: self.json_value(type_.fields[n].type, depth + 1) for n in chosen}
            if self.maybe(0.03):
                result["stranger"] = 1
            if self.maybe(0.03) and result:
                result.pop(c.choice(list(result)))
            return result
        if graphql.is_enum_type(type_):
            return c.choice(list(type_.values)) if not self.maybe(0.05) else c.choice(["low", 3, "NONE"])
        if type_.name == "Int":
            return c.choice([0, 1, -5, 42, 2147483647, 4.0]) if not self.maybe(0.05) else c.choice(
                [2147483648, 1.5, "1", True])
        if type_.name == "Float":
            return c.choice([1.5, -2, 0.25, 100.0, 3]) if not self.maybe(0.05) else c.choice(["1.5", True])
        if type_.name == "Boolean":
            return c.choice([True, False]) if not self.maybe(0.05) else c.choice([1, "true", 0])
        if type_.name == "ID":
            return c.choice(["a1", 7, "ü"]) if not self.maybe(0.05) else c.choice([1.5, True, ["x"]])
        if type_.name == "String":
            return c.choice(["x", "a \"b\" é", "", "line\nbreak", "🐦"]) if not self.maybe(0.05) else c.choice([1, True])
        return c.choice(["any", 3, {"a": 1, "b": [True, None]}, [1, 2.5], True])

    def variable(self, type_):
        """A variable usable where `type_` is expected; declared, sometimes with a default, sometimes stricter."""
        c, op = self.chance, self.operation
        for known, (text, _) in [(v[0], (v[1], v[2])) for v in op.variables]:
            if text == str(type_) and self.maybe(0.5):
                return known
        name = f"v{len(op.variables)}"
        declared, default = type_, None
        if graphql.is_non_null_type(type_) and self.maybe(0.15):
            declared = type_.of_type
            default = self.literal(graphql.GraphQLNonNull(declared), 0, False)
        elif not graphql.is_non_null_type(type_):
            if self.maybe(0.2):
                declared = graphql.GraphQLNonNull(type_)
            if self.maybe(0.3):
                default = self.literal(declared, 0, False)
        op.variables.append([name, str(declared), default, []])
        required = graphql.is_non_null_type(declared) and default is None
        if self.maybe(0.97) if required else self.maybe(0.6):
            op.values[name] = self.json_value(declared)
        return name

    def arguments(self, definitions):
        result = []
        for name, definition in definitions.items():
            if graphql.is_required_argument(definition) or self.maybe(0.5):
                result.append((name, self.literal(definition.type)))
        self.chance.shuffle(result)
        return result

    def directives(self, where):
        result = []
        if self.maybe(0.08):
            result.append(f"@{self.chance.choice(['skip', 'include'])}(if: {self.literal(graphql.GraphQLNonNull(graphql.GraphQLBoolean))})")
        if "tag" in [d.name for d in self.schema.directives] and self.maybe(0.05):
            result.append(self.chance.choice(['@tag', '@tag(name: "a")', '@tag(weight: 3) @tag(name: "b")']))
        if where == "FIELD" and "once" in [d.name for d in self.schema.directives] and self.maybe(0.03):
            result.append(self.chance.choice(['@once', '@once(level: LOW)', '@needs(key: 4)']))
        return result

    def selections(self, type_, depth, budget=None):
        c, result, used = self.chance, [], set()
        fields = dict(type_.fields) if hasattr(type_, "fields") else {}
        names = list(fields)
        c.shuffle(names)
        for name in names[: c.randrange(1, 5)]:
            result.append(self.field(name, fields[name], depth, used))
        if self.maybe(0.15) or not result:
            result.append(Field("__typename", alias="kind" if self.maybe(0.3) else None))
        if fields and self.maybe(0.08) and result:
            # The same field twice, so that selections merge.
            again = c.choice([f for f in result if isinstance(f, Field)])
            if again.selections is not None and again.name in fields:
                named = graphql.get_named_type(fields[again.name].type)
                result.append(Field(again.name, again.alias, again.arguments, [], self.selections(named, depth + 1)))
            else:
                result.append(Field(again.name, again.alias, again.arguments))
        if depth < 4:
            overlapping = [t for t in self.schema.type_map.values() if graphql.is_composite_type(t)
                           and not t.name.startswith("__") and graphql.type_comparators.do_types_overlap(self.schema, t, type_)] \
                if hasattr(graphql, "type_comparators") else self.overlapping(type_)
            if overlapping and self.maybe(0.6 if graphql.is_abstract_type(type_) else 0.12):
                for _ in range(c.randrange(1, 3)):
                    on = c.choice(overlapping)
                    result.append(Inline(on.name if self.maybe(0.9) or on is not type_ else None,
                                         self.selections(on, depth + 1), self.directives("INLINE_FRAGMENT")))
            if overlapping and self.maybe(0.12) and len(self.fragments) < 4:
                on = c.choice(overlapping)
                fragment = Fragment(f"F{len(self.fragments)}", on.name, [])
                self.fragments.append(fragment)
                fragment.selections = self.selections(on, depth + 1)
                result.append(Spread(fragment.name, self.directives("FRAGMENT_SPREAD")))
                if self.maybe(0.2):
                    result.append(Spread(fragment.name))
        if self.maybe(0.3):
            c.shuffle(result)
        return result

    def overlapping(self, type_):
        mine = {type_.name} if graphql.is_object_type(type_) else {t.name for t in self.schema.get_possible_types(type_)}
        result = []
        for other in self.schema.type_map.values():
            if graphql.is_composite_type(other) and not other.name.startswith("__"):
                theirs = {other.name} if graphql.is_object_type(other) else {
                    t.name for t in self.schema.get_possible_types(other)}
                if mine & theirs:
                    result.append(other)
        return result

    def field(self, name, definition, depth, used):
        named = graphql.get_named_type(definition.type)
        alias = None
        if name in used or self.maybe(0.25):
            self.counter += 1
            alias = f"a{self.counter}"
        used.add(alias or name)
        selections = None
        if graphql.is_composite_type(named):
            selections = self.selections(named, depth + 1) if depth < 4 else [Field("__typename")]
        return Field(name, alias, self.arguments(definition.args), self.directives("FIELD"), selections)

    def document(self):
        c = self.chance
        kinds = [("query", self.schema.query_type)] * 5
        if self.schema.mutation_type:
            kinds.append(("mutation", self.schema.mutation_type))
        if self.schema.subscription_type:
            kinds.append(("subscription", self.schema.subscription_type))
        operations = []
        for index in range(1 if self.maybe(0.93) else 2):
            kind, root = c.choice(kinds)
            operation = Operation(kind, f"Op{index}")
            self.operation = operation
            if kind == "subscription":
                name = c.choice(list(root.fields))
                field = self.field(name, root.fields[name], 1, set())
                field.directives = []
                operation.selections = [field]
            else:
                operation.selections = self.selections(root, 1)
                if kind == "query" and self.maybe(0.02):
                    operation.selections.append(c.choice([
                        Field("__type", arguments=[("name", f'"{c.choice(list(self.schema.type_map))}"')],
                              selections=[Field("name"), Field("kind"), Field("fields", selections=[
                                  Field("name"), Field("type", selections=[Field("name"), Field("kind"), Field(
                                      "ofType", selections=[Field("name")])])])]),
                        Field("__schema", selections=[Field("queryType", selections=[Field("name")]), Field(
                            "directives", selections=[Field("name"), Field("isRepeatable")])])]))
            operations.append(operation)
        for operation in operations:
            if len(operations) == 1 and not operation.variables and operation.kind == "query" and self.maybe(0.6):
                operation.name = None
            elif len(operations) == 1 and self.maybe(0.3):
                operation.name = None
        return operations, self.fragments


# --- printing, with the freedom the grammar leaves ---------------------------------------------------------------

class Printer:
    def __init__(self, chance):
        self.chance = chance
        self.style = chance.randrange(4)

    def directives(self, node):
        return "".join(" " + text for text in node.directives)

    def separator(self, indent):
        if self.style == 0:
            return "\n" + "  " * indent
        if self.style == 1:
            return " "
        if self.style == 2:
            return ", "
        return self.chance.choice(["\n", " ", "\r\n", "\n\t", ",\n", " # note é\n", "\r"])

    def selection(self, node, indent):
        if isinstance(node, Field):
            text = (f"{node.alias}: " if node.alias else "") + node.name
            if node.arguments:
                text += "(" + ", ".join(f"{k}: {v}" for k, v in node.arguments) + ")"
            text += self.directives(node)
            return text + (self.block(node.selections, indent) if node.selections is not None else "")
        if isinstance(node, Spread):
            return "..." + node.name + self.directives(node)
        return "..." + (f" on {node.on}" if node.on else "") + self.directives(node) + self.block(node.selections, indent)

    def block(self, selections, indent):
        gap = "\n" + "  " * (indent + 1) if self.style == 0 else " "
        inner = self.separator(indent + 1).join(self.selection(s, indent + 1) for s in selections)
        return " {" + gap + inner + ("\n" + "  " * indent if self.style == 0 else " ") + "}"

    def document(self, operations, fragments):
        parts = []
        for op in operations:
            if op.name is None and op.kind == "query" and not op.variables and not op.directives:
                parts.append(self.block(op.selections, 0)[1:])
                continue
            head = op.kind + (" " + op.name if op.name else "")
            if op.variables:
                head += "(" + ", ".join(
                    f"${n}: {t}" + (f" = {d}" if d is not None else "") + "".join(" " + x for x in dirs)
                    for n, t, d, dirs in op.variables) + ")"
            parts.append(head + self.directives(op) + self.block(op.selections, 0))
        for fragment in fragments:
            parts.append(f"fragment {fragment.name} on {fragment.on}" + self.directives(fragment)
                         + self.block(fragment.selections, 0))
        if len(parts) > 1 and self.chance.random() < 0.2:
            self.chance.shuffle(parts)
        return ("\n\n" if self.style == 0 else " ").join(parts)


# --- breaking documents in targeted ways --------------------------------------------------------------------------

def walk(operations, fragments):
    stack = [(o.selections, o) for o in operations] + [(f.selections, f) for f in fragments]
    while stack:
        selections, owner = stack.pop()
        for node in selections:
            yield node, selections, owner
            if getattr(node, "selections", None) is not None:
                stack.append((node.selections, node))


class Breaker:
    def __init__(self, schema, chance):
        self.schema, self.chance = schema, chance

    def nodes(self, document, kind):
        return [entry for entry in walk(*document) if isinstance(entry[0], kind)]

    def pick(self, document, kind, test=lambda n: True):
        found = [e for e in self.nodes(document, kind) if test(e[0])]
        return self.chance.choice(found) if found else (None, None, None)

    def duplicate_operation(self, d):
        d[0].append(Operation(d[0][0].kind, d[0][0].name)); d[0][-1].selections = [Field("__typename")]

    def anonymous_beside_named(self, d):
        extra = Operation("query", None); extra.selections = [Field("__typename")]; d[0].append(extra)

    def many_subscription_roots(self, d):
        root = self.schema.subscription_type
        if not root:
            return self.unknown_field(d)
        op = Operation("subscription", self.chance.choice([None, "Sub"]))
        op.selections = self.chance.choice([
            [Field("__typename")],
            [Field(n, selections=[Field("__typename")] if graphql.is_composite_type(graphql.get_named_type(f.type)) else None)
             for n, f in root.fields.items()],
            [Inline(None, [Field("a", list(root.fields)[0])]), Field("__typename"), Field("__typename", "again")],
            [Field(list(root.fields)[0], directives=["@skip(if: true)"]), Field("__schema", selections=[Field("__typename")])],
        ])
        d[0][:] = [op]

    def unknown_type(self, d):
        c = self.chance
        where = c.randrange(3)
        name = c.choice(["Nothing", "Persn", "Strin"])
        if where == 0 or not d[1]:
            node, selections, _ = self.pick(d, (Field, Inline, Spread))
            selections.append(Inline(name, [Field("id")]))
        elif where == 1:
            c.choice(d[1]).on = name
        else:
            c.choice(d[0]).variables.append(["w", name, None, []])

    def fragment_on_leaf(self, d):
        leaf = self.chance.choice([t.name for t in self.schema.type_map.values() if graphql.is_leaf_type(t)
                                   or graphql.is_input_object_type(t)])
        if d[1] and self.chance.random() < 0.5:
            self.chance.choice(d[1]).on = leaf
        else:
            self.pick(d, (Field, Inline, Spread))[1].append(Inline(leaf, [Field("x")]))

    def output_variable(self, d):
        name = self.chance.choice([t.name for t in self.schema.type_map.values() if graphql.is_composite_type(t)])
        self.chance.choice(d[0]).variables.append(["w", self.chance.choice([name, f"[{name}!]"]), None, []])

    def leaf_with_selection(self, d):
        node, _, _ = self.pick(d, Field, lambda n: n.selections is None)
        if node:
            node.selections = [Field("x")]

    def composite_without_selection(self, d):
        node, _, _ = self.pick(d, Field, lambda n: n.selections is not None)
        if node:
            node.selections = None

    def unknown_field(self, d):
        node, selections, _ = self.pick(d, (Field, Inline, Spread))
        selections.insert(self.chance.randrange(len(selections) + 1), Field(
            self.chance.choice(["nope", "nam", "__type", "idd"]), selections=self.chance.choice([None, [Field("deeper")]])))

    def duplicate_fragment(self, d):
        if not d[1]:
            d[1].append(Fragment("F0", self.schema.query_type.name, [Field("__typename")]))
        d[1].append(Fragment(d[1][0].name, d[1][0].on, [Field("__typename")]))

    def unknown_fragment(self, d):
        self.pick(d, (Field, Inline, Spread))[1].append(Spread("Missing"))

    def unused_fragment(self, d):
        d[1].append(Fragment("Unused", self.chance.choice(
            [t.name for t in self.schema.type_map.values() if graphql.is_object_type(t) and t.name[0] != "_"]), [Field("__typename")]))

    def impossible_spread(self, d):
        names = [t.name for t in self.schema.type_map.values() if graphql.is_composite_type(t) and t.name[0] != "_"]
        name = self.chance.choice(names)
        entry = self.pick(d, (Field, Inline, Spread))
        if self.chance.random() < 0.6:
            entry[1].append(Inline(name, [Field("__typename")]))
        else:
            d[1].append(Fragment("Other", name, [Field("__typename")])); entry[1].append(Spread("Other"))

    def fragment_cycle(self, d):
        if not d[1]:
            d[1].append(Fragment("F0", self.schema.query_type.name, [Field("__typename")]))
            d[0][0].selections.append(Spread("F0"))
        a = self.chance.choice(d[1])
        b = self.chance.choice(d[1])
        a.selections.append(Spread(b.name)); b.selections.append(Spread(a.name))

    def duplicate_variable(self, d):
        op = self.chance.choice(d[0])
        if not op.variables:
            op.variables.append(["w", "Int", None, []])
        op.variables.append(list(self.chance.choice(op.variables)))

    def undefined_variable(self, d):
        op = self.chance.choice(d[0])
        if op.variables and self.chance.random() < 0.7:
            op.variables.pop(self.chance.randrange(len(op.variables)))
        else:
            self.pick(d, (Field, Inline, Spread))[0].directives.append("@include(if: $ghost)")

    def unused_variable(self, d):
        self.chance.choice(d[0]).variables.append(["spare", self.chance.choice(["Int", "[String!]!", "Boolean! "]), None, []])

    def unknown_directive(self, d):
        target = self.chance.choice([self.pick(d, (Field, Inline, Spread))[0], self.chance.choice(d[0])] + d[1])
        target.directives.append(self.chance.choice(["@unknown", "@deprecated", "@skip(if: true)", "@once", "@oneOf"]))

    def duplicate_directive(self, d):
        self.pick(d, (Field, Inline, Spread))[0].directives += ["@skip(if: false)", "@include(if: true)", "@skip(if: false)"]

    def unknown_argument(self, d):
        node = self.pick(d, Field)[0]
        if self.chance.random() < 0.6:
            node.arguments.append((self.chance.choice(["idd", "nope", "upper"]), "1"))
        else:
            node.directives.append("@include(if: true, unless: false)")

    def duplicate_argument(self, d):
        node = self.pick(d, Field, lambda n: n.arguments)[0]
        if node:
            node.arguments.append(self.chance.choice(node.arguments))
        else:
            self.pick(d, Field)[0].directives.append("@skip(if: false, if: true)")

    def wrong_value(self, d):
        node = self.pick(d, Field, lambda n: n.arguments)[0]
        wrong = ["1.5", '"text"', "true", "FOO", "{a: 1}", "[1, \"x\"]", "null", "99999999999", "[[null]]", "{}", "HAPPY",
                 "{from: 1, to: true, extra: 2}", "{byID: 1, byName: \"x\"}", "{byID: null}", "{nested: {minimum: \"3\"}}"]
        if node:
            index = self.chance.randrange(len(node.arguments))
            node.arguments[index] = (node.arguments[index][0], self.chance.choice(wrong))
        else:
            self.pick(d, Field)[0].directives.append(f"@include(if: {self.chance.choice(wrong)})")

    def wrong_default(self, d):
        op = self.chance.choice(d[0])
        for variable in op.variables:
            variable[2] = self.chance.choice(["1.5", '"text"', "null", "{a: 1}", "LOW"])
        if not op.variables:
            self.unused_variable(d)

    def missing_argument(self, d):
        node = self.pick(d, Field, lambda n: n.arguments)[0]
        if node:
            node.arguments.pop(self.chance.randrange(len(node.arguments)))
        else:
            self.pick(d, Field)[0].directives.append(self.chance.choice(["@skip", "@include"]))

    def wrong_position(self, d):
        op = self.chance.choice(d[0])
        if op.variables:
            variable = self.chance.choice(op.variables)
            variable[1] = self.chance.choice(["Int", "String", "[Int]", variable[1].rstrip("!"), f"[{variable[1]}]", "Boolean"])
        else:
            self.unused_variable(d)

    def conflict(self, d):
        node, selections, _ = self.pick(d, Field)
        others = [n for n in selections if isinstance(n, Field) and n is not node]
        if others and self.chance.random() < 0.6:
            self.chance.choice(others).alias = node.alias or node.name
        elif self.chance.random() < 0.5:
            selections.append(Field("__typename", node.alias or node.name))
        else:
            selections.append(Field(node.name, node.alias, node.arguments + [("extra", "1")], [], node.selections))

    def duplicate_input_field(self, d):
        node = self.pick(d, Field, lambda n: any("{" in v and ":" in v for _, v in n.arguments))[0]
        if node:
            node.arguments = [(k, v.replace("{", "{" + v[1:v.index(":")] + ": 1, ", 1) if v.startswith("{") and ":" in v else v)
                              for k, v in node.arguments]
        else:
            node = self.pick(d, Field)[0]
            node.arguments.append(("any", "{a: 1, b: 2, a: 3}"))

    def add_definition(self, d):
        self.extra = self.chance.choice(["type Extra { a: Int }", "extend type Query { b: Int }", "schema { query: Query }",
                                         "directive @x on FIELD", "scalar Extra"])

    def swapped_kind(self, d):
        self.chance.choice(d[0]).kind = self.chance.choice(["query", "mutation", "subscription"])

    ALL = None


Breaker.ALL = [name for name, value in vars(Breaker).items()
               if callable(value) and name not in ("__init__", "nodes", "pick")]


def break_text(text, chance):
    choice = chance.randrange(8)
    at = chance.randrange(len(text))
    if choice == 0:
        return text[:at] + text[at + 1:]
    if choice == 1:
        return text[:at]
    if choice == 2:
        return text[:at] + chance.choice(list("{}()[]:=!|&$@\"'?%^*~`;.")) + text[at:]
    if choice == 3:
        return text[:at] + chance.choice(["\"", "\"\"\"", "\"\\x\"", "\"\\u12\"", "00", "1.", "1e", "-", "0x1", "1a", "..", "\x00",
                                          "\"\\u{110000}\"", "\"\\uD800\"", "é", "🐦", "\u200b", "\x07"]) + text[at:]
    tokens = text.split(" ")
    i = chance.randrange(len(tokens))
    if choice == 4:
        del tokens[i]
    elif choice == 5:
        tokens.insert(i, chance.choice(["on", "fragment", "query", "...", "{", "}", "null", "true", "extend", "$", "@", "type"]))
    elif choice == 6:
        tokens[i], tokens[-1] = tokens[-1], tokens[i]
    else:
        tokens[i] = chance.choice(["{}", "()", "fragment on on Query { a }", "query ($a: Int = $b) { a }", "[", "subscription"])
    return " ".join(tokens)


# --- one case -------------------------------------------------------------------------------------------------------

def places(error):
    return [[location.line, location.column] for location in (error.locations or [])]


def expectation(schema, resolvers, text, operation_name, variables):
    try:
        document = parse(text)
    except GraphQLError as error:
        return {"e": [["Syntax", error.message, places(error)]]}
    if validate(schema, document, RULES, hide_suggestions=True, max_errors=1000):
        errors = []
        for rule in RULES:
            for error in validate(schema, document, [rule], hide_suggestions=True, max_errors=1000):
                errors.append([rule.__name__.removesuffix("Rule"), error.message, places(error)])
        return {"e": errors}
    result = execute_sync(schema, document, None, None, variables, operation_name, resolvers.resolve, resolvers.type_of,
                          hide_suggestions=True)
    response = {}
    # A request error has no data; an execution that produced null has it.
    request_error = result.data is None and result.errors and all(error.path is None for error in result.errors)
    if not request_error:
        response["data"] = result.data
    if result.errors:
        response["errors"] = [error.formatted for error in result.errors]
    return {"r": response}


def cases():
    chance = random.Random(SEED)
    names = ["everything", "animals", "strict", "small"]
    schemas = {name: build_schema((HERE / "schemas" / f"{name}.graphql").read_text()) for name in names}
    # Custom scalars pass JSON through.
    introspection = graphql.get_introspection_query(descriptions=True, specified_by_url=True,
        directive_is_repeatable=True, schema_description=True, input_value_deprecation=True, one_of=True)
    for name in names:
        yield {"s": name, "q": introspection,
               **expectation(schemas[name], Resolvers(schemas[name]), introspection, None, {})}
    for number in range(COUNT):
        name = chance.choices(names, [6, 3, 3, 1])[0]
        schema = schemas[name]
        generator = Generator(schema, chance)
        document = generator.document()
        breaker = Breaker(schema, chance)
        breaker.extra = None
        kind = number % 10
        if 4 <= kind <= 8:
            for _ in range(1 if chance.random() < 0.8 else 2):
                getattr(breaker, Breaker.ALL[(number // 10 * 5 + kind) % len(Breaker.ALL)]
                        if chance.random() < 0.7 else chance.choice(Breaker.ALL))(document)
        text = Printer(chance).document(*document)
        if breaker.extra:
            text += "\n" + breaker.extra
        if kind == 9 and number % 20 == 9:
            text = break_text(text, chance)
        operation = chance.choice(document[0])
        chosen = operation.name if len(document[0]) > 1 or chance.random() < 0.2 else None
        if chance.random() < 0.02:
            chosen = "Absent"
        case = {"s": name, "q": text}
        if chosen is not None:
            case["o"] = chosen
        if operation.values:
            case["v"] = operation.values
        yield {**case, **expectation(schema, Resolvers(schema), text, chosen, operation.values)}


def main():
    lines = [json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases()]
    body = ("\n".join(lines) + "\n").encode("utf-8")
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "expectations.jsonl.gz"
    with open(target, "wb") as out:
        out.write(gzip.compress(body, 9, mtime=0))
    print(f"{len(lines)} cases, {len(body)} bytes, {target.stat().st_size} compressed, graphql-core {graphql.version}")


if __name__ == "__main__":
    main()
