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
    /// Whether the answer to the next mutation is lost.
    var losesAnswer = false
    /// Whether subscriptions bring no events.
    var isSilent = false
    /// Models whose pages are refused, as with tokens that have ended.
    var refusedModels: Set<String> = []
    /// Fields that callers may not read: null in each answer, with an error for each record.
    var hiddenFields: Set<String> = []
    /// Waited for with each page of a model that has been read.
    var gates: [String: @Sendable () async -> Void] = [:]
  }

  private let state = Lock(State())

  var documents: [String] { state.withLock { $0.documents } }
  var subscribedFields: [String] { state.withLock { $0.feeds.map(\.field) } }

  /// Has another client write just before the next mutation.
  func interfere(_ values: JSONObject) { state.withLock { $0.interference = values } }

  /// Makes the next mutation, and loses its answer.
  func loseAnswer() { state.withLock { $0.losesAnswer = true } }

  /// Subscriptions bring no events from now on.
  func silence() { state.withLock { $0.isSilent = true } }

  /// Refuses the pages of a model, as with tokens that have ended.
  func refusePages(_ model: String) { state.withLock { _ = $0.refusedModels.insert(model) } }

  /// Hides a field from callers.
  func hide(_ field: String) { state.withLock { _ = $0.hiddenFields.insert(field) } }

  /// Waits for a function with each page of a model that has been read.
  func holdPages(_ model: String, _ gate: (@Sendable () async -> Void)?) { state.withLock { $0.gates[model] = gate } }

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
    let feeds = state.withLock { state in state.isSilent ? [] : state.feeds.filter { $0.field == field } }
    for subscriber in feeds {
      subscriber.feed.yield(OperationPayload(["data": [.init(field): .object(record)]]))
    }
  }

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    state.withLock { $0.documents.append(request.document) }
    guard request.extensions.isEmpty, !request.document.contains("cursor") else {
      return OperationPayload(["errors": [["message": "Unknown field", "errorType": "BadRequestException"]]])
    }
    if request.kind == .query { return OperationPayload(hiding(await page(request))) }
    let answer = hiding(mutate(request))
    let isLost = state.withLock { state in
      defer { state.losesAnswer = false }
      return state.losesAnswer
    }
    if isLost { throw GraphQLClientError(.outcomeUnknown, "the answer was lost") }
    return OperationPayload(answer)
  }

  /// A response without the fields that its caller may not read, and with what AppSync says of each.
  private func hiding(_ response: JSONValue) -> JSONValue {
    let fields = state.withLock { $0.hiddenFields }.sorted()
    guard !fields.isEmpty, response["errors"] == nil,
      let (root, data) = response["data"]?.object?.first.map({ ($0.key, $0.value) })
    else { return response }
    var errors: [JSONValue] = []
    func hide(_ record: JSONValue, _ path: [JSONValue]) -> JSONValue {
      var members = record.object ?? JSONObject()
      for field in fields {
        members[field] = .null
        errors.append([
          "message": "Not Authorized to access a field", "errorType": "Unauthorized",
          "path": .array([.string(root)] + path + [.string(field)]),
        ])
      }
      return .object(members)
    }
    var shown = data.object ?? JSONObject()
    if let items = shown["items"]?.array {
      shown["items"] = .array(items.enumerated().map { hide($1, ["items", .int(Int64($0))]) })
    } else {
      shown = hide(data, []).object ?? shown
    }
    return ["data": .object([root: .object(shown)]), "errors": .array(errors)]
  }

  private static func field(_ document: String) -> String {
    let rest = document.drop { $0 != "{" }.dropFirst().drop { $0 == " " }
    return String(rest.prefix { $0.isLetter })
  }

  private func page(_ request: OperationRequest) async -> JSONValue {
    let field = Self.field(request.document)
    let model = String(field.dropFirst(4).dropLast())
    let gate = state.withLock { $0.gates[model] }
    let page = read(request, field, model)
    await gate?()
    return page
  }

  private func read(_ request: OperationRequest, _ field: String, _ model: String) -> JSONValue {
    state.withLock { state in
      if state.refusedModels.contains(model) {
        return ["errors": [["message": "The token has ended.", "extensions": ["code": "INVALID_TOKEN"]]]]
      }
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
      guard let stored = state.records[model]?[id] else { return nil }
      if field.hasPrefix("create") {
        if stored["_deleted"] == true { return nil }
        return [
          "data": .object([field: .null]),
          "errors": [
            [
              "message": "The conditional request failed", "errorType": "ConditionalCheckFailedException",
              "data": .object(stored),
            ]
          ],
        ]
      }
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
