internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletModels
internal import MartletRuntime
internal import MartletSyncEngine
internal import MartletVocabulary

/// A GraphQL server with sync queries: this package's, or AppSync.
struct GraphQLSyncServer: SyncServer {
  let transport: any NetworkTransport
  let models: [SyncModel]
  let documents: DataStoreSync.Documents
  let pageSize: Int
  let spawner: any Spawner

  private var isOwn: Bool { documents.hasPositions }

  // MARK: Pages

  func page(
    model number: Int, _ kind: SyncKind, token: String?, upTo count: Int?
  ) async throws(SyncFailure) -> SyncPage {
    let model = models[number]
    var request = OperationRequest(.query, document: model.syncDocument(hasPositions: isOwn))
    request.variables["limit"] = .int(Int64(min(pageSize, count ?? pageSize)))
    var filter = model.filter
    // What is in none of a full sync's pages is gone: a server of this package need not send deletions as well.
    if isOwn, kind == .full { filter = .object(Self.live(filter)) }
    if let filter { request.variables["filter"] = filter }
    if let token { request.variables["nextToken"] = .string(token) }
    if case .delta(let since) = kind { request.variables["lastSync"] = .int(since) }
    let response = try await tape(of: request).root
    var data = response["data"].map { JSONMembers($0) }
    let found = data?.element(named: model.syncField)
    let hasItems = found?["items"]?.kind == .array
    if let error = Self.error(in: response["errors"]?.value, hasData: hasItems) {
      if SyncFailures.isForbidden(response: error) { throw .refused(code: SyncFailures.forbidden, message: model.name) }
      throw SyncFailures.failure(of: error) { _ in nil }
    }
    guard let page = found, let items = page["items"], hasItems else { throw .network }
    let cursor = page["cursor"]?.string
    let position = isOwn ? cursor.flatMap { Cursor($0)?.offset } : nil
    if isOwn, position == nil { throw .refused(code: "NO_CURSOR", message: "the server's pages have no positions") }
    var changes: [RemoteChange] = []
    changes.reserveCapacity(items.count)
    items.forEach { if !$0.isNull { changes.append(model.change($0, number: number, position: position)) } }
    return SyncPage(
      changes: changes, nextToken: page["nextToken"]?.string, startedAt: page["startedAt"]?.int ?? 0,
      position: position ?? .max, cursor: cursor, isFull: page["isReplacement"]?.bool ?? false,
      expected: page["expected"]?.int.map(Int.init))
  }

  /// A filter that selects no deletions.
  private static func live(_ filter: JSONValue?) -> JSONObject {
    var live = filter?.object ?? JSONObject()
    live["_deleted"] = ["ne": true]
    return live
  }

  /// A response that is read where it stands: a page's records become rows without values in between.
  private func tape(of request: OperationRequest) async throws(SyncFailure) -> JSONTape {
    do {
      return try await transport.send(request).tape
    } catch {
      throw SyncFailures.failure(error)
    }
  }

  /// What a request failed with. Beside data, refusals are about parts of it: AppSync gives null for a field that the
  /// caller may not read, and says so for each record.
  private static func error(in errors: JSONValue?, hasData: Bool) -> JSONValue? {
    errors?.array?.first { !hasData || !SyncFailures.isForbidden(response: $0) }
  }

  /// What a mutation has answered with; null when it failed.
  private func answer(_ upload: SyncUpload, _ response: JSONValue) -> JSONValue {
    let model = models[upload.model]
    return response["data"]?[model.mutationField(model.input(upload.write, upload.key, version: 0).verb)] ?? .null
  }

  private func send(_ request: OperationRequest) async throws(SyncFailure) -> JSONValue {
    do {
      return try await transport.send(request).value
    } catch {
      throw SyncFailures.failure(error)
    }
  }

  // MARK: Uploads

