/// Refuses characters that would end a header or the request line; the systems' clients pass some of them on.
package enum HTTPRequestCheck {
  package static func error(in request: HTTPExchangeRequest) -> HTTPExchangeError? {
    guard isPlain(request.url), !request.url.isEmpty else {
      return HTTPExchangeError(.invalidRequest, "the URL is empty or has control characters")
    }
    guard !request.method.isEmpty, request.method.utf8.allSatisfy(isToken) else {
      return HTTPExchangeError(.invalidRequest, "the method is not a token")
    }
    for header in request.headers {
      guard !header.name.isEmpty, header.name.utf8.allSatisfy(isToken) else {
        return HTTPExchangeError(.invalidRequest, "a header's name is not a token")
      }
      guard isPlain(header.value) else {
        return HTTPExchangeError(.invalidRequest, "the header \(header.name) has control characters")
      }
    }
    return nil
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
  }

  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
