/// Why a response holds no value, or not only one. Failures of the transport are thrown; this is what a server
/// answered.
public enum GraphQLResponseError<R: Sendable>: Error, Sendable, CustomStringConvertible {
  /// Errors of the server, and no value.
  case error([GraphQLServerError])
  /// A value, and errors about parts of it.
  case partial(R, [GraphQLServerError])
  /// Something that has not the shape asked for: what arrived, and what is wrong with it.
  case transformationError(String, any Error)

  /// The errors' messages, or what is wrong with the answer.
  public var errorDescription: String {
    switch self {
    case .error(let errors): Self.messages(errors)
    case .partial(_, let errors): "a part is missing: \(Self.messages(errors))"
    case .transformationError(_, let cause): "the answer is no \(R.self): \(cause)"
    }
  }

  /// What the caller can do about it.
  public var recoverySuggestion: String {
    switch self {
    case .error: "Look at the errors' extensions for the server's reason."
    case .partial: "Use what is there, and look at the errors' paths for what is not."
    case .transformationError: "Compare the model's fields with the server's schema."
    }
  }

  /// What caused it, when it was caught here.
  public var underlyingError: (any Error)? {
    switch self {
    case .error, .partial: nil
    case .transformationError(_, let cause): cause
    }
  }

  /// The same as `errorDescription`.
  public var description: String { errorDescription }

  private static func messages(_ errors: [GraphQLServerError]) -> String {
    let texts = errors.map { $0["message"]?.string ?? "\($0.json)" }
    return texts.isEmpty ? "the server gave no reason" : texts.joined(separator: "; ")
  }
}
