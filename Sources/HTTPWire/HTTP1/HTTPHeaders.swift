/// Header fields in their order, kept in one array of bytes. Names compare without regard to ASCII case.
package struct HTTPHeaders: Sendable, Equatable {
  private struct Field: Sendable, Equatable {
    var nameStart: Int
    var valueStart: Int
    var end: Int
  }

  private var bytes: [UInt8] = []
  private var fields: [Field] = []

  package init() {}

  /// Fields from text, in order; for answers and tests. Names and values must be legal (see `append`).
  package init(_ pairs: [(String, String)]) {
    reserve(fields: pairs.count, bytes: pairs.reduce(0) { $0 + $1.0.utf8.count + $1.1.utf8.count })
    for (name, value) in pairs { append(name, value) }
  }

  /// Makes room once for so many fields, whose names and values have so many bytes.
  package mutating func reserve(fields count: Int, bytes byteCount: Int) {
    fields.reserveCapacity(fields.count + count)
    bytes.reserveCapacity(bytes.count + byteCount)
  }

  package var count: Int { fields.count }
  package var isEmpty: Bool { fields.isEmpty }
  /// Bytes of all names and values.
  package var byteCount: Int { bytes.count }

  /// Adds a field. A name that is not a token or a value with control characters would break the framing, so it is a
  /// programmer error; values from outside go through `HTTPSyntax.isFieldValue` first.
  package mutating func append(_ name: String, _ value: String) {
    precondition(!name.isEmpty && name.utf8.allSatisfy(HTTPSyntax.isTokenByte), "a header name is a token")
    precondition(value.utf8.allSatisfy(HTTPSyntax.isFieldByte), "a header value has no control characters")
    let start = bytes.count
    bytes.append(contentsOf: name.utf8)
    let middle = bytes.count
    bytes.append(contentsOf: value.utf8)
    fields.append(Field(nameStart: start, valueStart: middle, end: bytes.count))
  }

  package mutating func append(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) {
    precondition(HTTPSyntax.isToken(name), "a header name is a token")
    precondition(HTTPSyntax.isFieldValue(value), "a header value has no control characters")
    let start = bytes.count
    bytes.append(contentsOf: name)
    bytes.append(contentsOf: value)
    fields.append(Field(nameStart: start, valueStart: start + name.count, end: bytes.count))
  }

  /// The name of field `index` as it was written.
  package func name(at index: Int) -> ArraySlice<UInt8> {
    bytes[fields[index].nameStart..<fields[index].valueStart]
  }

  /// The value of field `index`, without the space around it.
  package func value(at index: Int) -> ArraySlice<UInt8> {
    bytes[fields[index].valueStart..<fields[index].end]
  }

  /// All fields in their order, as text.
  package var all: [(name: String, value: String)] {
    fields.indices.map { index in
      (String(decoding: name(at: index), as: UTF8.self), String(decoding: value(at: index), as: UTF8.self))
    }
  }

  /// The values of all fields called `name`, in order.
  package func values(_ name: StaticString) -> [ArraySlice<UInt8>] {
    var found: [ArraySlice<UInt8>] = []
    for index in fields.indices where matches(name, at: index) { found.append(value(at: index)) }
    return found
  }

  /// How many fields are called `name`.
  package func count(of name: StaticString) -> Int {
    var count = 0
    for index in fields.indices where matches(name, at: index) { count += 1 }
    return count
  }

  /// The value of the first field called `name`.
  package func first(_ name: StaticString) -> ArraySlice<UInt8>? {
    for index in fields.indices where matches(name, at: index) { return value(at: index) }
    return nil
  }

  /// The first field of a name that came from a configuration, as text.
  package func value(named name: String) -> String? {
    let wanted = name.utf8.map(HTTPSyntax.lowercased)
    for index in fields.indices where self.name(at: index).map(HTTPSyntax.lowercased) == wanted {
      return String(decoding: value(at: index), as: UTF8.self)
    }
    return nil
  }

  /// The first field called `name`, as text.
  package subscript(_ name: StaticString) -> String? {
    first(name).map { String(decoding: $0, as: UTF8.self) }
  }

  package func contains(_ name: StaticString) -> Bool {
    fields.indices.contains { matches(name, at: $0) }
  }

  /// All fields called `name` as one comma-separated list, elements trimmed, empty ones left out
  /// (RFC 9110 section 5.6.1). Commas inside quoted strings do not separate.
  package func list(_ name: StaticString) -> [ArraySlice<UInt8>] {
    values(name).flatMap { HTTPSyntax.split($0, at: UInt8(ascii: ",")) }.filter { !$0.isEmpty }
  }

  /// Whether the list `name` has `token`, without regard to ASCII case.
  package func lists(_ token: StaticString, in name: StaticString) -> Bool {
    list(name).contains { HTTPSyntax.equals($0, token) }
  }

  /// Whether a message with these fields leaves its connection open (RFC 9112 section 9.3).
  package func keepsConnection(minorVersion: Int) -> Bool {
    !lists("close", in: "Connection") && (minorVersion == 1 || lists("keep-alive", in: "Connection"))
  }

  private func matches(_ name: StaticString, at index: Int) -> Bool {
    HTTPSyntax.equals(self.name(at: index), name)
  }

  /// Appends `Name: value` lines.
  package func write(to output: inout [UInt8]) {
    for index in fields.indices {
      output.append(contentsOf: name(at: index))
      output.append(UInt8(ascii: ":"))
      output.append(0x20)
      output.append(contentsOf: value(at: index))
      HTTPWriter.endHead(to: &output)
    }
  }
}
