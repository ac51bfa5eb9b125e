import MartletGraphQLLanguage

/// Gathers what the selections on one object mean once fragments are merged (section 6.3.2 "Field Collection"), for all
/// objects of a scope at once.
struct SelectionCollector {
  /// A set of selections, the type they were written for, and the conditions they stand under.
  struct Source {
    var set: SelectionSet
    var parent: NamedType
    var conditions: Set<String> = []
    /// Whether they are written for some objects of the scope only. They are not members then, but show that a field
    /// may be there although what is written for all objects is left out.
    var isPartial = false
  }

  /// One way to a field.
  struct Occurrence {
    var field: Field
    var definition: SchemaField
    var conditions: Set<String>
  }

  let schema: Schema
  let fragments: [String: FragmentDefinition]
  /// The object types the result stands for.
  let scope: Set<TypeID>
  /// The object types before a type condition narrowed them; nil when none did.
  let outer: Set<TypeID>?
  /// Response names in order of their first appearance.
  private(set) var order: [String] = []
  private(set) var occurrences: [String: [Occurrence]] = [:]
  /// Ways to fields that some objects of the scope have besides.
  private(set) var partial: [String: [Occurrence]] = [:]
  /// Type conditions that some objects of the scope satisfy and some do not.
  private(set) var narrowings: [NamedType] = []
  private(set) var spreads: [Shape.Spread] = []

  init(schema: Schema, fragments: [String: FragmentDefinition], scope: Set<TypeID>, outer: Set<TypeID>?) {
    self.schema = schema
    self.fragments = fragments
    self.scope = scope
    self.outer = outer
  }

  /// - Parameters:
  ///   - mayNarrow: whether type conditions here become cases of the shape. Those beside the condition that made the
  ///     scope do not: their cases are the outer shape's.
  ///   - isOwn: whether the selections are written here rather than in a named fragment.
  mutating func collect(_ source: Source, mayNarrow: Bool, isOwn: Bool = true) {
    for selection in source.set.selections {
      let conditions = source.conditions.union(Self.conditions(selection.directives))
      switch selection {
      case .field(let field):
        guard let definition = schema.field(field.name.text, on: source.parent) else { continue }
        let name = field.responseName
        if source.isPartial {
          partial[name, default: []].append(Occurrence(field: field, definition: definition, conditions: conditions))
          continue
        }
        if occurrences[name] == nil { order.append(name) }
        occurrences[name, default: []].append(
          Occurrence(field: field, definition: definition, conditions: conditions))
      case .inlineFragment(let fragment):
        let type = fragment.typeCondition.flatMap { schema.type($0.text) } ?? source.parent
        let inner = Source(
          set: fragment.selectionSet, parent: type, conditions: conditions, isPartial: source.isPartial)
        enter(inner, mayNarrow: mayNarrow, isOwn: isOwn, spread: nil)
      case .fragmentSpread(let spread):
        guard let fragment = fragments[spread.name.text], let type = schema.type(fragment.typeCondition.text) else {
          continue
        }
        let inner = Source(
          set: fragment.selectionSet, parent: type, conditions: conditions, isPartial: source.isPartial)
        enter(inner, mayNarrow: mayNarrow, isOwn: isOwn, spread: spread)
      }
    }
  }

  private mutating func enter(_ source: Source, mayNarrow: Bool, isOwn: Bool, spread: FragmentSpread?) {
    let possible = Set(source.parent.possibleTypes)
    if source.isPartial {
      if !scope.isDisjoint(with: possible) { collect(source, mayNarrow: false, isOwn: false) }
    } else if scope.isSubset(of: possible) {
      let madeScope = outer.map { !$0.isSubset(of: possible) } ?? false
      let mayNarrow = mayNarrow || madeScope
      if let spread, isOwn, mayNarrow, !spreads.contains(where: { $0.fragment == spread.name.text }) {
        spreads.append(
          Shape.Spread(
            fragment: spread.name.text, isConditional: !source.conditions.isEmpty, location: spread.location))
      }
      collect(source, mayNarrow: mayNarrow, isOwn: isOwn && spread == nil)
    } else if !scope.isDisjoint(with: possible) {
      if mayNarrow, !narrowings.contains(where: { $0 === source.parent }) { narrowings.append(source.parent) }
      var partial = source
      partial.isPartial = true
      collect(partial, mayNarrow: false, isOwn: false)
    }
  }

  /// The directives that may leave a selection out, as text, so that equal conditions are equal.
  static func conditions(_ directives: [Directive]) -> Set<String> {
    Set(directives.filter { conditional.contains($0.name.text) }.map { Printer.text(of: $0) })
  }

  private static let conditional: Set<String> = ["skip", "include", "defer"]
}
