/// The head of a request: request line and header fields.
package struct HTTPRequestHead: Sendable, Equatable {
  package var method: String
  /// As written: origin form (`/path?query`), absolute form, or `*`.
  package var target: String
  /// 0 or 1, of HTTP/1.x.
  package var minorVersion: Int
  package var headers: HTTPHeaders

  package init(method: String, target: String, minorVersion: Int = 1, headers: HTTPHeaders = HTTPHeaders()) {
    self.method = method
    self.target = target
    self.minorVersion = minorVersion
    self.headers = headers
  }

  /// The path as written, without query and, for an absolute target, without scheme and authority.
  package var path: String {
    // Nearly every target is a path and nothing else.
    guard target.utf8.first == UInt8(ascii: "/") else {
      return String(decoding: originForm.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    }
    guard let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) else { return target }
    return String(target[..<mark])
  }

  /// What follows the first `?`, as written; nil without one.
  package var query: String? {
    guard target.utf8.contains(UInt8(ascii: "?")) else { return nil }
    guard let mark = originForm.firstIndex(of: UInt8(ascii: "?")) else { return nil }
    return String(decoding: originForm[(mark + 1)...], as: UTF8.self)
  }

  private var originForm: ArraySlice<UInt8> {
    let bytes = Array(target.utf8)
    guard bytes.first != UInt8(ascii: "/"), let authority = HTTPTarget.authority(ofAbsolute: bytes[...]) else {
      return bytes[...]
    }
    let rest = bytes[authority.endIndex...]
    return rest.first == UInt8(ascii: "/") ? rest : ([UInt8(ascii: "/")] + rest)[...]
  }
}

/// The head of a response.
package struct HTTPResponseHead: Sendable, Equatable {
  package var status: Int
  package var reason: String
  package var minorVersion: Int
  package var headers: HTTPHeaders

  package init(status: Int, reason: String? = nil, minorVersion: Int = 1, headers: HTTPHeaders = HTTPHeaders()) {
    self.status = status
    self.reason = reason ?? HTTPStatus.reason(status)
    self.minorVersion = minorVersion
    self.headers = headers
  }

  /// Whether a response with this status to `method` has no body whatever its headers say (RFC 9112 section 6.3).
  package func hasNoBody(answering method: String) -> Bool {
    HTTPStatus.forbidsBody(status) || method == "HEAD" || (method == "CONNECT" && (200..<300).contains(status))
  }
}

/// Status codes as far as their number means something to the framing.
package enum HTTPStatus {
  /// 1xx, 204 and 304 never carry a body.
  package static func forbidsBody(_ status: Int) -> Bool {
    (100..<200).contains(status) || status == 204 || status == 304
  }

  /// The usual phrase, empty for codes this server does not send.
  package static func reason(_ status: Int) -> String {
    switch status {
    case 100: "Continue"
    case 101: "Switching Protocols"
    case 200: "OK"
    case 201: "Created"
    case 202: "Accepted"
    case 204: "No Content"
    case 304: "Not Modified"
    case 400: "Bad Request"
    case 401: "Unauthorized"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 406: "Not Acceptable"
    case 408: "Request Timeout"
    case 409: "Conflict"
    case 411: "Length Required"
    case 412: "Precondition Failed"
    case 413: "Content Too Large"
    case 414: "URI Too Long"
    case 415: "Unsupported Media Type"
    case 417: "Expectation Failed"
    case 421: "Misdirected Request"
    case 422: "Unprocessable Content"
    case 426: "Upgrade Required"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    default: ""
    }
  }
}
