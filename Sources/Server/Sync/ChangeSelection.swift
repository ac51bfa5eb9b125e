internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore

/// What a `modelChanges` subscription is about: records of several models, within what the rules allow, judged before
/// and after each change.
struct ChangeSelection {
  private struct Part {
    var model: ModelDefinition
    var predicate: Predicate
    /// What hides fields of the records; nil where nothing does.
    var mask: RuleOutcome?
  }

  private let parts: [Int: Part]
  let interests: [Interest]

  /// Reads the arguments. A model whose changes no rule allows the caller to follow has none.
  init(
    _ models: ModelSchema, _ arguments: JSONObject, _ rights: Rights?, _ limits: FilterLimits
  ) throws {
    let filters = arguments["filters"]
    let named = arguments["models"]?.array.map { $0.compactMap(\.string) }
    if named?.isEmpty == true { throw FilterError(path: "models", message: "names no model") }
    let known = models.models.filter { $0.conflicts != nil }
    for name in named ?? [] where !known.contains(where: { $0.name.hasSameBytes(as: name) }) {
      throw FilterError(path: "models", message: "\(name) is not a versioned model")
    }
    var parts: [Int: Part] = [:]
    var interests: [Interest] = []
    var isAnyAllowed = false
    for model in known where named?.contains(where: { $0.hasSameBytes(as: model.name) }) ?? true {
      var reader = FilterReader(model, limits)
      let filter = try reader.read(filters?[model.name], path: "filters.\(model.name)")
      let outcome = rights?.outcome(of: model.number, for: .interest)
      let isAllowed = outcome.map { $0.predicate(for: .listen) != .none } ?? true
      let predicate = isAllowed ? try outcome?.checked(filter, for: .listen, of: model) ?? filter : .none
      isAnyAllowed = isAnyAllowed || isAllowed
      let payload = rights?.outcome(of: model.number, for: .payload)
      parts[model.number] = Part(
        model: model, predicate: predicate, mask: payload.flatMap { $0.hidesParts(for: .listen) ? $0 : nil })
      interests += [ChangeKind.create, .update, .delete].map { kind in
        Interest(.model(model.number, kind), predicate, .beforeAndAfter)
      }
    }
    // Filters that select nothing are the caller's own: such a subscription has no events, and is not refused.
    guard isAnyAllowed else { throw RuleRefusals.field("modelChanges", on: "Subscription") }
    self.parts = parts
    self.interests = interests
  }

  /// A change as a `ModelChange`; nil when it is not about the selected records.
  func value(of change: Change) -> JSONValue? {
    guard let record = change.record, let part = parts[record.model],
      let effect = Interest(change.channel, part.predicate, .beforeAndAfter).effect(of: change)
    else { return nil }
    var value: JSONObject = [
      "model": .string(part.model.name), "effect": .string(effect.name),
      "key": .object(
        JSONObject(
          zip(part.model.primaryKey, record.key.values).map { (key: part.model.fields[$0].name, value: $1) })),
      "version": .int(record.version), "changedAt": .int(change.time), "position": .string(String(change.offset)),
    ]
    if effect != .left { value["fields"] = .object(fields(of: record, effect, part)) }
    return .object(value)
  }

  private func fields(of record: RecordChange, _ effect: Effect, _ part: Part) -> JSONObject {
    let after = part.mask?.masked(record.image, for: .listen) ?? record.image
    var before: Record?
    if effect == .stayed { before = record.before.map { part.mask?.masked($0, for: .listen) ?? $0 } }
    return JSONObject(
      part.model.fields.enumerated().compactMap { position, field in
        if let before, before[position] == after[position] { return nil }
        return (key: field.name, value: after[position])
      })
  }
}

extension Effect {
  /// As `ModelChangeEffect` names it.
  fileprivate var name: String {
    switch self {
    case .entered: "ENTERED"
    case .stayed: "STAYED"
    case .left: "LEFT"
    }
  }
}
