/// Fields that share a response name within a selection can be merged into one.
///
/// Fragments are compared as they are rather than expanded: each pair of fragments, and each pair of a selection and a
/// fragment, is looked at once. The number of comparisons is limited, since they grow with the square of what shares a
/// name.
struct OverlappingFieldsCanBeMerged {
  /// A selected field with the type it is selected on.
  private struct Entry {
    let field: Field
    let parent: NamedType?
    let definition: SchemaField?
  }

  /// The fields of a selection set by response name, inline fragments included, and the fragments it spreads.
  private final class Collected {
    var names: [String] = []
    var entries: [String: [Entry]] = [:]
    var fragments: [String] = []
  }

  /// Why fields cannot be merged.
  private indirect enum Reason {
    case because(String)
    case subfields([(name: String, reason: Reason)])

    var text: String {
      switch self {
      case .because(let text): text
      case .subfields(let parts):
        parts.map { "subfields '\($0.name)' conflict because \($0.reason.text)" }.joined(separator: " and ")
      }
    }
  }

  private struct Conflict {
    var name: String
    var reason: Reason
    var first: [Location]
    var second: [Location]
  }

  private struct FragmentPair: Hashable {
    let first: String
    let second: String
  }

  private struct FragmentUse: Hashable {
    let set: ObjectIdentifier
    let fragment: String
    let areExclusive: Bool
  }

  private var collected: [ObjectIdentifier: Collected] = [:]
  /// Compared pairs of fragments; true when they were compared as mutually exclusive only.
  private var comparedPairs: [FragmentPair: Bool] = [:]
  private var comparedUses: Set<FragmentUse> = []
  private var comparisons = 0
  /// The places of conflicts reported so far. The set of an inline fragment belongs to the sets around it, which find
  /// its conflicts too.
  private var reported: Set<[UInt32]> = []

  /// Reports the conflicts within one selection set. Conflicts within the sets below it are theirs to report.
  mutating func check(_ set: SelectionSet, on parent: NamedType?, _ validation: Validation) {
    guard comparisons <= validation.limits.fieldComparisons, Self.needsComparison(set) else { return }
    let fields = collect(set, on: parent, validation)
    var conflicts: [Conflict] = []
    for name in fields.names {
      guard let entries = fields.entries[name], entries.count > 1 else { continue }
      for first in entries.indices.dropLast() {
        for second in (first + 1)..<entries.count {
          compare(name, entries[first], entries[second], areExclusive: false, &conflicts, validation)
        }
        if comparisons > validation.limits.fieldComparisons { break }
      }
    }
    for (index, fragment) in fields.fragments.enumerated() {
      compare(fields, withFragment: fragment, areExclusive: false, &conflicts, validation)
      for other in fields.fragments[(index + 1)...] {
        compare(fragment, other, areExclusive: false, &conflicts, validation)
      }
    }
    for conflict in conflicts
    where reported.insert((conflict.first + conflict.second).map(\.offset)).inserted {
      validation.report(
        .overlappingFieldsCanBeMerged,
        "Fields '\(conflict.name)' conflict because \(conflict.reason.text). Use different aliases on the fields to "
          + "fetch both if this was intentional.", conflict.first + conflict.second)
    }
    if comparisons > validation.limits.fieldComparisons {
      validation.report(
        .validationLimits,
        "The document needs more than \(validation.limits.fieldComparisons) comparisons of fields with one response name."
      )
    }
  }

  /// Whether the set has anything that could conflict: most sets are plain fields with different names.
  private static func needsComparison(_ set: SelectionSet) -> Bool {
    let selections = set.selections
    if selections.count > 16 { return true }
    for (index, selection) in selections.enumerated() {
      guard case .field(let field) = selection else { return true }
      for other in selections[..<index] {
        if case .field(let known) = other, known.responseName == field.responseName { return true }
      }
    }
    return false
  }

  // MARK: Comparing

