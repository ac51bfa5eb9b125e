/// How the command ends; the numbers are part of its interface.
package enum ExitCode: Int32, CaseIterable {
  case success = 0
  /// The operation was carried out and answered with GraphQL errors, or a check failed.
  case failure = 1
  /// The command line was not understood (EX_USAGE).
  case usage = 64
  /// A file's content is wrong (EX_DATAERR).
  case badData = 65
  /// The server could not be reached, or ended the conversation (EX_UNAVAILABLE).
  case unavailable = 69
  /// A file or the data folder could not be read or written (EX_IOERR).
  case io = 74
  /// The server refuses the credentials, the host or the origin (EX_NOPERM).
  case denied = 77
  /// The server may not be run like this: access is not configured (EX_CONFIG).
  case configuration = 78

  /// For the help.
  package var meaning: String {
    switch self {
    case .success: "done"
    case .failure: "answered with GraphQL errors, or a check failed"
    case .usage: "the command line was not understood"
    case .badData: "the content of a file or document is wrong"
    case .unavailable: "the server could not be reached, or ended the conversation"
    case .io: "a file or the data folder could not be read or written"
    case .denied: "the server refuses the credentials, the host or the origin"
    case .configuration: "access is not configured, or in a way that cannot hold"
    }
  }
}

/// Ends the command with a message on standard error.
package struct CommandFailure: Error {
  package let code: ExitCode
  package let message: String

  package init(_ code: ExitCode, _ message: String) {
    self.code = code
    self.message = message
  }
}
