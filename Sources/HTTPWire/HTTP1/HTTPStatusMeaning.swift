/// What an HTTP status other than the one that was asked for means for another attempt.
package enum HTTPStatusMeaning: Equatable, Sendable {
  /// The server refuses the credentials.
  case credentialsRefused
  /// The server, or a proxy before it, is busy or away: another attempt may succeed.
  case passing
  /// Another attempt would be answered in the same way: the address is wrong, or something else is served there.
  case final

  package init(_ status: Int) {
    switch status {
    case 401, 403: self = .credentialsRefused
    // Timeout, misdirected, too early, too many requests.
    case 408, 421, 425, 429: self = .passing
    // Not implemented, HTTP version not supported.
    case 501, 505: self = .final
    case 500...: self = .passing
    default: self = .final
    }
  }
}
