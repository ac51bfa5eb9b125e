import MartletGraphQLLanguage

/// Writes the expressions that make a fragment's struct of a struct that has its fields.
struct ConversionBuilder {
  let schema: Schema
  let fragmentShapes: [String: Shape]
  let names: TypeNames
  let configuration: GeneratorConfiguration

  /// Fills in the conversions of a shape and of those inside it.
  func convert(_ shape: Shape) {
    for spread in shape.spreads {
      guard let target = fragmentShapes[spread.fragment] else { continue }
      let name = names.fragment(spread.fragment)
      var guards: [String] = []
      let expression = construct(target, from: shape, at: "", guards: &guards, isTop: true)
      shape.conversions.append(
        Shape.Conversion(
          property: SwiftName.uncapitalised(name), type: name, guards: guards, expression: expression,
          isOptional: spread.isConditional || !guards.isEmpty))
    }
    for inner in shape.nested { convert(inner) }
  }

  /// `shape`, or the fragment's shape it stands for.
  private func resolved(_ shape: Shape) -> Shape {
    shape.fragment.flatMap { fragmentShapes[$0] } ?? shape
  }

  /// An expression of the target's type; nil when the parts do not fit.
  ///
  /// - Parameter base: how the source is called; empty for `self`.
  private func construct(
    _ target: Shape, from source: Shape, at base: String, guards: inout [String], isTop: Bool = false
  ) -> String? {
    // A fragment that is nothing but another fragment has that one's struct.
    let target = resolved(target)
    source.isReadByCode = true
    var arguments: [String] = []
    for member in InitialiserMembers.of(target, configuration) {
      guard let own = source.member(member.responseName) else { return nil }
      let name = SwiftName.escaped(own.property)
      let value = base.isEmpty ? name : "\(base).\(name)"
      var isOptional = own.isOptional
      if own.isOptional, !member.isOptional {
        guard isTop else { return nil }
        // Type cases of the fragment may need the same member again.
        if !guards.contains(name) { guards.append(name) }
        isOptional = false
      }
      var expression = value
      if let to = member.child, let from = own.child, resolved(to) !== resolved(from) {
        guard let mapped = map(own.type, isOptional, value, resolved(to), resolved(from)) else { return nil }
        expression = mapped
      }
      arguments.append("\(SwiftName.label(member.property)): \(expression)")
    }
    for typeCase in target.cases {
      guard let value = self.typeCase(typeCase, from: source, at: base, guards: &guards, isTop: isTop) else {
        return nil
      }
      arguments.append("\(typeCase.property): \(value)")
    }
    return "\(target.path)(\(arguments.joined(separator: ", ")))"
  }

  private func typeCase(
    _ typeCase: Shape.TypeCase, from source: Shape, at base: String, guards: inout [String], isTop: Bool
  ) -> String? {
    let possible = Set(typeCase.type.possibleTypes)
    if source.scope.isSubset(of: possible) {
      return construct(typeCase.shape, from: source, at: base, guards: &guards, isTop: isTop)
    }
    if source.scope.isDisjoint(with: possible) { return "nil" }
    guard let own = source.cases.first(where: { $0.type === typeCase.type }) else { return nil }
    var none: [String] = []
    guard let inner = construct(typeCase.shape, from: own.shape, at: "$0", guards: &none) else { return nil }
    let value = base.isEmpty ? own.property : "\(base).\(own.property)"
    return "\(value).map { \(inner) }"
  }

  /// Maps a value through its optionals and lists.
  private func map(
    _ type: WrappedType, _ isOptional: Bool, _ value: String, _ target: Shape, _ source: Shape
  ) -> String? {
    if isOptional {
      return map(type.nonNull, false, "$0", target, source).map { "\(value).map { \($0) }" }
    }
    if let element = type.element {
      return map(element, !element.isNonNull, "$0", target, source).map { "\(value).map { \($0) }" }
    }
    var none: [String] = []
    return construct(target, from: source, at: value, guards: &none)
  }
}

/// The members that an initialiser takes.
enum InitialiserMembers {
  static func of(_ shape: Shape, _ configuration: GeneratorConfiguration) -> [Shape.Member] {
    shape.members.filter { !isLeftOut($0, of: shape, configuration) }
  }

  /// Whether a member is marked deprecated, which an initialiser that is written out could not set without a warning.
  static func isLeftOut(_ member: Shape.Member, of shape: Shape, _ configuration: GeneratorConfiguration) -> Bool {
    configuration.access != .internal && isMarked(member, of: shape, configuration)
  }

  /// Whether the attribute can stand on the property: nothing generated mentions it.
  static func isMarked(_ member: Shape.Member, of shape: Shape, _ configuration: GeneratorConfiguration) -> Bool {
    member.deprecation != nil && !shape.isReadByCode && (configuration.access == .internal || member.isOptional)
  }
}
