/// Why a source text is not a GraphQL document, and where reading stopped.
package struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The family an error belongs to.
  package enum Kind: Hashable, Sendable {
    /// The text breaks the grammar of section 2 or section 3.
    case grammar
    /// The text is larger than `limits` allow; the limit's name and value.
    case limit(ParserLimits.Name, allowed: Int)
  }

  package var kind: Kind
  /// What was wrong, beginning with a capital letter.
  package var message: String
  package var location: SourceLocation
  /// The name of the source the caller gave, such as a file name.
  package var sourceName: String?

  /// The error as part of a response.
  package var graphQLError: GraphQLError {
    GraphQLError(message: description(withPlace: false), locations: [location])
  }

  package var description: String {
    description(withPlace: true)
  }

  private func description(withPlace: Bool) -> String {
    let prefix: String
    switch kind {
    case .grammar: prefix = "Syntax Error: "
    case .limit: prefix = ""
    }
    guard withPlace else { return prefix + message }
    return "\(sourceName.map { $0 + ":" } ?? "")\(location): \(prefix)\(message)"
  }
}
