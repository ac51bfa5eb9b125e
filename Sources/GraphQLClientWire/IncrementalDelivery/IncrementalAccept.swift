package import MartletHTTPWire

/// What a client says about responses in parts: the media type `multipart/mixed` in `Accept`, with a parameter that
/// names the shape of the payloads. `subscriptionSpec` belongs to another protocol of the same media type.
package enum IncrementalAccept: Sendable, Equatable {
  /// The current proposal; the parameter as the client wrote it, if any (`incrementalSpec=v0.2`).
  case current(spec: String?)
  /// The proposal of 2022: `deferSpec=20220824`.
  case older(spec: String)

  /// The shape a client wants, unless it prefers a response in one piece or names none.
  package init?(_ accepted: [AcceptedMediaType]) {
    if accepted.isEmpty { return nil }
    var best: (weight: Int, value: IncrementalAccept)?
    for element in accepted
    where element.mediaType.matches("multipart", "mixed") && element.mediaType["subscriptionspec"] == nil {
      guard element.weight > best?.weight ?? 0 else { continue }
      let older = element.mediaType["deferspec"]
      best = (element.weight, older.map { .older(spec: $0) } ?? .current(spec: element.mediaType["incrementalspec"]))
    }
    let single = accepted.filter { $0.mediaType.type.utf8.elementsEqual("application".utf8) }.map(\.weight).max() ?? 0
    guard let best, best.weight >= single else { return nil }
    self = best.value
  }

  /// The parameter of Content-Type that names the shape of the parts.
  private var parameter: String {
    switch self {
    case .current(let spec): spec.flatMap { Self.isToken($0) ? "; incrementalSpec=\($0)" : nil } ?? ""
    case .older(let spec): Self.isToken(spec) ? "; deferSpec=\(spec)" : ""
    }
  }

  /// The value of Content-Type.
  package var contentType: String { "multipart/mixed; boundary=\"\(MultipartWriter.dash.boundary)\"\(parameter)" }

  private static func isToken(_ text: String) -> Bool { HTTPSyntax.isToken(Array(text.utf8)[...]) }

  /// The Accept field of a client that reads both shapes. The current one is preferred, one piece is taken as well.
  package static let both =
    "multipart/mixed;incrementalSpec=v0.2, multipart/mixed;deferSpec=20220824;q=0.9, \(onePiece)"
  /// Of one that reads the current shape.
  package static let currentOnly = "multipart/mixed;incrementalSpec=v0.2, \(onePiece)"
  /// Of one that reads the shape of 2022.
  package static let olderOnly = "multipart/mixed;deferSpec=20220824, \(onePiece)"
  private static let onePiece = "application/graphql-response+json;q=0.8, application/json;q=0.7"
}
