/// permessage-deflate as both ends agreed on it (RFC 7692 section 7.1).
package struct WebSocketDeflate: Equatable, Sendable {
  package var serverNoContextTakeover: Bool
  package var clientNoContextTakeover: Bool
  /// Base-two logarithm of the server's window, 8 to 15.
  package var serverMaxWindowBits: Int
  package var clientMaxWindowBits: Int

  package init(
    serverNoContextTakeover: Bool = false, clientNoContextTakeover: Bool = false, serverMaxWindowBits: Int = 15,
    clientMaxWindowBits: Int = 15
  ) {
    self.serverNoContextTakeover = serverNoContextTakeover
    self.clientNoContextTakeover = clientNoContextTakeover
    self.serverMaxWindowBits = serverMaxWindowBits
    self.clientMaxWindowBits = clientMaxWindowBits
  }
}

/// What this end asks for and allows when permessage-deflate is negotiated.
package struct WebSocketDeflateSettings: Sendable {
  /// Forget each message's window before the next: less memory per connection, and a shared payload can be compressed
  /// once for all members.
  package var serverNoContextTakeover = true
  package var clientNoContextTakeover = true
  /// Small windows by default (4 KiB): a connection's compressor then needs some 20 KiB while it is at work.
  package var serverMaxWindowBits = 12
  package var clientMaxWindowBits = 12
  /// Smallest window our own compressor can promise; zlib cannot make raw streams with 8.
  package var leastWindowBits = 9

  package init() {}

  /// What a client offers: it leaves the server's window alone, since a server that cannot shrink it would have to
  /// refuse compression altogether.
  package static var client: WebSocketDeflateSettings {
    var settings = WebSocketDeflateSettings()
    settings.serverMaxWindowBits = 15
    settings.clientMaxWindowBits = 15
    return settings
  }

  // MARK: Server

  /// Accepts the first acceptable of the client's offers; nil when there is none, and then nothing is compressed.
  package func accept(_ offers: [WebSocketExtension]) -> (agreed: WebSocketDeflate, response: String)? {
    for offer in offers where offer.isDeflate {
      if let accepted = accept(offer) { return accepted }
    }
    return nil
  }

  private func accept(_ offer: WebSocketExtension) -> (agreed: WebSocketDeflate, response: String)? {
    var agreed = WebSocketDeflate(
      serverNoContextTakeover: serverNoContextTakeover, clientNoContextTakeover: clientNoContextTakeover,
      serverMaxWindowBits: serverMaxWindowBits)
    var clientKnowsWindowBits = false
    guard offer.hasUniqueParameters else { return nil }
    for parameter in offer.parameters {
      switch (parameter.name, parameter.value) {
      case ("server_no_context_takeover", nil): agreed.serverNoContextTakeover = true
      case ("client_no_context_takeover", nil): agreed.clientNoContextTakeover = true
      case ("server_max_window_bits", let value?):
        guard let bits = Self.windowBits(value), bits >= leastWindowBits else { return nil }
        agreed.serverMaxWindowBits = min(agreed.serverMaxWindowBits, bits)
      case ("client_max_window_bits", let value):
        clientKnowsWindowBits = true
        if let value {
          guard let bits = Self.windowBits(value) else { return nil }
          agreed.clientMaxWindowBits = bits
        }
      default: return nil
      }
    }
    var response = "permessage-deflate"
    if agreed.serverNoContextTakeover { response += "; server_no_context_takeover" }
    if agreed.clientNoContextTakeover { response += "; client_no_context_takeover" }
    if agreed.serverMaxWindowBits < 15 { response += "; server_max_window_bits=\(agreed.serverMaxWindowBits)" }
    if clientKnowsWindowBits, clientMaxWindowBits < agreed.clientMaxWindowBits {
      agreed.clientMaxWindowBits = clientMaxWindowBits
      response += "; client_max_window_bits=\(clientMaxWindowBits)"
    }
    return (agreed, response)
  }

  // MARK: Client

  /// The client's offer.
  package var offer: String {
    var offer = "permessage-deflate"
    if serverNoContextTakeover { offer += "; server_no_context_takeover" }
    if clientNoContextTakeover { offer += "; client_no_context_takeover" }
    if serverMaxWindowBits < 15 { offer += "; server_max_window_bits=\(serverMaxWindowBits)" }
    return offer + "; client_max_window_bits" + (clientMaxWindowBits < 15 ? "=\(clientMaxWindowBits)" : "")
  }

  /// Reads the server's answer to `offer`. Nil when it does not fit the offer, which fails the connection.
  package func agreed(_ answer: WebSocketExtension) -> WebSocketDeflate? {
    guard answer.isDeflate, answer.hasUniqueParameters else { return nil }
    var agreed = WebSocketDeflate(
      clientNoContextTakeover: clientNoContextTakeover, clientMaxWindowBits: clientMaxWindowBits)
    for parameter in answer.parameters {
      switch (parameter.name, parameter.value) {
      case ("server_no_context_takeover", nil): agreed.serverNoContextTakeover = true
      case ("client_no_context_takeover", nil): agreed.clientNoContextTakeover = true
      case ("server_max_window_bits", let value?):
        guard let bits = Self.windowBits(value) else { return nil }
        agreed.serverMaxWindowBits = bits
      case ("client_max_window_bits", let value?):
        guard let bits = Self.windowBits(value), bits >= leastWindowBits else { return nil }
        agreed.clientMaxWindowBits = min(agreed.clientMaxWindowBits, bits)
      default: return nil
      }
    }
    // Parameters that were asked for bind the server (section 7.1.1.1, 7.1.2.1).
    if serverNoContextTakeover, !agreed.serverNoContextTakeover { return nil }
    return agreed.serverMaxWindowBits <= serverMaxWindowBits ? agreed : nil
  }

  /// 8 to 15 without leading zeros.
  private static func windowBits(_ text: String) -> Int? {
    guard let bits = HTTPSyntax.decimal(Array(text.utf8)[...]), (8...15).contains(bits), String(bits) == text else {
      return nil
    }
    return bits
  }
}

