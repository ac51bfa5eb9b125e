import MartletGraphQLClient
import MartletJSON
import MartletRuntime

/// An AppSync endpoint as plainly as possible: records by model, versions, three subscriptions for each model,
/// conflicts by optimistic concurrency. It refuses whatever AppSync does not know.
final class ScriptedAppSync: NetworkTransport {
  private struct State {
    var records: [String: [String: JSONObject]] = [:]
    var feeds: [(field: String, feed: SubscriptionFeed)] = []
    var time: Int64 = 1_000
    var documents: [String] = []
    /// What another client writes just before the next mutation.
    var interference: JSONObject?
  }

  private let state = Lock(State())

  var documents: [String] { state.withLock { $0.documents } }
  var subscribedFields: [String] { state.withLock { $0.feeds.map(\.field) } }

  /// Has another client write just before the next mutation.
  func interfere(_ values: JSONObject) { state.withLock { $0.interference = values } }

  /// Writes as another client, and publishes what it wrote.
  func write(_ model: String, _ values: JSONObject, deleted: Bool = false) {
    let (record, kind) = state.withLock { state -> (JSONObject, String) in
      let id = values["id"]?.string ?? ""
      let stored = state.records[model]?[id]
      var record = stored ?? JSONObject()
      for (name, value) in values { record[name] = value }
      state.time += 1
      record["_version"] = .int((stored?["_version"]?.int ?? 0) + 1)
      record["_deleted"] = deleted ? true : .null
      record["_lastChangedAt"] = .int(state.time)
      state.records[model, default: [:]][id] = record
      return (record, deleted ? "onDelete" : stored == nil ? "onCreate" : "onUpdate")
    }
    let field = kind + model
    for (name, feed) in state.withLock({ $0.feeds }) where name == field {
      feed.yield(OperationPayload(["data": [.init(field): .object(record)]]))
    }
  }

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    state.withLock { $0.documents.append(request.document) }
    guard request.extensions.isEmpty, !request.document.contains("cursor") else {
      return OperationPayload(["errors": [["message": "Unknown field", "errorType": "BadRequestException"]]])
    }
    return OperationPayload(request.kind == .query ? page(request) : mutate(request))
  }

  private static func field(_ document: String) -> String {
    let rest = document.drop { $0 != "{" }.dropFirst().drop { $0 == " " }
    return String(rest.prefix { $0.isLetter })
  }

  private func page(_ request: OperationRequest) -> JSONValue {
    let field = Self.field(request.document)
    let model = String(field.dropFirst(4).dropLast())
    return state.withLock { state in
      let since = request.variables["lastSync"]?.int ?? 0
      let items = state.records[model, default: [:]].values
        .filter { ($0["_lastChangedAt"]?.int ?? 0) >= since }
      let page: JSONValue = [
        "items": .array(items.map { .object($0) }), "nextToken": .null, "startedAt": .int(state.time),
      ]
      return ["data": .object([field: page])]
    }
  }

  private func mutate(_ request: OperationRequest) -> JSONValue {
    let field = Self.field(request.document)
    let model = String(field.dropFirst(6))
    let input = request.variables["input"]?.object ?? JSONObject()
    let id = input["id"]?.string ?? ""
    let interference = state.withLock { state in
      defer { state.interference = nil }
      return state.interference
    }
    if let interference { write(model, interference) }
    let refusal = state.withLock { state -> JSONValue? in
      guard let stored = state.records[model]?[id], !field.hasPrefix("create") else { return nil }
      guard stored["_version"] != input["_version"] else { return nil }
      return [
        "data": .object([field: .null]),
        "errors": [["message": "conflict", "errorType": "ConflictUnhandled", "data": .object(stored)]],
      ]
    }
    if let refusal { return refusal }
    var values = input
    values["_version"] = nil
    write(model, values, deleted: field.hasPrefix("delete"))
    return ["data": .object([field: .object(state.withLock { $0.records[model]?[id] ?? JSONObject() })])]
  }

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    state.withLock { $0.feeds.append((Self.field(request.document), feed)) }
    feed.activate()
  }
}
