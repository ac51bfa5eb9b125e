internal import MartletJSON
internal import MartletModels

extension Comparison {
  /// What means the same in operands that a server's input for such a column takes: its filters have types, where the
  /// device compares any two values. JSON has no infinite numbers and no NaN, an input of whole numbers no fractions,
  /// none has an order with null (which means there that nothing is asked), and text is not a number.
  ///
  /// Nil for a comparison whose operands are such, and for one over a list or an embedded value, whose inputs depend on
  /// what is in it.
  func sayable(_ field: Int, as storage: ColumnStorage) -> Predicate? {
    func compare(_ comparison: Comparison) -> Predicate { .compare(field: field, comparison) }
    switch self {
    case .lt(.null), .le(.null), .gt(.null), .ge(.null), .between(.null, _), .between(_, .null): return Predicate.none
    case .moment(let comparison): return comparison.sayable(field, as: storage)
    case .eq(.null), .ne(.null), .in, .notIn, .attributeExists, .attributeType, .size: return nil
    case .between(let low, let high):
      guard storage.mayBeOrdered(with: low), storage.mayBeOrdered(with: high) else { return Predicate.none }
      let isPlain = storage.isPlain(low) && storage.isPlain(high)
      return isPlain ? nil : .and([compare(.ge(low)), compare(.le(high))])
    case .beginsWith: return storage == .text || storage == .json ? nil : Predicate.none
    case .contains(let part): return storage.mayContain(part) ? nil : Predicate.none
    case .notContains(let part): return storage.mayContain(part) ? nil : .all
    case .eq(let value): return storage.mayBeEqual(to: value) ? nil : Predicate.none
    case .ne(let value): return storage.mayBeEqual(to: value) ? nil : .all
    case .lt(let value), .le(let value): return bound(field, value, isUpper: true, storage)
    case .gt(let value), .ge(let value): return bound(field, value, isUpper: false, storage)
    }
  }

  /// One bound. A fraction lies between two whole numbers, and what no whole number is beyond has all of them, or none,
  /// on its one side.
  private func bound(_ field: Int, _ value: JSONValue, isUpper: Bool, _ storage: ColumnStorage) -> Predicate? {
    guard storage.mayBeOrdered(with: value) else { return Predicate.none }
    guard case .double(let number) = value, !storage.isPlain(value) else { return nil }
    if let below = Int64(exactly: number.rounded(.down)) {
      return .compare(field: field, isUpper ? .le(.int(below)) : .gt(.int(below)))
    }
    guard !number.isNaN, (number > 0) == isUpper else { return Predicate.none }
    // Of what is in JSON numbers alone are ordered with one.
    let (least, greatest) = (JSONValue.double(-.greatestFiniteMagnitude), JSONValue.double(.greatestFiniteMagnitude))
    let isNumber = Comparison.attributeExists(true)
    return .compare(field: field, storage != .json ? isNumber : isUpper ? .le(greatest) : .ge(least))
  }
}

extension ColumnStorage {
  /// Whether there may be an order between the column's values and this one.
  fileprivate func mayBeOrdered(with value: JSONValue) -> Bool {
    switch (self, value) {
    case (.json, _), (.text, .string), (.integer, .int), (.integer, .uint), (.integer, .double), (.real, .int),
      (.real, .uint), (.real, .double):
      true
    case (_, _): false
    }
  }

  /// Whether an input for the column takes a value that may be ordered with the column's.
  fileprivate func isPlain(_ value: JSONValue) -> Bool {
    guard case .double(let number) = value else { return true }
    return self == .integer ? Int64(exactly: number) != nil : number.isFinite
  }

  fileprivate func mayBeEqual(to value: JSONValue) -> Bool {
    switch (self, value) {
    case (.boolean, .bool): true
    case (_, _): mayBeOrdered(with: value) && isPlain(value)
    }
  }

  fileprivate func mayContain(_ part: JSONValue) -> Bool {
    switch self {
    case .json: isPlain(part)
    case .text: part.string != nil
    case .integer, .real, .boolean: false
    }
  }
}
