internal import MartletJSON
internal import MartletModels
internal import MartletVocabulary

/// Conditions on dates as texts, which follow from conditions on the moments that they mean: an offset is less than a
/// day, so that the text of a moment begins with its date in UTC, the day before or the day after.
extension Predicate {
  /// What follows for the texts from a comparison of moments; none where nothing does.
  func textsOfMoments(_ shape: RecordShape) -> [Predicate] {
    guard case .compare(let field, .moment(let comparison)) = self, shape.columns.indices.contains(field),
      // Of these every stored text is a date.
      [ScalarKind.awsDate.rawValue, ScalarKind.awsDateTime.rawValue].contains(shape.columns[field].signature)
    else { return [] }
    func from(_ value: JSONValue) -> [Predicate] {
      Self.day(value, -1).map { [.compare(field: field, .ge(.string($0)))] } ?? []
    }
    func to(_ value: JSONValue) -> [Predicate] {
      Self.day(value, 2).map { [.compare(field: field, .lt(.string($0)))] } ?? []
    }
    return switch comparison {
    case .eq(let value): from(value) + to(value)
    case .lt(let value), .le(let value): to(value)
    case .gt(let value), .ge(let value): from(value)
    case .between(let low, let high): from(low) + to(high)
    case .ne, .in, .notIn, .beginsWith, .contains, .notContains, .attributeExists, .attributeType, .size, .moment: []
    }
  }

  /// The text of the day that is some days after a moment's in UTC; nil without one of four digits.
  private static func day(_ value: JSONValue, _ days: Int64) -> String? {
    guard case .string(let text) = value, let moment = MomentText(text), !moment.isTime else { return nil }
    let date = CivilDate(days: Int64((Double(moment.milliseconds) / 86_400_000).rounded(.down)) + days)
    guard (0...9_999).contains(date.year) else { return nil }
    func padded(_ number: Int64, _ width: Int) -> String {
      String(String(10_000 + number).suffix(width))
    }
    return "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))"
  }
}
