internal import MartletGraphQLDocuments

/// A parsed document with identity fields added, ready to be bound to variables.
final class StoredDocument: Sendable {
  let document: Document
  /// The text to send.
  let requestText: String
  let fragments: [String: FragmentDefinition]
  /// Fields the author did not write.
  let added: Set<ObjectIdentifier>

  init(
    _ text: String, schema: Schema?, configuration: GraphQLStoreConfiguration
  ) throws(GraphQLStoreError) {
    var limits = ParserLimits.request
    limits.bytes = configuration.limits.documentBytes
    let parsed: Document
    do {
      parsed = try Parser.parse(text, limits: limits)
    } catch {
      throw GraphQLStoreError(.invalidDocument, "the document is not GraphQL", underlying: error)
    }
    if configuration.addsIdentity {
      var identity = IdentityFields(schema: schema, configuration: configuration)
      document = identity.adding(to: parsed)
      added = identity.added
      requestText = added.isEmpty ? text : Printer.text(of: document)
    } else {
      document = parsed
      added = []
      requestText = text
    }
    fragments = Dictionary(document.fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// The operation called `name`, or the only one.
  func operation(named name: String?) throws(GraphQLStoreError) -> OperationDefinition {
    let operations = document.operations
    guard let name else {
      guard let only = operations.first, operations.count == 1 else {
        throw GraphQLStoreError(
          .unknownOperation, "the document has \(operations.count) operations; name the one that is meant")
      }
      return only
    }
    guard let found = operations.first(where: { $0.name?.text == name }) else {
      throw GraphQLStoreError(.unknownOperation, "the document has no operation \(name)")
    }
    return found
  }

  /// The fragment called `name`, or the first one.
  func fragment(named name: String?) throws(GraphQLStoreError) -> FragmentDefinition {
    let found = name.map { fragments[$0] } ?? document.fragments.first
    guard let found else {
      throw GraphQLStoreError(.invalidDocument, "the document has no fragment \(name ?? "")")
    }
    return found
  }
}

/// Parsed documents by their text, a bounded number of them.
struct DocumentShelf {
  private struct Place {
    var document: StoredDocument
    var used: Int
  }
  private let configuration: GraphQLStoreConfiguration
  private let schema: Schema?
  private var places: [CacheKey: Place] = [:]
  private var clock = 0
  /// How many documents were parsed; tests count with it.
  private(set) var parsed = 0

  init(configuration: GraphQLStoreConfiguration, schema: Schema?) {
    self.configuration = configuration
    self.schema = schema
  }

  var count: Int { places.count }

  mutating func document(_ text: String) throws(GraphQLStoreError) -> StoredDocument {
    let key = CacheKey(text)
    clock += 1
    if let known = places[key]?.document {
      places[key]?.used = clock
      return known
    }
    let document = try StoredDocument(text, schema: schema, configuration: configuration)
    parsed += 1
    if places.count >= max(1, configuration.limits.documents) { forgetHalf() }
    places[key] = Place(document: document, used: clock)
    return document
  }

  /// Half at a time, so that finding the least used costs little per document.
  private mutating func forgetHalf() {
    let byUse = places.sorted { $0.value.used < $1.value.used }
    for (key, _) in byUse.prefix(max(1, places.count / 2)) { places[key] = nil }
  }
}
