package import MartletJSON
internal import MartletWire

extension RequestPayload {
  /// Reads the query of a GET (`application/x-www-form-urlencoded`). An empty value counts as absent; `variables` and
  /// `extensions` hold JSON; `operationName=null` names an operation called "null".
  package init(query text: String, limits: JSONLimits) throws(GraphQLRequestError) {
    var values: [[UInt8]: [UInt8]] = [:]
    for pair in Array(text.utf8).split(separator: UInt8(ascii: "&")) {
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      // Parameters of other names are somebody else's.
      guard let decodedName = Self.decoded(name), Self.parameters.contains(decodedName) else { continue }
      guard let value = Self.decoded(pair[name.endIndex...].dropFirst()) else {
        throw GraphQLRequestError(
          .malformedParameter, String(decoding: name, as: UTF8.self), "percent-encoded UTF-8")
      }
      if values.updateValue(value, forKey: decodedName) != nil {
        throw GraphQLRequestError(.malformedParameter, String(decoding: decodedName, as: UTF8.self), "given once")
      }
    }
    func value(_ name: String) -> [UInt8]? {
      guard let value = values[Array(name.utf8)], !value.isEmpty else { return nil }
      return value
    }
    let extensions = try Self.object(value("extensions"), "extensions", limits)
    self.init(
      query: try Self.document(value("query").map { String(decoding: $0, as: UTF8.self) }, extensions),
      operationName: value("operationName").map { String(decoding: $0, as: UTF8.self) },
      variables: try Self.object(value("variables"), "variables", limits),
      extensions: extensions)
  }

  private static let parameters = ["query", "operationName", "variables", "extensions"].map { Array($0.utf8) }

  private static func object(
    _ json: [UInt8]?, _ name: String, _ limits: JSONLimits
  ) throws(GraphQLRequestError) -> JSONObject {
    guard let json else { return JSONObject() }
    guard let tape = try? JSONTape(json, limits: limits) else {
      throw GraphQLRequestError(.malformedParameter, name, "an object in JSON")
    }
    return try object(tape.root, name)
  }

  /// Percent-decoding with `+` for a space; nil when an escape is broken or the result is not UTF-8.
  static func decoded(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = bytes.startIndex
    while index < bytes.endIndex {
      switch bytes[index] {
      case UInt8(ascii: "+"): result.append(0x20)
      case UInt8(ascii: "%"):
        guard index + 2 < bytes.endIndex, let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2]) else {
          return nil
        }
        result.append(high << 4 | low)
        index += 2
      case let byte: result.append(byte)
      }
      index += 1
    }
    return isUTF8(result) ? result : nil
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }
}
