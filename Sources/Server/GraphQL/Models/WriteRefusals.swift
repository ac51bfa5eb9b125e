internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore
internal import MartletVocabulary

/// The answers to writes that the store refused.
struct WriteRefusals: Sendable {
  let schema: ModelSchema
  let store: Store

  /// Answers a write that the store refused. Where a record stood in its way, the error has that record under `data`,
  /// as it is now and as far as the caller's rules show it: for a resend, whose outcome is remembered, as for a first
  /// attempt. Of a versioned model also one that was deleted, with its stamps, and the cursor of what was read.
  func answer(
    _ error: StoreError, _ rights: Rights?, _ destination: any StoreDestination,
    _ completion: @escaping ModelResolvers.Completion
  ) {
    let refusal = StoreErrors.resolverError(shown(error, rights))
    guard let conflict = error.conflict, schema.models.indices.contains(conflict.model) else {
      return completion([.failure(refusal)])
    }
    let model = schema.models[conflict.model]
    let outcome = rights?.outcome(of: conflict.model, for: .answer)
    let read = ReadRequest { snapshot throws(StoreError) -> (JSONValue, Int64) in
      let head = try snapshot.moment().head
      guard model.conflicts != nil else {
        let stored = try snapshot.get(conflict.model, conflict.key)
        return (stored.map { model.json($0.record, nil, outcome) } ?? .null, head)
      }
      if let stored = try snapshot.get(conflict.model, conflict.key) {
        return (model.json(stored.record, model.stamps(stored.version, stored.changed), outcome), head)
      }
      guard let tombstone = try snapshot.tombstone(conflict.model, conflict.key) else { return (.null, head) }
      let stamps = model.stamps(tombstone.version, tombstone.time, isDeleted: true)
      return (model.json(tombstone.image, stamps, outcome), head)
    } completion: { [store] result in
      var refusal = refusal
      // The refusal stands, whether or not the record can be read.
      if case .success((let data, let head)) = result {
        refusal.extensions["data"] = data
        if model.conflicts != nil, !data.isNull {
          refusal.extensions["cursor"] = .string(Cursor(term: store.lineage.currentTerm, offset: head).description)
        }
      }
      completion([.failure(refusal)])
    }
    store.read([read], to: destination)
  }

  /// The error without what its words say of records that the caller does not see: a deletion that a relation forbids
  /// counts the other model's records and names one of them.
  private func shown(_ error: StoreError, _ rights: Rights?) -> StoreError {
    guard error.code == .referenced, let rights, let conflict = error.conflict,
      rights.outcome(of: conflict.model, for: .answer).predicate(for: .get) != .all
    else { return error }
    return StoreError(.referenced, "the record cannot be deleted while others refer to it", conflict)
  }
}

extension ModelDefinition {
  /// A record's fields by their names, and its stamps, as a caller sees it; null when it does not. Relations are not
  /// among them.
  fileprivate func json(_ record: Record, _ stamps: [JSONValue]?, _ outcome: RuleOutcome?) -> JSONValue {
    guard let view = outcome.map({ $0.view(of: record, for: .get) }) ?? record else { return .null }
    var members = fields.enumerated().map { (key: $1.name, value: view[$0]) }
    if let stamps {
      members += zip(RecordStamp.allCases, stamps).map { (key: $0.fieldName, value: $1) }
      members.append((key: "__typename", value: .string(name)))
    }
    return .object(JSONObject(members))
  }
}
