internal import MartletChangeFeed
internal import MartletJSON
internal import MartletJSONTree
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore

/// What the console shows of a server, as JSON: its log's end, its load, and the newest changes.
struct ConsoleState {
  let models: ModelSchema
  let store: Store
  let isDevelopment: Bool
  let limits: ServerLimits.Console

  /// - Parameter after: the offset after which changes are wanted; nil for the newest ones. The answer has none when
  ///   `showsChanges` is false.
  func text(_ counters: ServerCounters, _ gauges: LoopGauges, after: Int64?, showsChanges: Bool) -> [UInt8] {
    let position = store.position
    var answer: JSONObject = [
      "isDevelopment": .bool(isDevelopment),
      "server": [
        "term": .string(String(position.term, radix: 16)), "head": .int(position.head),
        "first": .int(position.firstRetained), "bytes": .int(position.bytes),
      ],
      "gauges": [
        "connections": .int(Int64(gauges.connections)), "sessions": .int(Int64(gauges.sessions)),
        "streams": .int(Int64(gauges.streams)), "subscriptions": .int(Int64(gauges.subscriptions)),
        "groups": .int(Int64(gauges.groups)), "pendingBytes": .int(Int64(gauges.pendingBytes)),
      ],
      "counters": [
        "operations": .int(Int64(counters[.operations])), "deliveries": .int(Int64(counters[.deliveries])),
        "requests": .int(Int64(counters[.requests])), "gaps": .int(Int64(counters[.gaps])),
        "lagging": .int(Int64(counters[.lagging])),
      ],
    ]
    if showsChanges { add(newest(after: after, head: position.head), to: &answer) }
    return JSONValue.object(answer).serialized()
  }

  /// The changes after an offset that are still in memory, the oldest first, and whether some are missing before them.
  private func newest(after: Int64?, head: Int64) -> (changes: ArraySlice<Change>, isCut: Bool) {
    let wanted = max(after ?? 0, head - Int64(limits.changes))
    let first = store.recent.firstOffset ?? head + 1
    let from = max(wanted, first - 1)
    // A server that was restarted numbers on from an older offset after its data was restored.
    guard from < head, let batches = store.recent.batches(after: from) else { return ([], false) }
    let changes = batches.flatMap(\.changes).drop { $0.offset <= from }
    return (changes.suffix(limits.changes), after.map { from > $0 } ?? false)
  }

  private func add(_ newest: (changes: ArraySlice<Change>, isCut: Bool), to answer: inout JSONObject) {
    var shown: [JSONValue] = []
    var (size, isCut) = (0, newest.isCut)
    for change in newest.changes.reversed() {
      let value = describe(change)
      size += value.serialized().count
      if size > limits.changeBytes, !shown.isEmpty {
        isCut = true
        break
      }
      shown.append(value)
    }
    answer["changes"] = .array(shown.reversed())
    answer["isCut"] = .bool(isCut)
  }

  private func describe(_ change: Change) -> JSONValue {
    var value: JSONObject = ["offset": .int(change.offset), "ends": .bool(change.endsTransaction)]
    switch change.body {
    case .event(let event):
      value["kind"] = "event"
      value["of"] = .string(event.topic)
      value["key"] = .null
      value["values"] = event.payload
    case .record(let record):
      value["kind"] = .string("\(record.kind)")
      guard record.model < models.models.count else { return .object(value) }
      let model = models.models[record.model]
      value["of"] = .string(model.name)
      value["key"] = .object(
        JSONObject(zip(model.primaryKey, record.key.values).map { (key: model.fields[$0].name, value: $1) }))
      value["values"] = .object(values(of: record, model))
    case .tree(let tree):
      value["kind"] = "tree"
      value["of"] = .string("\(tree.path)")
      value["key"] = .null
      value["values"] = tree.node.json()
    }
    return .object(value)
  }

  /// The fields that a change wrote: all of a new record, the changed ones of an older one.
  private func values(of change: RecordChange, _ model: ModelDefinition) -> JSONObject {
    let fields: [Int] =
      switch change.kind {
      case .create: model.fields.indices.filter { !model.primaryKey.contains($0) && !change.image[$0].isNull }
      case .update: change.old.map(\.field)
      case .delete: []
      }
    return JSONObject(
      fields.filter { $0 < model.fields.count }.map { (key: model.fields[$0].name, value: change.image[$0]) })
  }
}
