import MartletCommandLine
import MartletGraphQLLanguage

/// The document of a command, checked before anything is sent: a mistake in it is the same for every server and
/// protocol.
enum OperationDocument {
  /// What an operation does.
  enum Kind: String {
    case query, mutation, subscription

    /// The subcommand that runs it.
    var command: String {
      switch self {
      case .query: "query"
      case .mutation: "mutate"
      case .subscription: "subscribe"
      }
    }
  }

  /// Refuses a document that cannot be read, or whose operation is for another command.
  static func check(_ text: String, operationName: String?, for kind: Kind) throws {
    let document: Document
    do {
      document = try Parser.parse(text)
    } catch {
      let mistake = error.graphQLError
      let place = mistake.locations.first.map { " (\($0.line):\($0.column))" } ?? ""
      throw CommandFailure(.badData, mistake.message + place)
    }
    let operations = document.definitions.compactMap { definition -> OperationDefinition? in
      if case .operation(let operation) = definition { operation } else { nil }
    }
    let names = operations.compactMap { $0.name?.text }
    let chosen: OperationDefinition
    if let operationName {
      guard !names.isEmpty else {
        throw UsageError("--operation names an operation, and none of the document has a name.")
      }
      guard let named = operations.first(where: { $0.name?.text.utf8.elementsEqual(operationName.utf8) == true }) else {
        throw UsageError(Choices.unknown(operationName, among: names, is: "--operation"))
      }
      chosen = named
    } else if operations.count > 1 {
      throw UsageError("The document has several operations; --operation names one: \(names.joined(separator: ", ")).")
    } else if let only = operations.first {
      chosen = only
    } else {
      throw CommandFailure(.badData, "The document has no operation.")
    }
    guard let found = Kind(rawValue: chosen.kind.rawValue), found != kind else { return }
    throw UsageError("The document is a \(found.rawValue): 'martlet \(found.command)' runs it.")
  }
}
