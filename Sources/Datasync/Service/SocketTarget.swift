/// The path and query of the tree's WebSocket.
enum SocketTarget {
  /// - Parameters:
  ///   - given: the path and query of the configuration's URL.
  ///   - session: the last connection's name.
  ///   - client: the name under which writes are numbered.
  static func text(
    _ given: String, _ configuration: DatasyncConfiguration, session: String?, client: String
  ) -> String {
    let path = given.prefix { $0 != "?" }
    let query = given.dropFirst(path.count).dropFirst()
    var parts = ["v=5"]
    if !query.isEmpty { parts.append(String(query)) }
    if let namespace = configuration.namespace { parts.append("ns=\(PathText.encoded(namespace))") }
    if let session { parts.append("ls=\(PathText.encoded(session))") }
    if configuration.usesAdditions { parts += ["x=1", "c=\(client)"] }
    return (path == "/" ? "/.ws" : String(path)) + "?" + parts.joined(separator: "&")
  }
}

/// Texts in the query of a URL.
enum PathText {
  /// Bytes beyond letters, digits and `-._~` as `%XX`.
  static func encoded(_ text: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: bytes.append(byte)
      default: bytes += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
