public import MartletJSON
public import MartletVocabulary

/// A GraphQL result, or the sign that results are missing.
public struct GraphQLResponse<Data: Sendable>: Sendable {
  /// The data; nil when the operation failed as a whole, and in an element that stands for a gap.
  public var data: Data?
  /// The errors that the server put into it. A response with errors is a value, not a thrown error.
  public var errors: [GraphQLServerError]
  /// What the server added beside data and errors.
  public var extensions: JSONObject
  /// The place of this event in the server's log, when the server gives cursors.
  public var cursor: Cursor?
  /// Whether this is the last event of its transaction on the server. True with servers that say nothing about
  /// transactions; see `SubscriptionStream.transactions`.
  public var endsTransaction = true
  /// Set when events are missing between the element before and the one after; data is nil then.
  public var gap: EventGap?
  /// The source of the data: the server, or the client's store.
  public var source = ResponseSource.server
  /// Response paths of what the store lacks of the data, at most `GraphQLStoreLimits.reportedMissingFields`; only where
  /// partial results were allowed.
  public var missing: [String] = []
  /// Set when the request in the background failed; the data are the store's then.
  public var fetchError: (any Error)?
  /// Set when the server's result could not be written to the client's store: the result is complete all the same, and
  /// the store asks the server instead of its cache until the cache works again. A failing cache is reported once until
  /// then.
  public var storeError: GraphQLStoreError?
  /// More of this result is to come: it is one of several in parts (`fetchInParts`, `queryInParts`).
  public var hasNext = false

  package init(data: Data?, errors: [GraphQLServerError], extensions: JSONObject, cursor: Cursor?, gap: EventGap?) {
    self.data = data
    self.errors = errors
    self.extensions = extensions
    self.cursor = cursor
    self.gap = gap
  }
}

/// The source of a query's data.
public enum ResponseSource: Sendable, Hashable {
  /// The client's store.
  case cache
  /// The server.
  case server
}

extension GraphQLResponse where Data: Decodable {
  /// Reads what a server sent.
  /// - Throws: `invalidResponse`, `decodingFailed`.
  package init(_ event: SubscriptionEvent) throws(GraphQLClientError) {
    self.init(data: nil, errors: [], extensions: JSONObject(), cursor: event.cursor, gap: event.gap)
    endsTransaction = event.endsTransaction
    if event.gap == nil { try read(OperationPayload(bytes: event.payload)) }
  }

  /// Reads what a server answered.
  /// - Throws: `invalidResponse`, `decodingFailed`.
  package init(_ payload: OperationPayload) throws(GraphQLClientError) {
    self.init(data: nil, errors: [], extensions: JSONObject(), cursor: nil, gap: nil)
    try read(payload)
  }

  private mutating func read(_ payload: OperationPayload) throws(GraphQLClientError) {
    let body: JSONValue
    do throws(JSONError) {
      body = try payload.value
    } catch {
      throw GraphQLClientError(.invalidResponse, "the result is not JSON", underlying: error)
    }
    guard let object = body.object, object["data"] != nil || object["errors"] != nil else {
      throw GraphQLClientError(.invalidResponse, "the result has neither data nor errors")
    }
    errors = (object["errors"]?.array ?? []).map { GraphQLServerError($0) }
    extensions = object["extensions"]?.object ?? JSONObject()
    data = try Self.decoded(object["data"])
  }

  package static func decoded(_ value: JSONValue?) throws(GraphQLClientError) -> Data? {
    guard let value, !value.isNull else { return nil }
    if let same = value as? Data { return same }
    do {
      return try JSONDecoding(types: .foundation).decode(Data.self, from: value)
    } catch {
      throw GraphQLClientError(.decodingFailed, "the data does not have the shape of \(Data.self)", underlying: error)
    }
  }
}

/// Another name of `GraphQLResponse`.
public typealias GraphQLResult<Data: Sendable> = GraphQLResponse<Data>
