internal import MartletWire

/// What browsers ask before they show a page the answers of a server at another origin (the Fetch standard, "CORS
/// protocol"): a page that may use the server may also read its responses.
extension OriginCheck {
  /// The header fields by which a page of `origin` may read an answer; none for a page that may not.
  ///
  /// Pages of any origin, where none are named, are not to send what the browser adds on its own, such as cookies.
  func sharing(with origin: String?) -> [(String, String)] {
    guard let origin, HTTPSyntax.isFieldValue(Array(origin.utf8)[...]) else { return [] }
    switch policy {
    case .origins(nil): return [("Access-Control-Allow-Origin", "*")]
    case .loopbackOnly: if !Self.isLoopback(origin: origin) { return [] }
    case .origins(let allowed?): if !allowed.contains(where: { $0.utf8.elementsEqual(origin.utf8) }) { return [] }
    }
    return [
      ("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true"), ("Vary", "Origin"),
    ]
  }

  /// The headers that answer a preflight request; none for any other request.
  static func preflight(_ headers: HTTPHeaders, methods: String) -> [(String, String)] {
    guard headers.contains("Access-Control-Request-Method") else { return [] }
    let wanted = headers.list("Access-Control-Request-Headers").filter { HTTPSyntax.isToken($0) }
    var answer = [("Access-Control-Allow-Methods", methods), ("Access-Control-Max-Age", "600")]
    if !wanted.isEmpty {
      let names = wanted.map { String(decoding: $0, as: UTF8.self) }
      answer.append(("Access-Control-Allow-Headers", names.joined(separator: ", ")))
    }
    return answer
  }
}
