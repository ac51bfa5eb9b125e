internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore

extension ModelResolvers {
  /// Answers a write that the store refused. Where a record stood in its way, the error has that record under `data`,
  /// as it is now and as far as the caller's rules show it: for a resend, whose outcome is remembered, as for a first
  /// attempt.
  func refuse(_ batch: BatchRequest, _ error: StoreError, _ completion: @escaping Completion) {
    let refusal = StoreErrors.resolverError(error)
    guard let conflict = error.conflict, schema.models.indices.contains(conflict.model) else {
      return completion([.failure(refusal)])
    }
    let model = schema.models[conflict.model]
    let outcome = outcome(of: model, batch, for: .answer)
    let read = ReadRequest { snapshot throws(StoreError) in
      try snapshot.get(conflict.model, conflict.key)
    } completion: { result in
      var refusal = refusal
      // The refusal stands, whether or not the record can be read.
      if case .success(let stored) = result {
        let view = stored.flatMap { stored in outcome.map { $0.view(of: stored.record, for: .get) } ?? stored.record }
        refusal.extensions["data"] = view.map { model.json($0) } ?? .null
      }
      completion([.failure(refusal)])
    }
    store.read([read], to: destination(batch))
  }
}

extension ModelDefinition {
  /// A record's fields by their names; relations are not among them.
  fileprivate func json(_ record: Record) -> JSONValue {
    .object(JSONObject(zip(fields, record.values).map { (key: $0.name, value: $1) }))
  }
}