  private mutating func compare(
    _ name: String, _ first: Entry, _ second: Entry, areExclusive: Bool, _ conflicts: inout [Conflict],
    _ validation: Validation
  ) {
    comparisons += 1
    guard comparisons <= validation.limits.fieldComparisons else { return }
    // Fields on two different objects never meet in one response, so that only the shapes of their values must agree.
    let areExclusive =
      areExclusive
      || (first.parent !== second.parent && first.parent?.kind == .object && second.parent?.kind == .object)
    func conflict(_ reason: String) {
      conflicts.append(
        Conflict(
          name: name, reason: .because(reason), first: [first.field.location], second: [second.field.location]))
    }
    if !areExclusive {
      let (left, right) = (first.field.name.text, second.field.name.text)
      if left != right { return conflict("'\(left)' and '\(right)' are different fields") }
      if !Self.areSame(first.field.arguments, second.field.arguments) {
        return conflict("they have differing arguments")
      }
      if validation.schema.options.incrementalDelivery, !Self.areSameStreams(first.field, second.field) {
        return conflict("they have differing stream directives")
      }
    }
    if let left = first.definition?.type, let right = second.definition?.type,
      Self.doConflict(left, right, validation.schema)
    {
      let schema = validation.schema
      return conflict("they return conflicting types '\(schema.describe(left))' and '\(schema.describe(right))'")
    }
    guard let left = first.field.selectionSet, let right = second.field.selectionSet else { return }
    var nested: [Conflict] = []
    compare(
      collect(left, on: Self.parent(of: first, validation), validation),
      collect(right, on: Self.parent(of: second, validation), validation), areExclusive: areExclusive, &nested,
      validation)
    guard !nested.isEmpty else { return }
    conflicts.append(
      Conflict(
        name: name, reason: .subfields(nested.map { ($0.name, $0.reason) }),
        first: [first.field.location] + nested.flatMap(\.first),
        second: [second.field.location] + nested.flatMap(\.second)))
  }

  /// Compares two selections with all fragments they spread.
  private mutating func compare(
    _ first: Collected, _ second: Collected, areExclusive: Bool, _ conflicts: inout [Conflict],
    _ validation: Validation
  ) {
    compareFields(first, second, areExclusive: areExclusive, &conflicts, validation)
    for fragment in second.fragments {
      compare(first, withFragment: fragment, areExclusive: areExclusive, &conflicts, validation)
    }
    for fragment in first.fragments {
      compare(second, withFragment: fragment, areExclusive: areExclusive, &conflicts, validation)
    }
    for left in first.fragments {
      for right in second.fragments {
        compare(left, right, areExclusive: areExclusive, &conflicts, validation)
      }
    }
  }

  private mutating func compareFields(
    _ first: Collected, _ second: Collected, areExclusive: Bool, _ conflicts: inout [Conflict],
    _ validation: Validation
  ) {
    comparisons += first.names.count / 8
    for name in first.names {
      guard comparisons <= validation.limits.fieldComparisons else { return }
      guard let left = first.entries[name], let right = second.entries[name] else { continue }
      for leftEntry in left {
        for rightEntry in right {
          compare(name, leftEntry, rightEntry, areExclusive: areExclusive, &conflicts, validation)
        }
      }
    }
  }

  private mutating func compare(
    _ fields: Collected, withFragment name: String, areExclusive: Bool, _ conflicts: inout [Conflict],
    _ validation: Validation
  ) {
    let use = FragmentUse(set: ObjectIdentifier(fields), fragment: name, areExclusive: areExclusive)
    comparisons += 1
    guard comparisons <= validation.limits.fieldComparisons, comparedUses.insert(use).inserted,
      let fragment = fragment(name, validation), fragment !== fields
    else { return }
    compareFields(fields, fragment, areExclusive: areExclusive, &conflicts, validation)
    for nested in fragment.fragments {
      compare(fields, withFragment: nested, areExclusive: areExclusive, &conflicts, validation)
    }
  }

