public import MartletJSON

/// An error a resolver throws whose message the client may see.
///
/// Its message and extensions reach the response whatever the schema's `ErrorExposure` says; the messages of other
/// errors reach it only under `ErrorExposure.messages`.
public struct ResolverError: Error, Sendable, CustomStringConvertible {
  /// What went wrong, for the client.
  public var message: String
  /// The error's `extensions` member, such as a code; empty for none.
  public var extensions: JSONObject
  /// Members beside the message, for clients of a protocol that has some there.
  package var members = JSONObject()

  /// An error for the client.
  public init(_ message: String, extensions: JSONObject = JSONObject()) {
    self.message = message
    self.extensions = extensions
  }

  /// The message.
  public var description: String { message }

  /// The message of any error, as a program wrote it.
  package static func text(of error: any Error) -> String {
    switch error {
    case let error as CoercionFailure: error.message
    case let error as ResolverError: error.message
    default: "\(error)"
    }
  }
}

/// How much of an unexpected error a client sees.
public enum ErrorExposure: Sendable {
  /// The text of the error itself.
  case messages
  /// The same text for all errors that are not meant for clients.
  case masked(String)

  /// The default mask.
  public static let masked = ErrorExposure.masked("Internal error.")
}
