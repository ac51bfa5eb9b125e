package import MartletHTTPWire

extension Credentials {
  /// Refuses header fields that no request could carry.
  /// - Throws: `invalidRequest`, naming the field.
  package func checkHeaders() throws(GraphQLClientError) {
    var headers = HTTPHeaders()
    try headers.append(checking: self.headers)
  }
}

extension HTTPHeaders {
  /// Adds fields that came from a configuration or a credential provider: what would break the framing, or is set by
  /// the client itself, is refused.
  /// - Throws: `invalidRequest`, naming the field but never its value, which may be a secret.
  package mutating func append(checking fields: [(name: String, value: String)]) throws(GraphQLClientError) {
    for (name, value) in fields {
      let nameBytes = Array(name.utf8)[...]
      let valueBytes = Array(value.utf8)[...]
      guard HTTPSyntax.isToken(nameBytes) else {
        throw GraphQLClientError(.invalidRequest, "a header name that is not a token: \(name.debugDescription)")
      }
      guard HTTPSyntax.isFieldValue(valueBytes) else {
        throw GraphQLClientError(.invalidRequest, "a control character in the value of the header \(name)")
      }
      guard !Self.isReserved(nameBytes) else {
        throw GraphQLClientError(.invalidRequest, "the header \(name) is the client's own")
      }
      append(name: nameBytes, value: valueBytes)
    }
  }

  /// Whether a field of this name is set by the client itself.
  package static func isReserved(_ name: ArraySlice<UInt8>) -> Bool {
    reserved.contains { HTTPSyntax.equals(name, $0) }
  }

  private static let reserved: [StaticString] = [
    "Host", "Connection", "Upgrade", "Content-Length", "Transfer-Encoding", "Content-Type", "Accept", "Expect", "TE",
    "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol", "Sec-WebSocket-Extensions",
  ]
}
