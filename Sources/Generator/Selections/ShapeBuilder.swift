import MartletGraphQLLanguage

/// Makes the shapes of operations and fragments.
struct ShapeBuilder {
  typealias Source = SelectionCollector.Source

  let schema: Schema
  let fragments: [String: FragmentDefinition]
  let names: TypeNames
  let sources: JoinedSources
  let limits: GeneratorLimits
  /// The shapes of the fragments by fragment name.
  private(set) var fragmentShapes: [String: Shape] = [:]
  private(set) var errors: [GenerationError] = []
  private var count = 0

  init(
    schema: Schema, fragments: [String: FragmentDefinition], names: TypeNames, sources: JoinedSources,
    limits: GeneratorLimits
  ) {
    self.schema = schema
    self.fragments = fragments
    self.names = names
    self.sources = sources
    self.limits = limits
  }

  /// The shape of an operation's data.
  mutating func shape(of operation: OperationDefinition, type: String) -> Shape? {
    guard let root = schema.rootType(operation.kind) else { return nil }
    let source = Source(set: operation.selectionSet, parent: root)
    if let alias = aliasedFragment([source], for: root) {
      let shape = Shape(name: "Data", path: "\(type).Data", scope: Set(root.possibleTypes))
      shape.fragment = alias
      return shape
    }
    return shape("Data", in: type, [source], scope: Set(root.possibleTypes))
  }

  /// The shape of a fragment, which is kept for conversions.
  mutating func makeShape(of fragment: FragmentDefinition) {
    guard let type = schema.type(fragment.typeCondition.text) else { return }
    let name = names.fragment(fragment.name.text)
    let source = Source(set: fragment.selectionSet, parent: type)
    fragmentShapes[fragment.name.text] = shape(name, in: nil, [source], scope: Set(type.possibleTypes))
  }

  // MARK: Shapes

  private mutating func shape(
    _ name: String, in parent: String?, _ written: [Source], scope: Set<TypeID>, outer: Shape? = nil
  ) -> Shape {
    let shape = Shape(name: name, path: parent.map { "\($0).\(name)" } ?? name, scope: scope)
    count += 1
    guard count <= limits.structs else {
      if count == limits.structs + 1 {
        errors.append(GenerationError(.limit, "The operations need more than \(limits.structs) structs."))
      }
      return shape
    }
    var collector = SelectionCollector(schema: schema, fragments: fragments, scope: scope, outer: outer?.scope)
    for source in written { collector.collect(source, mayNarrow: outer == nil) }
    var scopeNames = MemberNames(shape: shape.path)
    scopeNames.reserved = reserved(collector, outer)
    for responseName in collector.order {
      guard let occurrences = collector.occurrences[responseName], let first = occurrences.first else { continue }
      let property = names.property(responseName)
      claim(property, of: responseName, at: first.field.location, &scopeNames)
      shape.members.append(
        member(
          responseName, property, occurrences, collector.partial[responseName] ?? [], first, in: shape, outer,
          &scopeNames))
    }
    for type in collector.narrowings {
      let property = "as" + SwiftName.type(type.name)
      let location = written.first?.set.location ?? .none
      claim(property, of: "... on \(type.name)", at: location, &scopeNames)
      let caseName = typeName("As" + SwiftName.type(type.name), scopeNames)
      claimType(caseName, of: "... on \(type.name)", at: location, &scopeNames)
      let narrowed = scope.intersection(type.possibleTypes)
      let inner = self.shape(caseName, in: shape.path, written, scope: narrowed, outer: shape)
      shape.cases.append(Shape.TypeCase(type: type, property: property, shape: inner))
      shape.isReadByCode = true
    }
    for spread in collector.spreads {
      let property = SwiftName.uncapitalised(names.fragment(spread.fragment))
      claim(property, of: "...\(spread.fragment)", at: spread.location, &scopeNames)
      shape.spreads.append(spread)
    }
    return shape
  }

