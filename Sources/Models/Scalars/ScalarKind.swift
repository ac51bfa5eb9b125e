package import MartletJSON

/// The scalars a stored field can have: GraphQL's own and AppSync's.
package enum ScalarKind: String, Sendable, Hashable, CaseIterable {
  case id = "ID"
  case string = "String"
  case int = "Int"
  case float = "Float"
  case boolean = "Boolean"
  case awsDate = "AWSDate"
  case awsTime = "AWSTime"
  case awsDateTime = "AWSDateTime"
  case awsTimestamp = "AWSTimestamp"
  case awsEmail = "AWSEmail"
  case awsJSON = "AWSJSON"
  case awsURL = "AWSURL"
  case awsPhone = "AWSPhone"
  case awsIPAddress = "AWSIPAddress"

  /// Whether AppSync defines it, rather than GraphQL.
  package var isAWS: Bool {
    switch self {
    case .id, .string, .int, .float, .boolean: false
    case .awsDate, .awsTime, .awsDateTime, .awsTimestamp, .awsEmail, .awsJSON, .awsURL, .awsPhone, .awsIPAddress: true
    }
  }

  /// Whether it is text of a date or time, which is compared by the moment that it means.
  package var isMoment: Bool {
    switch self {
    case .awsDate, .awsTime, .awsDateTime: true
    case .id, .string, .int, .float, .boolean, .awsTimestamp, .awsEmail, .awsJSON, .awsURL, .awsPhone, .awsIPAddress:
      false
    }
  }

  /// The scalar whose filter inputs this one uses: text for all of AppSync's but the timestamp.
  package var filterBase: ScalarKind {
    switch self {
    case .id, .string, .int, .float, .boolean: self
    case .awsTimestamp: .int
    case .awsDate, .awsTime, .awsDateTime, .awsEmail, .awsJSON, .awsURL, .awsPhone, .awsIPAddress: .string
    }
  }

  /// Whether `value` is a value of this scalar, in the form it is stored.
  package func accepts(_ value: JSONValue) -> Bool {
    switch self {
    case .id, .string: return value.string != nil
    case .int: return value.int.map { Int32(exactly: $0) != nil } ?? false
    case .float: return value.double != nil
    case .boolean: return value.bool != nil
    case .awsTimestamp: return value.int != nil
    case .awsJSON:
      guard let text = value.string else { return false }
      return (try? JSONTape(Array(text.utf8))) != nil
    case .awsDate:
      return value.string.map {
        var scan = TextScan($0); return scan.date() && scan.offset() && scan.isAtEnd
      } ?? false
    case .awsTime:
      return value.string.map {
        var scan = TextScan($0); return scan.time() && scan.offset() && scan.isAtEnd
      } ?? false
    case .awsDateTime:
      return value.string.map {
        var scan = TextScan($0);
        return scan.date() && scan.take("T") && scan.time() && scan.offset(required: true) && scan.isAtEnd
      } ?? false
    case .awsEmail: return value.string.map(AWSText.isEmail) ?? false
    case .awsURL: return value.string.map(AWSText.isURL) ?? false
    case .awsPhone: return value.string.map(AWSText.isPhone) ?? false
    case .awsIPAddress: return value.string.map(AWSText.isIPAddress) ?? false
    }
  }
}
