internal import MartletJSON

extension Record {
  /// About how many bytes its values have as JSON; what makes a record large, long texts, is counted as it is.
  package var size: Int { values.reduce(0) { $0 + Self.size(of: $1) } }

  private static func size(of value: JSONValue) -> Int {
    switch value {
    case .string(let text): text.utf8.count + 2
    case .array(let elements): elements.reduce(2) { $0 + size(of: $1) + 1 }
    case .object(let members): members.reduce(2) { $0 + $1.key.utf8.count + size(of: $1.value) + 4 }
    default: 8
    }
  }
}
