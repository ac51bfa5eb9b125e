/// An estimate of what executing an operation costs, before anything is executed.
///
/// A field costs 1. What is selected below a list counts as often as the list may have elements: as its `limit`,
/// `first` or `last` argument says, or the default of that argument in the schema, else `assumedListLength` times.
/// Where a field with such an argument is not a list but a page, the argument is the length of the lists directly below
/// it (`items`, `edges`), so that a page size counts once. Fragments count wherever they are spread.
package enum OperationCost {
  /// The length assumed of lists that do not say theirs. Default 10.
  package static let assumedListLength = 10
  /// The cost at which counting stops.
  package static let most = Int(Int32.max)

  /// The cost of `operation` in a valid document.
  ///
  /// - Parameter variable: the value of an integer variable, when it is known.
  package static func estimate(
    _ operation: OperationDefinition, in document: Document, schema: Schema, variable: (String) -> Int? = { _ in nil }
  ) -> Int {
    guard let root = schema.rootType(operation.kind) else { return 0 }
    let fragments = Dictionary(document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { $1 })
    var known: [String: Int] = [:]
    return cost(operation.selectionSet, on: root, schema, fragments, &known, variable)
  }

  static func check(_ operations: [OperationDefinition], _ validation: Validation) {
    for operation in operations {
      guard let root = validation.schema.rootType(operation.kind) else { continue }
      var known: [String: Int] = [:]
      let cost = cost(
        operation.selectionSet, on: root, validation.schema, validation.fragments, &known, { _ in nil })
      guard cost > validation.limits.complexity else { continue }
      let subject = operation.name.map { "The operation '\($0.text)'" } ?? "The anonymous operation"
      validation.report(
        .validationLimits,
        "\(subject) is too complex: its estimated cost is \(cost == most ? "at least " : "")\(cost), at most "
          + "\(validation.limits.complexity) is allowed.", operation.location)
    }
  }

  private static func cost(
    _ set: SelectionSet, on parent: NamedType, _ schema: Schema, _ fragments: [String: FragmentDefinition],
    _ known: inout [String: Int], page: Int? = nil, _ variable: (String) -> Int?
  ) -> Int {
    var sum = 0
    for selection in set.selections {
      let cost: Int
      switch selection {
      case .field(let field):
        guard let definition = schema.field(field.name.text, on: parent) else { continue }
        guard let set = field.selectionSet else {
          sum += 1
          continue
        }
        let length = length(field, definition, variable)
        let isList = definition.type.isList
        let below = self.cost(
          set, on: schema[definition.type.named], schema, fragments, &known, page: isList ? nil : length, variable)
        let factor = isList ? length ?? page ?? assumedListLength : 1
        let (product, overflow) = below.multipliedReportingOverflow(by: factor)
        cost = overflow ? most : min(most, product) + 1
      case .inlineFragment(let fragment):
        let type = fragment.typeCondition.flatMap { schema.type($0.text) } ?? parent
        cost = self.cost(fragment.selectionSet, on: type, schema, fragments, &known, page: page, variable)
      case .fragmentSpread(let spread):
        // A fragment may be spread in pages of several sizes.
        let name = page.map { "\(spread.name.text) \($0)" } ?? spread.name.text
        if let value = known[name] {
          cost = value
        } else if let fragment = fragments[spread.name.text], let type = schema.type(fragment.typeCondition.text) {
          known[name] = 0
          cost = self.cost(fragment.selectionSet, on: type, schema, fragments, &known, page: page, variable)
          known[name] = cost
        } else {
          continue
        }
      }
      sum = min(most, sum + cost)
    }
    return sum
  }

  /// The arguments that give a list, or a page, its length.
  private static let lengths = ["limit", "first", "last"]

  /// The length that a field's argument gives its list, or its page.
  private static func length(_ field: Field, _ definition: SchemaField, _ variable: (String) -> Int?) -> Int? {
    for argument in field.arguments where lengths.contains(argument.name.text) {
      switch argument.value.kind {
      case .int(let digits): if let length = Int(digits) { return max(0, length) }
      case .variable(let name): if let length = variable(name) { return max(0, length) }
      case .float, .string, .boolean, .null, .enumeration, .list, .object: break
      }
    }
    // A variable whose value is not known may have any value; the default says what is usual.
    for name in lengths {
      if case .int(let digits)? = definition.argument(name)?.defaultValue?.kind, let length = Int(digits) {
        return max(0, length)
      }
    }
    return nil
  }
}