  func upload(_ upload: SyncUpload) async -> SyncAnswer {
    do throws(SyncFailure) {
      let response = try await send(mutation(upload))
      let refusal = response["errors"]?[0]
      let cursor = response["extensions"]?["martlet"]?["cursor"] ?? refusal?["extensions"]?["cursor"]
      return SyncAnswer(
        result: result(of: upload, response), cursor: isOwn ? cursor?.string.flatMap { Cursor($0) } : nil)
    } catch {
      return SyncAnswer(result: .failure(error))
    }
  }

  private func mutation(_ upload: SyncUpload) -> OperationRequest {
    let model = models[upload.model]
    let parts = model.input(upload.write, upload.key, version: upload.image?.version ?? 0)
    let condition = upload.write.condition.flatMap { model.condition($0, of: upload.key) }
    var request = OperationRequest(
      .mutation, document: model.mutationDocument(parts.verb, hasCondition: condition != nil),
      variables: ["input": .object(parts.input)])
    if let condition { request.variables["condition"] = condition }
    if isOwn { request.extensions = extensions(upload, parts.replaced) }
    return request
  }

  private func result(of upload: SyncUpload, _ response: JSONValue) -> Result<SyncUploaded, SyncFailure> {
    do throws(SyncFailure) {
      return .success(try uploaded(upload, response))
    } catch {
      return .failure(error)
    }
  }

  private func uploaded(_ upload: SyncUpload, _ response: JSONValue) throws(SyncFailure) -> SyncUploaded {
    let model = models[upload.model]
    let cursor = response["extensions"]?["martlet"]?["cursor"]?.string.flatMap { Cursor($0) }
    let record = answer(upload, response)
    if let error = Self.error(in: response["errors"], hasData: !record.isNull) {
      return try failed(upload, error, model)
    }
    let position: Int64? = isOwn ? cursor?.offset ?? 0 : nil
    if record.isNull { return SyncUploaded(image: nil, position: position ?? 0) }
    var image = model.change(record, number: upload.model, position: position).image
    // This package's server says what it has deleted: its handler of conflicts may have kept the record.
    if !isOwn, case .delete = upload.write.content { image.record = nil }
    return SyncUploaded(image: image, position: position ?? 0, changedAt: record["_lastChangedAt"]?.int)
  }

  private func failed(
    _ upload: SyncUpload, _ error: JSONValue, _ model: SyncModel
  ) throws(SyncFailure) -> SyncUploaded {
    let failure = SyncFailures.failure(of: error) { image($0, model) }
    let code = SyncFailures.code(of: error)
    // A resend of a write whose record the server's log no longer has.
    if code == "ALREADY_APPLIED" { return SyncUploaded(image: nil, position: 0) }
    // A server that does not number writes refuses a creation that is sent again because its answer was lost.
    if !isOwn, failure == .conditionFailed, case .create(let sent) = upload.write.content, upload.write.over == nil,
      let image = image(error, model), let record = image.record, model.isMade(of: sent, record)
    {
      return SyncUploaded(image: image, position: 0)
    }
    guard code == "NOT_FOUND" else { throw failure }
    let known = upload.image ?? ServerImage(record: nil, version: 0, position: 0)
    // The refusal of a write that is sent again may be older than the image: the caller may not have seen the record
    // then. The feed says whether it is gone.
    if upload.isResend, known.record != nil {
      if case .delete = upload.write.content { return SyncUploaded(image: nil, position: 0) }
      throw .conflict(known)
    }
    // The record was deleted after the image that this store has, and before anything that comes later. A deletion
    // changes nothing then: there is nothing that the feed would bring.
    let gone = ServerImage(record: nil, version: known.version, position: known.position + 1)
    if case .delete = upload.write.content { return SyncUploaded(image: gone, position: 0) }
    throw .conflict(gone)
  }

  /// The record that comes with a conflict.
  private func image(_ error: JSONValue, _ model: SyncModel) -> ServerImage? {
    let details = error["extensions"]
    guard let data = details?["data"] ?? error["data"], !data.isNull else { return nil }
    let position = details?["cursor"]?.string.flatMap { Cursor($0)?.offset }
    return model.conflict(data, position: position)
  }

