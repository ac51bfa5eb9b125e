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
    tokens.reserveCapacity(min(bytes.count / 8 + 4, 4_096))
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
    guard open.count < limits.depth else { throw JSONError(.tooDeep, at: at) }
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
    guard start + length <= bytes.count else { throw JSONError(.unexpectedEnd, at: bytes.count) }
    let matches = word.withUTF8Buffer { unsafe bytes[start..<start + length].elementsEqual($0) }
    guard matches else { throw JSONError(.unexpectedByte, at: start) }
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

  /// Applies the policy for names that occur twice. Small objects compare pairwise, large ones through a table, so that
  /// no text makes it slow.
  private mutating func checkNames(of object: Int) throws(JSONError) {
    let count = Int(tokens[object].count)
    var names: [(name: ArraySlice<UInt8>, index: Int)] = []
    var table: [ArraySlice<UInt8>: Int] = [:]
    var victims: [Int] = []
    var index = object + 1
    for _ in 0..<count {
      let token = tokens[index]
      let content = bytes[Int(token.start)..<Int(token.end)]
      let name = token.isComplex ? JSONText.unescaped(content)[...] : content
      let known =
        count <= Self.pairwise ? names.firstIndex { $0.name.elementsEqual(name) } : table[name]
      if let known {
        switch limits.duplicateKeys {
        case .reject: throw JSONError(.duplicateKey, at: Int(token.start))
        case .keepFirst: victims.append(index)
        case .keepLast:
          victims.append(names[known].index)
          names[known].index = index
        }
      } else {
        if count > Self.pairwise { table[name] = names.count }
        names.append((name, index))
      }
      index = Int(tokens[index + 1].next)
    }
    for victim in victims.sorted(by: >) { drop(victim, in: object) }
  }

  /// Members up to which names are compared pairwise.
  private static let pairwise = 16

  /// Removes a member from the tokens.
  private mutating func drop(_ victim: Int, in object: Int) {
    let end = Int(tokens[victim + 1].next)
    let removed = UInt32(end - victim)
    tokens.removeSubrange(victim..<end)
    for index in victim..<tokens.count { tokens[index].next -= removed }
    tokens[object].count -= 1
  }
}
