package import MartletGraphQLLanguage

/// One reason why nothing was generated.
package struct GenerationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The family an error belongs to.
  package enum Kind: Hashable, Sendable {
    /// A text breaks the grammar.
    case syntax
    /// A schema that is none, or an operation that breaks a rule of validation.
    case validation
    /// An operation without a name, which has no type to become.
    case anonymousOperation
    /// Two things would have one Swift name, or a name that Swift or generated code needs.
    case nameCollision
    /// The configuration says something that does not fit.
    case configuration
    /// A bound of `GeneratorLimits`.
    case limit
  }

  package var kind: Kind
  /// The file, as the caller named it; nil when no file is to blame.
  package var file: String?
  /// The place in the file.
  package var location: SourceLocation?
  /// What is wrong, as a sentence.
  package var message: String

  package init(_ kind: Kind, _ message: String, file: String? = nil, location: SourceLocation? = nil) {
    self.kind = kind
    self.message = message
    self.file = file
    self.location = location
  }

  /// `file:line:column: message`, the form that editors and build logs turn into links.
  package var description: String { described() }

  /// The same with a word before the message, as builds show `warning:` and `error:`.
  package func described(as severity: String = "") -> String {
    let message = severity + self.message
    var text = ""
    if let file { text += file + ":" }
    if let location { text += "\(location.line):\(location.column):" }
    return text.isEmpty ? message : "\(text) \(message)"
  }
}

/// Every reason why nothing was generated. Never empty.
package struct GenerationErrors: Error, Sendable, CustomStringConvertible {
  package var errors: [GenerationError]

  package init(_ errors: [GenerationError]) {
    self.errors = errors
  }

  /// One error a line.
  package var description: String {
    errors.map(\.description).joined(separator: "\n")
  }
}
