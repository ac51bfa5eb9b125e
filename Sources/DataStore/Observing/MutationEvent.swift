public import MartletGraphQLClient
internal import MartletJSON

/// A change of one record in the local store.
public struct MutationEvent: Sendable, Hashable, CustomStringConvertible {
  /// What happened to the record.
  public enum MutationType: String, Sendable, Hashable { case create, update, delete }

  /// Where a change came from.
  public enum Source: String, Sendable, Hashable {
    /// A save or delete of this program.
    case local
    /// The server's answer to a write of this program.
    case mutationResponse
    /// The server's feed.
    case live
    /// A sync.
    case syncPage
  }

  /// The number of the event in its store.
  public let id: String
  /// The record's identifier; a composite key is each value in quotes, joined by `#`.
  public let modelId: String
  /// The model's name.
  public let modelName: String
  /// The record after the change, or the last one before its deletion, as JSON.
  public let json: String
  /// What happened.
  public let mutationType: MutationType
  /// The version that the server gave the record; nil for one that only this client has.
  public let version: Int64?
  /// Where it came from.
  public let source: Source
  /// Whether nothing of the record waits to be acknowledged by a server.
  public let isAcknowledged: Bool

  /// The record as a value of its model.
  /// - Throws: `DataStoreError.decodingError`.
  public func decodeModel<M: Model>(as type: M.Type) throws -> M {
    do {
      return try JSONDecoding(types: .foundation).decode(type, from: JSONValue(held: Array(json.utf8)))
    } catch {
      throw DataStoreError(.decodingError, "\(modelName) \(modelId) does not decode as \(type): \(error)")
    }
  }

  /// Type, model and record, in one line.
  public var description: String { "\(mutationType.rawValue) \(modelName) \(modelId) (\(source.rawValue)): \(json)" }
}

extension MutationEvent {
  /// Reads the form in which events wait for their consumer.
  init(_ payload: [UInt8]) throws {
    let event = try JSONValue(held: payload)
    guard let id = event["id"]?.string, let modelId = event["modelId"]?.string,
      let name = event["modelName"]?.string, let json = event["json"]?.string,
      let type = event["mutationType"]?.string.flatMap(MutationType.init),
      let source = event["source"]?.string.flatMap(Source.init), let isAcknowledged = event["isAcknowledged"]?.bool
    else { throw DataStoreError(.decodingError, "an event of the store is not complete") }
    self.init(
      id: id, modelId: modelId, modelName: name, json: json, mutationType: type, version: event["version"]?.int,
      source: source, isAcknowledged: isAcknowledged)
  }
}
