/// A parsed document: its bytes, and one token per value and member name, in document order.
///
/// Nothing is decoded until it is asked for, so routing a message costs one pass over its bytes.
package struct JSONTape: Sendable {
  package enum Kind: UInt8, Sendable { case null, `false`, `true`, number, string, array, object }

  struct Token: Sendable {
    var kind: Kind
    /// A string with escapes, or a number with fraction or exponent.
    var isComplex: Bool
    /// Range in the bytes: of a string without its quotes, of a container with its brackets.
    var start: UInt32
    var end: UInt32
    /// Index after the last token of this value.
    var next: UInt32
    /// Children of an array, members of an object.
    var count: UInt32
  }

  package let bytes: [UInt8]
  var tokens: [Token]

  /// Parses one whole document.
  package init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var parser = JSONParser(bytes, limits: limits)
    tokens = try parser.parse()
    self.bytes = bytes
  }

  /// The document's value.
  package var root: Element { Element(tape: self, index: 0) }

  /// One value in a tape.
  package struct Element: Sendable {
    let tape: JSONTape
    let index: Int

    var token: Token { tape.tokens[index] }

    package var kind: Kind { token.kind }

    package var isNull: Bool { token.kind == .null }

    /// Where the value stands in the tape's bytes, quotes and brackets included.
    package var range: Range<Int> {
      let token = token
      return token.kind == .string ? Int(token.start) - 1..<Int(token.end) + 1 : Int(token.start)..<Int(token.end)
    }

    /// The value as it was written.
    package var rawBytes: ArraySlice<UInt8> { tape.bytes[range] }

    /// Children of an array or members of an object.
    package var count: Int { Int(token.count) }

    package var bool: Bool? {
      switch token.kind {
      case .true: true
      case .false: false
      case .null, .number, .string, .array, .object: nil
      }
    }

    package var string: String? { token.kind == .string ? tape.text(of: token) : nil }

    /// The number as a value; nil when this is not a number.
    package var number: JSONValue? {
      let token = token
      guard token.kind == .number else { return nil }
      return JSONNumber.value(of: tape.bytes[Int(token.start)..<Int(token.end)], isComplex: token.isComplex)
    }

    package var int: Int64? {
      if case .int(let value)? = number { return value }
      return nil
    }

    /// The value of member `name`, compared by bytes; of several under a lenient policy, the one that counts.
    package subscript(name: StaticString) -> Element? {
      guard token.kind == .object else { return nil }
      var found: Element?
      name.withUTF8Buffer { wanted in
        var index = index + 1
        for _ in 0..<token.count {
          let key = tape.tokens[index]
          let content = tape.bytes[Int(key.start)..<Int(key.end)]
          let isSame =
            key.isComplex
            ? unsafe JSONText.unescaped(content).elementsEqual(wanted)
            : unsafe content.count == wanted.count && content.elementsEqual(wanted)
          if isSame {
            found = Element(tape: tape, index: index + 1)
            return
          }
          index = Int(tape.tokens[index + 1].next)
        }
      }
      return found
    }

    /// Calls `body` with each child of an array.
    package func forEach(_ body: (Element) throws -> Void) rethrows {
      guard token.kind == .array else { return }
      var index = index + 1
      for _ in 0..<token.count {
        try body(Element(tape: tape, index: index))
        index = Int(tape.tokens[index].next)
      }
    }

    /// Calls `body` with each member of an object.
    package func forEachMember(_ body: (String, Element) throws -> Void) rethrows {
      guard token.kind == .object else { return }
      var index = index + 1
      for _ in 0..<token.count {
        try body(Element(tape: tape, index: index).string ?? "", Element(tape: tape, index: index + 1))
        index = Int(tape.tokens[index + 1].next)
      }
    }

    /// Calls `body` with each member of an object: its name, the offset of the name's quote, and its value.
    package func forEachMember(_ body: (String, Int, Element) throws -> Void) rethrows {
      guard token.kind == .object else { return }
      var index = index + 1
      for _ in 0..<token.count {
        let name = Element(tape: tape, index: index)
        try body(name.string ?? "", name.range.lowerBound, Element(tape: tape, index: index + 1))
        index = Int(tape.tokens[index + 1].next)
      }
    }

    /// The value as an enum, decoded whole.
    package var value: JSONValue { tape.value(at: index) }
  }

  // MARK: Values by their position, which count no references to the tape on the way

  private func text(of token: Token) -> String {
    let content = bytes[Int(token.start)..<Int(token.end)]
    return String(decoding: token.isComplex ? JSONText.unescaped(content)[...] : content, as: UTF8.self)
  }

  func value(at index: Int) -> JSONValue {
    let token = tokens[index]
    switch token.kind {
    case .null: return .null
    case .true: return .bool(true)
    case .false: return .bool(false)
    case .number:
      return JSONNumber.value(of: bytes[Int(token.start)..<Int(token.end)], isComplex: token.isComplex) ?? .null
    case .string: return .string(text(of: token))
    case .array:
      var children: [JSONValue] = []
      children.reserveCapacity(Int(token.count))
      var child = index + 1
      for _ in 0..<token.count {
        children.append(value(at: child))
        child = Int(tokens[child].next)
      }
      return .array(children)
    case .object:
      var members: [JSONObject.Element] = []
      members.reserveCapacity(Int(token.count))
      var name = index + 1
      for _ in 0..<token.count {
        members.append((key: text(of: tokens[name]), value: value(at: name + 1)))
        name = Int(tokens[name + 1].next)
      }
      // The parser has applied the policy for names that occur twice.
      return .object(JSONObject(distinct: members))
    }
  }
}
