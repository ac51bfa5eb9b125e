import MartletGraphQLLanguage

/// A small seeded generator of numbers, so that a failing test names a seed that fails again.
struct TestRandom: RandomNumberGenerator {
  var state: UInt64

  init(seed: Int) {
    state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15 | 1
  }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}

/// Makes documents that use every form the grammar has. They need not be valid.
struct DocumentGenerator {
  var random: TestRandom
  private var depth = 0

  init(seed: Int) {
    random = TestRandom(seed: seed)
    for _ in 0..<4 { _ = random.next() }
  }

  mutating func document() -> Document {
    Document(definitions: many(1...5) { $0.definition() })
  }

  private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

  private mutating func pick<Item>(_ items: [Item]) -> Item {
    items[Int.random(in: 0..<items.count, using: &random)]
  }

  private mutating func many<Item>(
    _ range: ClosedRange<Int>, _ make: (inout DocumentGenerator) -> Item
  ) -> [Item] {
    let upper = depth > 4 ? range.lowerBound : range.upperBound
    depth += 1
    let items = (0..<Int.random(in: range.lowerBound...max(upper, range.lowerBound), using: &random)).map { _ in
      make(&self)
    }
    depth -= 1
    return items
  }

  private mutating func name() -> Name {
    Name(pick(["a", "b", "Type", "on_", "_x1", "query", "type", "fragment", "input", "veryLongFieldName"]))
  }

  private mutating func string() -> StringValue {
    let pieces = [
      "a", " ", "\n", "\"", "\"\"\"", "\\", "é", "e\u{301}", "😀", "\t", "\r", "\u{7}", "  indented", "\\u", "#", "{",
    ]
    return StringValue(many(0...6) { $0.pick(pieces) }.joined(), isBlock: chance(50))
  }

  private mutating func description() -> StringValue? { chance(25) ? string() : nil }

  private mutating func value(isConstant: Bool) -> Value {
    switch Int.random(in: 0..<(depth > 5 ? 7 : 9), using: &random) {
    case 0: isConstant ? .null : Value(.variable(name().text))
    case 1: Value(.int(pick(["0", "-0", "12", "-9007199254740993"])))
    case 2: Value(.float(pick(["0.5", "-1.25e10", "1E-3"])))
    case 3: Value(.string(string()))
    case 4: .boolean(chance(50))
    case 5: .null
    case 6: .enumeration(pick(["A", "on", "trueish", "_"]))
    case 7: .list(many(0...3) { $0.value(isConstant: isConstant) })
    default:
      Value(.object(many(0...3) { ObjectField(name: $0.name(), value: $0.value(isConstant: isConstant)) }))
    }
  }

  private mutating func type() -> TypeReference {
    let base: TypeReference = depth < 5 && chance(30) ? nested { .list($0.type()) } : .named(name())
    return chance(40) ? .nonNull(base) : base
  }

  private mutating func nested<Item>(_ make: (inout DocumentGenerator) -> Item) -> Item {
    depth += 1
    defer { depth -= 1 }
    return make(&self)
  }

  private mutating func directives(isConstant: Bool) -> [Directive] {
    many(0...1) { generator in
      Directive(name: generator.name(), arguments: generator.arguments(isConstant: isConstant))
    }
  }

  private mutating func arguments(isConstant: Bool) -> [Argument] {
    many(0...2) { Argument(name: $0.name(), value: $0.value(isConstant: isConstant)) }
  }

  private mutating func selectionSet() -> SelectionSet {
    SelectionSet(many(1...4) { $0.selection() })
  }

  private mutating func selection() -> Selection {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .fragmentSpread(FragmentSpread(name: fragmentName(), directives: directives(isConstant: false)))
    case 1 where depth < 5:
      .inlineFragment(
        InlineFragment(
          typeCondition: chance(60) ? name() : nil, directives: directives(isConstant: false),
          selectionSet: selectionSet()))
    default:
      .field(
        Field(
          alias: chance(30) ? name() : nil, name: name(), arguments: arguments(isConstant: false),
          directives: directives(isConstant: false), selectionSet: depth < 5 && chance(40) ? selectionSet() : nil))
    }
  }

  private mutating func fragmentName() -> Name { Name(pick(["F", "G", "fields"])) }

  private mutating func inputs() -> [InputValueDefinition] {
    many(0...2) { generator in
      InputValueDefinition(
        description: generator.description(), name: generator.name(), type: generator.type(),
        defaultValue: generator.chance(40) ? generator.value(isConstant: true) : nil,
        directives: generator.directives(isConstant: true))
    }
  }

  private mutating func fields() -> [FieldDefinition] {
    many(0...3) { generator in
      FieldDefinition(
        description: generator.description(), name: generator.name(), arguments: generator.inputs(),
        type: generator.type(), directives: generator.directives(isConstant: true))
    }
  }

  private mutating func content() -> TypeDefinition.Content {
    switch Int.random(in: 0..<6, using: &random) {
    case 0: .scalar
    case 1: .object(interfaces: many(0...2) { $0.name() }, fields: fields())
    case 2: .interface(interfaces: many(0...2) { $0.name() }, fields: fields())
    case 3: .union(members: many(0...3) { $0.name() })
    case 4:
      .enumeration(
        values: many(0...3) { generator in
          EnumValueDefinition(
            description: generator.description(), name: generator.name(),
            directives: generator.directives(isConstant: true))
        })
    default: .inputObject(fields: inputs())
    }
  }

  private mutating func definition() -> Definition {
    switch Int.random(in: 0..<8, using: &random) {
    case 0, 1:
      let isShorthand = chance(30)
      return .operation(
        OperationDefinition(
          description: isShorthand ? nil : description(), kind: isShorthand ? .query : pick(OperationKind.allCases),
          name: isShorthand ? nil : chance(70) ? name() : nil,
          variables: isShorthand
            ? []
            : many(0...3) { generator in
              VariableDefinition(
                description: generator.description(), name: generator.name(), type: generator.type(),
                defaultValue: generator.chance(40) ? generator.value(isConstant: true) : nil,
                directives: generator.directives(isConstant: true))
            }, directives: isShorthand ? [] : directives(isConstant: false), selectionSet: selectionSet()))
    case 2:
      return .fragment(
        FragmentDefinition(
          description: description(), name: fragmentName(), typeCondition: name(),
          directives: directives(isConstant: false), selectionSet: selectionSet()))
    case 3:
      let roots = many(1...3) { OperationTypeDefinition(kind: $0.pick(OperationKind.allCases), type: $0.name()) }
      let directives = directives(isConstant: true)
      return chance(50)
        ? .schema(SchemaDefinition(description: description(), directives: directives, operationTypes: roots))
        : .schemaExtension(SchemaDefinition(directives: directives, operationTypes: roots))
    case 4, 5:
      return .type(
        TypeDefinition(
          description: description(), name: name(), directives: directives(isConstant: true), content: content()))
    case 6:
      return .typeExtension(
        TypeDefinition(
          name: name(), directives: [Directive("d")] + directives(isConstant: true), content: content()))
    default:
      return .directive(
        DirectiveDefinition(
          description: description(), name: name(), arguments: inputs(), isRepeatable: chance(30),
          locations: many(1...3) { $0.pick(DirectiveLocation.allCases) }))
    }
  }
}
