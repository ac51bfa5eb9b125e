package import MartletJSON
internal import MartletWire

extension AppSyncRealtime {
  /// The authorization that an upgrade request carries in its query or its subprotocols; nil when it carries none.
  ///
  /// - Throws: when there is one that cannot be read.
  package static func authorization(
    query: String?, subprotocols: [String]
  ) throws(GraphQLRequestError) -> JSONObject? {
    for name in subprotocols where name.utf8.starts(with: "header-".utf8) {
      return try blob(name.utf8.dropFirst("header-".utf8.count), "header-")
    }
    guard let query else { return nil }
    var header: JSONObject?
    for pair in Array(query.utf8).split(separator: UInt8(ascii: "&")) {
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      let isHeader = name.elementsEqual("header".utf8)
      guard isHeader || name.elementsEqual("payload".utf8) else { continue }
      let place = isHeader ? "header" : "payload"
      guard let value = RequestPayload.decoded(pair[name.endIndex...].dropFirst()) else {
        throw GraphQLRequestError(.malformedParameter, place, "percent-encoded UTF-8")
      }
      // Empty stands for the empty object; clients without credentials send it so.
      let object = value.isEmpty ? JSONObject() : try blob(value, place)
      if isHeader { header = object }
    }
    return header
  }

  private static func blob(_ text: some Sequence<UInt8>, _ place: String) throws(GraphQLRequestError) -> JSONObject {
    guard let bytes = Base64.decodeLeniently(text), let value = try? JSONValue(parsing: bytes),
      let object = value.object
    else { throw GraphQLRequestError(.malformedParameter, place, "the base64 of a JSON object") }
    return object
  }
}
