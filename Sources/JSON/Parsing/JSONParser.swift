/// Checks the grammar of RFC 8259 and lays a document out as tokens. Iterative: depth costs memory, not stack.
struct JSONParser {
  private let bytes: [UInt8]
  private let limits: JSONLimits
  private var at = 0
  private var tokens: [JSONTape.Token] = []
  /// Containers that are open: their token indices.
  private var open: [Int] = []

  init(_ bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
  }

  private enum Expecting { case value, valueOrEnd, keyOrEnd, key, commaOrEnd }

  mutating func parse() throws(JSONError) -> [JSONTape.Token] {
    guard bytes.count <= min(limits.bytes, Int(UInt32.max) - 1) else { throw JSONError(.tooLarge, at: limits.bytes) }
    // Room for a long document's tokens is made at once, one and a half times its bytes, so that they are not copied as
    // they become more.
    tokens.reserveCapacity(min(bytes.count / 8 + 4, max(4_096, bytes.count / 16)))
    var expecting = Expecting.value
    repeat {
      skipSpace()
      guard at < bytes.count else { throw JSONError(.unexpectedEnd, at: at) }
      let byte = bytes[at]
      switch expecting {
      case .valueOrEnd where byte == UInt8(ascii: "]"): expecting = close()
      case .keyOrEnd where byte == UInt8(ascii: "}"): expecting = try closeObject()
      case .value, .valueOrEnd: expecting = try value(byte)
      case .keyOrEnd, .key: expecting = try key(byte)
      case .commaOrEnd: expecting = try comma(byte)
      }
    } while !open.isEmpty || tokens.isEmpty
    skipSpace()
    guard at == bytes.count else { throw JSONError(.trailingBytes, at: at) }
    return tokens
  }

  private mutating func skipSpace() {
    while at < bytes.count {
      switch bytes[at] {
      case 0x20, 0x09, 0x0A, 0x0D: at += 1
      default: return
      }
    }
  }

  private mutating func value(_ byte: UInt8) throws(JSONError) -> Expecting {
    if let parent = open.last, tokens[parent].kind == .array { tokens[parent].count += 1 }
    switch byte {
    case UInt8(ascii: "{"): return try begin(.object, .keyOrEnd)
    case UInt8(ascii: "["): return try begin(.array, .valueOrEnd)
    case UInt8(ascii: "\""): try string()
    case UInt8(ascii: "t"): try word("true", .true)
    case UInt8(ascii: "f"): try word("false", .false)
    case UInt8(ascii: "n"): try word("null", .null)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number()
    default: throw JSONError(.unexpectedByte, at: at)
    }
    return .commaOrEnd
  }

  private mutating func begin(_ kind: JSONTape.Kind, _ next: Expecting) throws(JSONError) -> Expecting {
    guard open.count < min(limits.depth, JSONLimits.deepest) else { throw JSONError(.tooDeep, at: at) }
    open.append(tokens.count)
    append(kind, isComplex: false, from: at, to: at)
    at += 1
    return next
  }

  private mutating func append(_ kind: JSONTape.Kind, isComplex: Bool, from start: Int, to end: Int) {
    tokens.append(
      JSONTape.Token(
        kind: kind, isComplex: isComplex, start: UInt32(start), end: UInt32(end), next: UInt32(tokens.count + 1),
        count: 0))
  }

  private mutating func close() -> Expecting {
    at += 1
    if let index = open.popLast() {
      tokens[index].end = UInt32(at)
      tokens[index].next = UInt32(tokens.count)
    }
    return .commaOrEnd
  }

  private mutating func comma(_ byte: UInt8) throws(JSONError) -> Expecting {
    guard let parent = open.last else { throw JSONError(.trailingBytes, at: at) }
    let isArray = tokens[parent].kind == .array
    switch byte {
    case UInt8(ascii: ","):
      at += 1
      return isArray ? .value : .key
    case UInt8(ascii: "]") where isArray: return close()
    case UInt8(ascii: "}") where !isArray: return try closeObject()
    default: throw JSONError(.unexpectedByte, at: at)
    }
  }

