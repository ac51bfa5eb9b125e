internal import MartletJSON
internal import MartletModels

extension Comparison {
  /// What means the same without infinite numbers and NaN: JSON has neither, and stored numbers are finite. Nil for a
  /// comparison without them.
  func finite(_ field: Int) -> Predicate? {
    func compare(_ comparison: Comparison) -> Predicate { .compare(field: field, comparison) }
    let (least, greatest) = (JSONValue.double(-.greatestFiniteMagnitude), JSONValue.double(.greatestFiniteMagnitude))
    switch self {
    case .eq(.double(let number)) where !number.isFinite: return Predicate.none
    case .ne(.double(let number)) where !number.isFinite: return .all
    case .lt(.double(let number)) where !number.isFinite, .le(.double(let number)) where !number.isFinite:
      return number == .infinity ? compare(.le(greatest)) : Predicate.none
    case .gt(.double(let number)) where !number.isFinite, .ge(.double(let number)) where !number.isFinite:
      return number == -.infinity ? compare(.ge(least)) : Predicate.none
    case .between(.double(let low), let high) where !low.isFinite:
      return .and([compare(.ge(.double(low))), compare(.le(high))])
    case .between(let low, .double(let high)) where !high.isFinite:
      return .and([compare(.ge(low)), compare(.le(.double(high)))])
    case .contains(.double(let number)) where !number.isFinite: return Predicate.none
    case .notContains(.double(let number)) where !number.isFinite: return .all
    case .eq, .ne, .lt, .le, .gt, .ge, .between, .beginsWith, .contains, .notContains, .in, .notIn, .attributeExists,
      .attributeType, .size:
      return nil
    }
  }
}
