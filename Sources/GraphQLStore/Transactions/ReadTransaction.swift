internal import MartletGraphQLOperations
public import MartletJSON

/// A view of a store that does not change meanwhile. Valid only inside the closure it is passed to.
public class ReadTransaction {
  let core: StoreCore
  let layers: Int?
  /// What the transaction has written.
  var overlay = Overlay()
  /// Records it looked at.
  private(set) var reads: Set<CacheKey> = []
  private var isOver = false

  init(_ core: StoreCore, layers: Int? = nil) {
    self.core = core
    self.layers = layers
  }

  func finish() { isOver = true }

  func check() throws(GraphQLStoreError) {
    if isOver { throw GraphQLStoreError(.insideTransaction, "the transaction is over") }
  }

  /// The data of a query.
  ///
  /// ```swift
  /// let board = try transaction.read("{ departures { id line } }", as: Board.self)
  /// ```
  /// - Throws: `missingData` when the store does not have all of it.
  public func read<Data: Decodable>(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    as type: Data.Type = JSONValue.self
  ) throws -> Data {
    let operation = try core.bind(
      StoreOperation(document: document, operationName: operationName, variables: variables))
    return try decode(data(operation, includesHidden: false))
  }

  /// The data of a fragment on one record.
  ///
  /// ```swift
  /// let gate = try transaction.readFragment("fragment Gate on Flight { gate }", on: CacheKey("Flight:OS 87"))
  /// ```
  /// - Throws: `missingData` when the store does not have all of it.
  public func readFragment<Data: Decodable>(
    _ document: String, on key: CacheKey, variables: JSONObject = JSONObject(), fragmentName: String? = nil,
    as type: Data.Type = JSONValue.self
  ) throws -> Data {
    try decode(fragmentData(try core.bindFragment(document, fragmentName, variables), key, includesHidden: false))
  }

  /// The fields of a record as they are kept; nil when there is none.
  public func record(_ key: CacheKey) throws -> CacheRecord? {
    try check()
    reads.insert(key)
    return try view().record(key)
  }

  private func decode<Data: Decodable>(_ value: JSONValue) throws -> Data {
    if let same = value as? Data { return same }
    return try JSONDecoding(types: .foundation).decode(Data.self, from: value)
  }

  private func view() -> StoreView {
    var view = core.view(layers: layers, respectsAge: false)
    if !overlay.isEmpty { view.overlays.append(overlay) }
    return view
  }

  func data(_ operation: BoundOperation, includesHidden: Bool) throws -> JSONValue {
    try reading(operation, includesHidden) { try $0.operation() }
  }

  func fragmentData(_ operation: BoundOperation, _ key: CacheKey, includesHidden: Bool) throws -> JSONValue {
    try reading(operation, includesHidden) { try $0.fragment(on: key) }
  }

  private func reading(
    _ operation: BoundOperation, _ includesHidden: Bool, _ body: (inout ResultReader) throws -> JSONValue?
  ) throws -> JSONValue {
    try check()
    var reader = ResultReader(
      operation, core.binder, view: view(), allowsPartial: false, includesHidden: includesHidden,
      notesDependencies: true)
    let data = try body(&reader)
    reads.formUnion(reader.dependencies.records.keys)
    guard let data else {
      throw GraphQLStoreError(.missingData, "the store does not have \(reader.missing.first ?? "all of it")")
    }
    return data
  }
}