  private mutating func compare(
    _ first: String, _ second: String, areExclusive: Bool, _ conflicts: inout [Conflict], _ validation: Validation
  ) {
    guard first != second, comparisons <= validation.limits.fieldComparisons else { return }
    comparisons += 1
    let pair = first < second ? FragmentPair(first: first, second: second) : FragmentPair(first: second, second: first)
    // A comparison of fragments that may meet covers that of fragments that never do, but not the reverse.
    if let wereExclusive = comparedPairs[pair], areExclusive || !wereExclusive { return }
    comparedPairs[pair] = areExclusive
    guard let left = fragment(first, validation), let right = fragment(second, validation) else { return }
    compareFields(left, right, areExclusive: areExclusive, &conflicts, validation)
    for nested in right.fragments { compare(first, nested, areExclusive: areExclusive, &conflicts, validation) }
    for nested in left.fragments { compare(nested, second, areExclusive: areExclusive, &conflicts, validation) }
  }

  private static func doConflict(_ left: WrappedType, _ right: WrappedType, _ schema: Schema) -> Bool {
    if left.isNonNull || right.isNonNull {
      return left.isNonNull != right.isNonNull || doConflict(left.nullable, right.nullable, schema)
    }
    if let leftElement = left.element, let rightElement = right.element {
      return doConflict(leftElement, rightElement, schema)
    }
    if left.isList || right.isList { return true }
    return left != right && (schema[left.named].isLeaf || schema[right.named].isLeaf)
  }

  /// Whether both fields or neither are streamed, and in the same way.
  private static func areSameStreams(_ left: Field, _ right: Field) -> Bool {
    let left = left.directives.first { $0.name.text == "stream" }
    let right = right.directives.first { $0.name.text == "stream" }
    switch (left, right) {
    case (nil, nil): return true
    case (let left?, let right?): return areSame(left.arguments, right.arguments)
    case (nil, _?), (_?, nil): return false
    }
  }

  /// Whether two lists of arguments say the same, in whatever order.
  private static func areSame(_ left: [Argument], _ right: [Argument]) -> Bool {
    guard left.count == right.count else { return false }
    return left.allSatisfy { argument in
      right.contains { $0.name == argument.name && isSame($0.value, argument.value) }
    }
  }

  private static func isSame(_ left: Value, _ right: Value) -> Bool {
    switch (left.kind, right.kind) {
    case (.list(let lefts), .list(let rights)):
      lefts.count == rights.count && zip(lefts, rights).allSatisfy { isSame($0, $1) }
    case (.object(let lefts), .object(let rights)):
      lefts.count == rights.count
        && lefts.allSatisfy { field in rights.contains { $0.name == field.name && isSame($0.value, field.value) } }
    case (let left, let right): left == right
    }
  }

  // MARK: Collecting

  private static func parent(of entry: Entry, _ validation: Validation) -> NamedType? {
    entry.definition.map { validation.schema[$0.type.named] }
  }

  private mutating func fragment(_ name: String, _ validation: Validation) -> Collected? {
    guard let fragment = validation.fragments[name] else { return nil }
    return collect(fragment.selectionSet, on: validation.schema.type(fragment.typeCondition.text), validation)
  }

  private mutating func collect(
    _ set: SelectionSet, on parent: NamedType?, _ validation: Validation
  ) -> Collected {
    if let known = collected[ObjectIdentifier(set)] { return known }
    let fields = Collected()
    Self.add(set, on: parent, to: fields, validation.schema)
    collected[ObjectIdentifier(set)] = fields
    return fields
  }

  private static func add(_ set: SelectionSet, on parent: NamedType?, to fields: Collected, _ schema: Schema) {
    for selection in set.selections {
      switch selection {
      case .field(let field):
        let name = field.responseName
        let entry = Entry(
          field: field, parent: parent, definition: parent.flatMap { schema.field(field.name.text, on: $0) })
        if fields.entries[name]?.append(entry) == nil {
          fields.names.append(name)
          fields.entries[name] = [entry]
        }
      case .fragmentSpread(let spread):
        if !fields.fragments.contains(spread.name.text) { fields.fragments.append(spread.name.text) }
      case .inlineFragment(let fragment):
        let type = fragment.typeCondition.map { schema.type($0.text) } ?? parent
        add(fragment.selectionSet, on: type, to: fields, schema)
      }
    }
  }
}