/// One element of `Sec-WebSocket-Extensions`.
package struct WebSocketExtension: Equatable, Sendable {
  package struct Parameter: Equatable, Sendable {
    package var name: String
    package var value: String?
  }

  package var name: String
  package var parameters: [Parameter]

  var isDeflate: Bool { Array(name.utf8) == Array("permessage-deflate".utf8) }

  var hasUniqueParameters: Bool {
    Set(parameters.map { Array($0.name.utf8) }).count == parameters.count
  }

  /// Reads the header; nil when it breaks its grammar (RFC 6455 section 9.1).
  package static func parse(_ headers: HTTPHeaders) -> [WebSocketExtension]? {
    var found: [WebSocketExtension] = []
    for element in headers.list("Sec-WebSocket-Extensions") {
      let parts = HTTPSyntax.split(element, at: UInt8(ascii: ";"))
      guard let name = parts.first, HTTPSyntax.isToken(name) else { return nil }
      var parameters: [Parameter] = []
      for part in parts.dropFirst() {
        guard let parameter = parameter(part) else { return nil }
        parameters.append(parameter)
      }
      found.append(WebSocketExtension(name: String(decoding: name, as: UTF8.self), parameters: parameters))
    }
    return found
  }

  private static func parameter(_ part: ArraySlice<UInt8>) -> Parameter? {
    let equals = part.firstIndex(of: UInt8(ascii: "="))
    let name = HTTPSyntax.trimmed(part[..<(equals ?? part.endIndex)])
    guard HTTPSyntax.isToken(name) else { return nil }
    guard let equals else { return Parameter(name: String(decoding: name, as: UTF8.self), value: nil) }
    // A quoted value must be a token once unquoted.
    guard let value = HTTPSyntax.parameterValue(HTTPSyntax.trimmed(part[(equals + 1)...])),
      HTTPSyntax.isToken(value[...])
    else { return nil }
    return Parameter(name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
  }
}
