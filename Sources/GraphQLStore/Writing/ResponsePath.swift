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

  /// The paths of errors and of everything above them, where a null stands for what failed.
  static func failed(_ errors: [JSONValue]) -> Set<String> {
    var failed: Set<String> = []
    for error in errors {
      var path = ResponsePath()
      for part in error["path"]?.array ?? [] {
        if let key = part.string { path.push(key) } else if let index = part.int { path.push(Int(index)) }
        failed.insert(path.text)
      }
    }
    return failed
  }
}
