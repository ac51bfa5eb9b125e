/// A lexical token: its kind and where it stands (section 2.1.6 "Lexical Tokens").
struct Token {
  enum Kind: UInt8 {
    case end
    case bang, dollar, ampersand, parenthesisLeft, parenthesisRight, spread, colon, equals, at
    case bracketLeft, bracketRight, braceLeft, pipe, braceRight
    case name, int, float, string, blockString

    /// The kind as messages show it.
    var text: String {
      switch self {
      case .end: "<EOF>"
      case .bang: "'!'"
      case .dollar: "'$'"
      case .ampersand: "'&'"
      case .parenthesisLeft: "'('"
      case .parenthesisRight: "')'"
      case .spread: "'...'"
      case .colon: "':'"
      case .equals: "'='"
      case .at: "'@'"
      case .bracketLeft: "'['"
      case .bracketRight: "']'"
      case .braceLeft: "'{'"
      case .pipe: "'|'"
      case .braceRight: "'}'"
      case .name: "Name"
      case .int: "Int"
      case .float: "Float"
      case .string: "String"
      case .blockString: "BlockString"
      }
    }

    /// Whether messages show the token's text beside its kind.
    var hasText: Bool {
      switch self {
      case .name, .int, .float, .string, .blockString: true
      case .end, .bang, .dollar, .ampersand, .parenthesisLeft, .parenthesisRight, .spread, .colon, .equals, .at,
        .bracketLeft, .bracketRight, .braceLeft, .pipe, .braceRight:
        false
      }
    }
  }

  var kind: Kind
  /// Whether a string token holds a backslash.
  var hasEscape = false
  /// The bytes of the token in the source, quotes included.
  var start: Int
  var end: Int
  var line: UInt32
  var column: UInt32

  var location: Location {
    Location(line: line, column: column, offset: UInt32(truncatingIfNeeded: start))
  }
}
