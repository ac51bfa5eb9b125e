/// An estimate of what executing an operation costs, before anything is executed.
///
/// A field costs 1. What is selected below a list counts as often as the list may have elements: as its `limit`,
/// `first` or `last` argument says, or the default of that argument in the schema, else `assumedListLength` times.
/// Where a field with such an argument is not a list but a page, the argument is the length of the lists directly below
/// it (`items`, `edges`), so that a page size counts once. What a variable says counts once the request's variables are
/// known. Fragments count wherever they are spread.
package enum OperationCost {
  /// The length assumed of lists that do not say theirs. Default 10.
  package static let assumedListLength = 10
  /// The cost at which counting stops.
  package static let most = Int(Int32.max)

  /// The cost of `operation` in a valid document.
  ///
  /// - Parameter variable: the value of an integer variable, when it is known.
  package static func estimate(
    _ operation: OperationDefinition, in document: Document, schema: Schema,
    variable: @escaping (String) -> Int? = { _ in nil }
  ) -> Int {
    let fragments = Dictionary(document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { $1 })
    return estimate(operation, fragments: fragments, schema: schema, variable: variable)
  }

  /// The same with the fragments of the document by their names.
  ///
  /// - Parameter largestPage: what a list or page has at most, whatever an argument asks for.
  package static func estimate(
    _ operation: OperationDefinition, fragments: [String: FragmentDefinition], schema: Schema,
    largestPage: Int = .max, variable: @escaping (String) -> Int? = { _ in nil }
  ) -> Int {
    guard let root = schema.rootType(operation.kind) else { return 0 }
    var known: [String: Int] = [:]
    let sizes = Sizes(largest: largestPage, variable: variable)
    return cost(operation.selectionSet, on: root, schema, fragments, &known, sizes)
  }

  /// Why an operation of this cost is refused; nil where it may cost so much.
  package static func refusal(of operation: OperationDefinition, cost: Int, allowed: Int) -> String? {
    guard cost > allowed else { return nil }
    let subject = operation.name.map { "The operation '\($0.text)'" } ?? "The anonymous operation"
    return "\(subject) is too complex: its estimated cost is \(cost == most ? "at least " : "")\(cost), at most "
      + "\(allowed) is allowed."
  }

  static func check(_ operations: [OperationDefinition], _ validation: Validation) {
    for operation in operations {
      let cost = estimate(
        operation, fragments: validation.fragments, schema: validation.schema,
        largestPage: validation.limits.largestPage)
      guard let refusal = refusal(of: operation, cost: cost, allowed: validation.limits.complexity) else { continue }
      validation.report(.validationLimits, refusal, operation.location)
    }
  }

  private static func cost(
    _ set: SelectionSet, on parent: NamedType, _ schema: Schema, _ fragments: [String: FragmentDefinition],
    _ known: inout [String: Int], page: Int? = nil, _ sizes: Sizes
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
        let length = length(field, definition, sizes)
        let isList = definition.type.isList
        let below = self.cost(
          set, on: schema[definition.type.named], schema, fragments, &known, page: isList ? nil : length, sizes)
        let factor = isList ? length ?? page ?? assumedListLength : 1
        let (product, overflow) = below.multipliedReportingOverflow(by: factor)
        cost = overflow ? most : min(most, product) + 1
      case .inlineFragment(let fragment):
        let type = fragment.typeCondition.flatMap { schema.type($0.text) } ?? parent
        cost = self.cost(fragment.selectionSet, on: type, schema, fragments, &known, page: page, sizes)
      case .fragmentSpread(let spread):
        // A fragment may be spread in pages of several sizes.
        let name = page.map { "\(spread.name.text) \($0)" } ?? spread.name.text
        if let value = known[name] {
          cost = value
        } else if let fragment = fragments[spread.name.text], let type = schema.type(fragment.typeCondition.text) {
          known[name] = 0
          cost = self.cost(fragment.selectionSet, on: type, schema, fragments, &known, page: page, sizes)
          known[name] = cost
        } else {
          continue
        }
      }
      sum = min(most, sum + cost)
    }
    return sum
  }

  /// What is known of the lengths of lists.
  private struct Sizes {
    let largest: Int
    let variable: (String) -> Int?

    func length(_ asked: Int) -> Int { min(max(0, asked), largest) }
  }

  /// The arguments that give a list, or a page, its length.
  private static let lengths = ["limit", "first", "last"]

  /// The length that a field's argument gives its list, or its page.
  private static func length(_ field: Field, _ definition: SchemaField, _ sizes: Sizes) -> Int? {
    for argument in field.arguments where lengths.contains(argument.name.text) {
      switch argument.value.kind {
      case .int(let digits): if let length = Int(digits) { return sizes.length(length) }
      case .variable(let name): if let length = sizes.variable(name) { return sizes.length(length) }
      case .float, .string, .boolean, .null, .enumeration, .list, .object: break
      }
    }
    // A variable without a value, or whose value is not known yet: the default says what is usual.
    for name in lengths {
      if case .int(let digits)? = definition.argument(name)?.defaultValue?.kind, let length = Int(digits) {
        return sizes.length(length)
      }
    }
    return nil
  }
}