  private mutating func key(_ byte: UInt8) throws(JSONError) -> Expecting {
    guard byte == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte, at: at) }
    try string()
    skipSpace()
    guard at < bytes.count else { throw JSONError(.unexpectedEnd, at: at) }
    guard bytes[at] == UInt8(ascii: ":") else { throw JSONError(.unexpectedByte, at: at) }
    at += 1
    if let parent = open.last { tokens[parent].count += 1 }
    return .value
  }

  private mutating func word(_ word: StaticString, _ kind: JSONTape.Kind) throws(JSONError) {
    let start = at
    let length = word.utf8CodeUnitCount
    let found = bytes[start..<min(start + length, bytes.count)]
    let matches = word.withUTF8Buffer { unsafe found.elementsEqual($0.prefix(found.count)) }
    guard matches else { throw JSONError(.unexpectedByte, at: start) }
    guard found.count == length else { throw JSONError(.unexpectedEnd, at: bytes.count) }
    at += length
    append(kind, isComplex: false, from: start, to: at)
  }

  private mutating func string() throws(JSONError) {
    let start = at + 1
    let scan = try JSONText.scan(bytes, from: start)
    append(.string, isComplex: scan.hasEscapes, from: start, to: scan.end)
    at = scan.end + 1
  }

  private mutating func number() throws(JSONError) {
    let start = at
    let scan = try JSONNumber.scan(bytes, from: start)
    append(.number, isComplex: scan.isComplex, from: start, to: scan.end)
    at = scan.end
  }

  private mutating func closeObject() throws(JSONError) -> Expecting {
    if let index = open.last, tokens[index].count > 1 { try checkNames(of: index) }
    return close()
  }

  /// Applies the policy for names that occur twice. Small objects compare pairwise and in place, large ones through a
  /// table, and what does not count leaves in one pass, so that no text makes it slow.
  private mutating func checkNames(of object: Int) throws(JSONError) {
    if tokens[object].count <= Self.pairwise, !hasTwins(object) { return }
    var positions: [[UInt8]: Int] = [:]
    var isVictim: [Bool] = []
    var index = object + 1
    for member in 0..<Int(tokens[object].count) {
      isVictim.append(false)
      let known = positions.updateValue(member, forKey: name(at: index))
      if let known {
        switch limits.duplicateKeys {
        case .reject: throw JSONError(.duplicateKey, at: Int(tokens[index].start))
        case .keepFirst: isVictim[member] = true
        case .keepLast: isVictim[known] = true
        }
      }
      index = Int(tokens[index + 1].next)
    }
    drop(isVictim, of: object)
  }

  /// Members up to which names are compared pairwise.
  private static let pairwise = 16

  private func name(at index: Int) -> [UInt8] {
    let token = tokens[index]
    let content = bytes[Int(token.start)..<Int(token.end)]
    return token.isComplex ? JSONText.unescaped(content) : Array(content)
  }

  /// Whether two members of the object that ends with the last token have one name.
  private func hasTwins(_ object: Int) -> Bool {
    var index = Int(tokens[object + 2].next)
    while index < tokens.count {
      var earlier = object + 1
      while earlier < index {
        if isSameName(earlier, index) { return true }
        earlier = Int(tokens[earlier + 1].next)
      }
      index = Int(tokens[index + 1].next)
    }
    return false
  }

  private func isSameName(_ left: Int, _ right: Int) -> Bool {
    let (a, b) = (tokens[left], tokens[right])
    if a.isComplex || b.isComplex { return name(at: left) == name(at: right) }
    guard a.end - a.start == b.end - b.start else { return false }
    // The last byte first: names of one object often share a beginning.
    for offset in (0..<Int(a.end - a.start)).reversed()
    where bytes[Int(a.start) + offset] != bytes[Int(b.start) + offset] {
      return false
    }
    return true
  }

  /// Removes members from the object that ends with the last token.
  private mutating func drop(_ isVictim: [Bool], of object: Int) {
    var removed = 0
    var index = object + 1
    for isVictim in isVictim {
      let end = Int(tokens[index + 1].next)
      if isVictim {
        removed += end - index
        tokens[object].count -= 1
      } else if removed > 0 {
        for source in index..<end {
          tokens[source - removed] = tokens[source]
          tokens[source - removed].next -= UInt32(removed)
        }
      }
      index = end
    }
    tokens.removeLast(removed)
  }
}