  private func extensions(_ upload: SyncUpload, _ replaced: JSONObject?) -> JSONObject {
    var write: JSONObject = [
      "client": .string(upload.client), "number": .int(upload.write.number), "acknowledged": .int(upload.acknowledged),
    ]
    // A server that does not know the client refuses a marked resend.
    if upload.isResend { write["resend"] = true }
    if let replaced { write["replaced"] = .object(replaced) }
    return ["martlet": ["write": .object(write)]]
  }

  // MARK: The feed

  func follow(
    from cursor: String?, view: String?, _ news: @escaping @Sendable (FeedNews) async -> Void
  ) -> FeedFollower {
    switch documents {
    case .martlet: followChanges(from: cursor.flatMap { Cursor($0) }, view, news)
    case .appSync: followModels(news)
    }
  }

  /// One subscription for all models, resumed after every interruption.
  private func followChanges(
    from cursor: Cursor?, _ view: String?, _ news: @escaping @Sendable (FeedNews) async -> Void
  ) -> FeedFollower {
    let names = models.map(\.name)
    var request = OperationRequest(
      .subscription,
      document: """
        subscription Changes($models: [String!], $filters: ModelChangesFilterInput) \
        { modelChanges(models: $models, filters: $filters) { model effect key version changedAt position fields } }
        """, variables: ["models": .array(names.map { .string($0) })])
    let filters = models.compactMap { model in model.filter.map { (key: model.name, value: $0) } }
    if !filters.isEmpty { request.variables["filters"] = .object(JSONObject(filters)) }
    request.start = SubscriptionStart(after: cursor)
    if cursor != nil, let view { request.extensions = ["martlet": ["view": .string(view)]] }
    let reader = ChangeReader(models: models)
    return follow([request]) { item in
      switch item {
      // Without a mark the transport cannot resume: what was missed while nothing was followed is synced.
      case .ready(let mark):
        await news(
          .ready(resumed: cursor != nil && mark != nil, cursor: mark?.cursor?.description, view: mark?.view))
      case .passed(let cursor):
        await news(.changes(FeedPart(changes: [], cursor: cursor.description, position: cursor.offset)))
      case .other(let other): await news(other)
      case .event(_, let event):
        guard let change = event.value["data"]?["modelChanges"].flatMap(reader.change(_:)) else {
          return await news(.ended(.refused(code: "FEED", message: "the server's feed cannot be read")))
        }
        let cursor = event.endsTransaction ? event.cursor?.description : nil
        await news(
          .changes(
            FeedPart(
              changes: [change], cursor: cursor, position: change.image.position,
              endsTransaction: event.endsTransaction)))
      }
    }
  }

  /// Three subscriptions for each model; there is nothing to resume from.
  private func followModels(_ news: @escaping @Sendable (FeedNews) async -> Void) -> FeedFollower {
    let plan = models.indices.flatMap { model in SubscriptionPlan.Kind.allCases.map { (model: model, kind: $0) } }
    let requests = plan.map {
      OperationRequest(.subscription, document: models[$0.model].subscriptionDocument($0.kind))
    }
    return follow(requests) { [models] item in
      switch item {
      case .ready: await news(.ready(resumed: false, cursor: nil, view: nil))
      case .passed: break
      // What was missed is unknown: everything is synced again.
      case .other(.interrupted), .other(.gap): await news(.ended(.network))
      case .other(let other): await news(other)
      case .event(let index, let event):
        let (number, kind) = plan[index]
        guard let record = event.value["data"]?[models[number].subscriptionField(kind)], !record.isNull else { return }
        var change = models[number].change(record, number: number, position: nil)
        if kind == .onDelete { change.image.record = nil }
        await news(.changes(FeedPart(changes: [change])))
      }
    }
  }

  private func follow(
    _ requests: [OperationRequest], _ handle: @escaping @Sendable (FeedSubscriptions.Item) async -> Void
  ) -> FeedFollower {
    let group = FeedSubscriptions(count: requests.count, isOwn: isOwn, spawner: spawner, handle)
    for (index, request) in requests.enumerated() { group.start(index, request, on: transport) }
    return FeedFollower { group.cancel() }
  }
}
