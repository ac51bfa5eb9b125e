internal import MartletJSON

/// Where in a result something stands.
struct ResponsePath {
  enum Part {
    case key(String)
    case index(Int)
  }
  private(set) var parts: [Part] = []

  mutating func push(_ key: String) { parts.append(.key(key)) }
  mutating func push(_ index: Int) { parts.append(.index(index)) }
  mutating func pop() { parts.removeLast() }

  /// As in `flights.3.gate`.
  var text: String {
    var text = ""
    for part in parts {
      if !text.isEmpty { text += "." }
      switch part {
      case .key(let key): text += key
      case .index(let index): text += String(index)
      }
    }
    return text
  }

  /// The paths of errors and of everything above them, where a null stands for what failed. What the caller may not
  /// see is not among them: there null is the value, and takes the place of one that it could see before.
  static func failed(_ errors: [JSONValue]) -> Set<String> {
    var failed: Set<String> = []
    for error in errors where !isRefusal(error) {
      var path = ResponsePath()
      for part in error["path"]?.array ?? [] {
        if let key = part.string { path.push(key) } else if let index = part.int { path.push(Int(index)) }
        failed.insert(path.text)
      }
    }
    return failed
  }

  /// Whether an error says that the caller may not see a field: `FORBIDDEN` of this package's servers and others,
  /// `Unauthorized` of AppSync's.
  private static func isRefusal(_ error: JSONValue) -> Bool {
    error["extensions"]?["code"] == "FORBIDDEN" || error["errorType"] == "Unauthorized"
  }
}
