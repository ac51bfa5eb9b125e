internal import MartletConsole
internal import MartletGraphQLLanguage
internal import MartletWire

/// The page at `/`: what is served, and how to connect.
struct ServerPage {
  let table: EndpointTable
  let schema: () -> Schema
  /// The names of the models.
  let models: () -> [String]
  let access: ConsoleAccess
  let isSecure: Bool

  /// The page's row; a program's own endpoint at `/` comes before it.
  var rows: [Endpoint] {
    guard let path = PathPattern("/") else { return [] }
    return [
      Endpoint(
        path, meaning: nil, methods: ["GET", "HEAD"], isShedWhenLate: false, bodyBytes: { _ in 0 },
        admission: { _ in .sameOrigin },
        respond: { request, responder in
          guard Self.wantsHTML(request.head) else {
            return responder.send(.text(200, "Martlet serves these paths here: \(table.paths)."))
          }
          responder.send(
            200, ConsoleEndpoints.headers("text/html; charset=utf-8"), body: html(for: request.head, request.peer))
        })
    ]
  }

  /// Whether the client names HTML, as browsers do; `*/*` alone does not.
  private static func wantsHTML(_ head: HTTPRequestHead) -> Bool {
    head.headers.list("Accept").contains { $0.prefix { $0 != UInt8(ascii: ";") }.elementsEqual("text/html".utf8) }
  }

  func html(for head: HTTPRequestHead, _ peer: Peer) -> [UInt8] {
    let host = (peer.host ?? head.headers["Host"]).flatMap { Self.isPlain($0) ? $0 : nil } ?? "localhost"
    let samples = ConnectionSamples(
      host: host, isSecure: isSecure || peer.isSecure ?? (head.headers["X-Forwarded-Proto"] == "https"),
      schema: access.isOpen ? schema() : nil, needsKey: !access.isDevelopment)
    let values = [
      "CONSOLE": access.isOpen ? #"<p><a class="open" href="/console">Open the console</a></p>"# : "",
      "PATHS": paths, "SCHEMA": types, "SWIFT": Self.escaped(samples.swift),
      "JAVASCRIPT": Self.escaped(samples.javaScript), "SHELL": Self.escaped(samples.shell),
      "KEYS": access.isDevelopment
        ? "" : "An EventSource cannot send an API key; with keys use the WebSocket protocol, as the console does.",
    ]
    guard let template = ConsoleAsset.named("page.html") else { return [] }
    return Self.filled(template.bytes, values)
  }

  /// The paths that are served, with what each is for.
  private var paths: String {
    let linked = ["/healthz", "/readyz", "/metrics", "/console"]
    return table.meanings.filter { access.isOpen || $0.path != "/console" }.map { path, meaning in
      let name = Self.escaped(path)
      let term = linked.contains(path) ? #"<a href="\#(name)">\#(name)</a>"# : name
      return "<dt>\(term)</dt><dd>\(Self.escaped(meaning))</dd>"
    }.joined(separator: "\n")
  }

  /// The names of the models, for callers that may see them.
  private var types: String {
    guard access.isOpen else { return "" }
    let names = models()
    guard !names.isEmpty else { return "" }
    let items = names.prefix(40).map { "<li>\(Self.escaped($0))</li>" }.joined()
    return #"<section><h2>Models</h2><ul class="types">\#(items)</ul></section>"#
  }

  // MARK: Text

  /// Whether a host can stand in an example: letters, digits and what addresses have.
  private static func isPlain(_ host: String) -> Bool {
    host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: ".:-[]_".utf8.contains(byte)
      }
    }
  }

  static func escaped(_ text: String) -> String {
    var escaped = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      default: escaped.unicodeScalars.append(character)
      }
    }
    return escaped
  }

  /// A template with its `{{NAMES}}` replaced.
  private static func filled(_ template: [UInt8], _ values: [String: String]) -> [UInt8] {
    var filled: [UInt8] = []
    var rest = template[...]
    while let open = rest.indices.dropLast().first(where: { rest[$0] == 0x7B && rest[$0 + 1] == 0x7B }),
      let close = rest[open...].indices.dropLast().first(where: { rest[$0] == 0x7D && rest[$0 + 1] == 0x7D })
    {
      filled += rest[..<open]
      filled += (values[String(decoding: rest[(open + 2)..<close], as: UTF8.self)] ?? "").utf8
      rest = rest[(close + 2)...]
    }
    return filled + rest
  }
}
