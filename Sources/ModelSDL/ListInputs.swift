/// Filter inputs of fields that are lists of numbers or of truth values.
///
/// AppSync's generator gives such a field the input of one element, which cannot ask for an element. These have that
/// input's operators, so that what names them there is valid here, and `contains` and `notContains`.
enum ListInputs {
  /// The input of a filter or a condition; nil for the other bases, whose own inputs have the two operators.
  static func name(_ base: String) -> String? { operators[base].map { _ in "Model\(base)ListInput" } }

  /// The input of a subscription's filter; nil for the other bases.
  static func subscriptionName(_ base: String) -> String? {
    operators[base].map { _ in "ModelSubscription\(base)ListInput" }
  }

  /// Both inputs of a base.
  static func source(_ base: String) -> [String] {
    let own = operators[base] ?? ""
    let elements = "contains: \(base) notContains: \(base)"
    let among = base == "Boolean" ? "" : " in: [\(base)] notIn: [\(base)]"
    return [
      "input Model\(base)ListInput { \(own) \(elements) attributeExists: Boolean attributeType: ModelAttributeTypes }",
      "input ModelSubscription\(base)ListInput { \(own) \(elements)\(among) }",
    ]
  }

  private static let operators = [
    "Int": "ne: Int eq: Int le: Int lt: Int ge: Int gt: Int between: [Int]",
    "Float": "ne: Float eq: Float le: Float lt: Float ge: Float gt: Float between: [Float]",
    "Boolean": "ne: Boolean eq: Boolean",
  ]
}