  private mutating func member(
    _ responseName: String, _ property: String, _ occurrences: [SelectionCollector.Occurrence],
    _ partial: [SelectionCollector.Occurrence], _ first: SelectionCollector.Occurrence, in shape: Shape,
    _ outer: Shape?, _ scopeNames: inout MemberNames
  ) -> Shape.Member {
    let type = schema[first.definition.type.named]
    // While the field is there, so is what all ways to it have in common.
    let common = (occurrences.dropFirst() + partial).reduce(first.conditions) { $0.intersection($1.conditions) }
    var member = Shape.Member(
      responseName: responseName, property: property, type: first.definition.type,
      isConditional: occurrences.allSatisfy { !$0.conditions.isEmpty }, deprecation: first.definition.deprecationReason)
    guard type.isComposite else {
      member.leaf = names.leaf(type)
      return member
    }
    member.ways = Self.ways(occurrences)
    if let same = outer?.member(responseName), same.ways == member.ways {
      member.child = same.child
      member.isShared = true
      return member
    }
    func sources(_ occurrences: [SelectionCollector.Occurrence], isPartial: Bool) -> [Source] {
      occurrences.compactMap { occurrence in
        occurrence.field.selectionSet.map {
          Source(
            set: $0, parent: type, conditions: occurrence.conditions.subtracting(common), isPartial: isPartial)
        }
      }
    }
    let written = sources(occurrences, isPartial: false)
    let others = sources(partial, isPartial: true)
    let name = typeName(SwiftName.type(responseName), scopeNames)
    claimType(name, of: responseName, at: first.field.location, &scopeNames)
    let scope = Set(type.possibleTypes)
    if let alias = aliasedFragment(written, for: type), others.isEmpty || !hasConditions(alias) {
      let child = Shape(name: name, path: "\(shape.path).\(name)", scope: scope)
      child.fragment = alias
      member.child = child
    } else {
      member.child = self.shape(name, in: shape.path, written + others, scope: scope)
    }
    return member
  }

  /// Whether something in a fragment may be left out, in which case its struct cannot stand where others select too.
  private func hasConditions(_ fragment: String) -> Bool {
    var waiting = fragments[fragment].map { [$0.selectionSet] } ?? []
    var visited: Set<String> = [fragment]
    while let set = waiting.popLast() {
      for selection in set.selections {
        if !SelectionCollector.conditions(selection.directives).isEmpty { return true }
        switch selection {
        case .field(let field): if let inner = field.selectionSet { waiting.append(inner) }
        case .inlineFragment(let fragment): waiting.append(fragment.selectionSet)
        case .fragmentSpread(let spread):
          if visited.insert(spread.name.text).inserted, let inner = fragments[spread.name.text] {
            waiting.append(inner.selectionSet)
          }
        }
      }
    }
    return false
  }

  /// The fragment that is all there is to a selection, if it applies to every object of `type`.
  private func aliasedFragment(_ written: [Source], for type: NamedType) -> String? {
    guard written.count == 1, written[0].conditions.isEmpty, written[0].set.selections.count == 1,
      case .fragmentSpread(let spread) = written[0].set.selections[0],
      SelectionCollector.conditions(spread.directives).isEmpty,
      let fragment = fragments[spread.name.text], let condition = schema.type(fragment.typeCondition.text),
      Set(type.possibleTypes).isSubset(of: condition.possibleTypes)
    else { return nil }
    return spread.name.text
  }

  private static func ways(_ occurrences: [SelectionCollector.Occurrence]) -> [Shape.Way] {
    occurrences.map { Shape.Way(field: ObjectIdentifier($0.field), conditions: $0.conditions) }
  }

  // MARK: Names

  /// What types inside a shape cannot be called: its properties, which types of the same name would hide, and
  /// the types of the shape around it that it shares, which they would hide.
  private func reserved(_ collector: SelectionCollector, _ outer: Shape?) -> Set<String> {
    var found = Set(collector.order.map { names.property($0) })
    for (responseName, occurrences) in collector.occurrences {
      if let same = outer?.member(responseName), let child = same.child, same.ways == Self.ways(occurrences) {
        found.insert(child.name)
      }
    }
    return found
  }

  /// A name for a type inside a shape.
  private func typeName(_ plain: String, _ scopeNames: MemberNames) -> String {
    var name = names.nested(plain)
    while scopeNames.reserved.contains(name) { name += "Field" }
    return name
  }

  private mutating func claim(
    _ property: String, of what: String, at location: Location, _ scopeNames: inout MemberNames
  ) {
    if let other = scopeNames.properties.updateValue(what, forKey: property) {
      collision(what, other, property, "property", scopeNames.shape, location)
    }
  }

  private mutating func claimType(
    _ name: String, of what: String, at location: Location, _ scopeNames: inout MemberNames
  ) {
    if let other = scopeNames.types.updateValue(what, forKey: name) {
      collision(what, other, name, "type", scopeNames.shape, location)
    }
  }

  private mutating func collision(
    _ what: String, _ other: String, _ name: String, _ kind: String, _ shape: String, _ location: Location
  ) {
    errors.append(
      sources.error(
        .nameCollision,
        "'\(other)' and '\(what)' would both be the \(kind) '\(name)' of \(shape). Give one of them an alias.",
        at: location.source))
  }
}

/// The names already used inside one struct, each with what it was made from.
private struct MemberNames {
  let shape: String
  var reserved: Set<String> = []
  var properties: [String: String] = [:]
  var types: [String: String] = [:]
}
