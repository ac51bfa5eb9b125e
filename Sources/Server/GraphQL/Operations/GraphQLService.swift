internal import MartletAccess
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletModelSDL
internal import MartletRuntime
internal import MartletSockets
internal import MartletStore
internal import MartletTracing
internal import MartletVocabulary
internal import MartletWire

/// What one loop does with GraphQL requests, by whichever door they come: HTTP, a batch, a shared event stream, a
/// socket.
///
/// Confined to its loop.
final class GraphQLService {
  let node: ServerNode
  let loop: any Loop
  let transport: LoopTransport
  let feed: Feed
  let counters: LoopTally
  let runner: OperationRunner
  let meters = SessionMeters()
  /// The tree of the server's first store, for its service alone.
  weak var tree: TreeService?
  var sessions: [ObjectIdentifier: any LoopSession] = [:]
  private var plans: PlanCache<PlannedDocument>
  /// The schema under which `plans` and `selections` were made.
  private var plannedUnder: ServedSchema
  /// One copy of each selection that groups use, by its signature.
  private var selections: [[UInt8]: RecordSelection] = [:]

  init(_ node: ServerNode, on loop: any Loop, _ transport: LoopTransport, _ feed: Feed, _ counters: LoopTally) {
    self.node = node
    self.loop = loop
    self.transport = transport
    self.feed = feed
    self.counters = counters
    runner = OperationRunner(node, on: loop)
    plans = PlanCache(capacity: node.limits.query.cachedPlans)
    plannedUnder = node.served
  }

  /// The path of a request to one of this store's endpoints, without what the store's paths begin with.
  func localPath(of head: HTTPRequestHead) -> String {
    node.path.isEmpty ? head.path : String(decoding: head.path.utf8.dropFirst(node.path.utf8.count), as: UTF8.self)
  }

  /// What the handshake of AppSync's protocol signs.
  var signedHandshake: SignedRequest {
    SignedRequest(target: node.path + "/graphql/connect", body: Array("{}".utf8))
  }

  /// Oldest first; a copy, because ending one takes it out.
  var sessionsInOrder: [any LoopSession] { sessions.values.sorted { $0.serial < $1.serial } }

  /// Finds the document of a request, validates and plans it, and makes its scope: everything before it runs.
  ///
  /// - Parameter made: the plan of the request's own document, if it has been made elsewhere.
  func prepare(
    _ request: RequestPayload, for caller: Caller, planned made: Result<PlannedDocument, RequestErrors>? = nil
  ) -> Result<PreparedOperation, Refusal> {
    let document: String
    do {
      document = try self.document(of: request)
    } catch {
      return .failure(.persisted(error))
    }
    let planned: PlannedDocument
    do throws(RequestErrors) {
      if let made {
        counters.add(.planMisses)
        planned = shared(try made.get())
      } else {
        planned = try plan(document, operationName: request.operationName, caller)
      }
    } catch {
      return .failure(.invalid(error, document: document))
    }
    if caller.identity.scope != .everything,
      let field = caller.identity.scope.refusedField(of: planned.plan, node.models)
    {
      let refusal = Refusal.scope(RuleRefusals.field(field, on: planned.plan.root.name))
      node.audit.judged(refusal.errors, of: planned.plan, by: caller.identity, node.models)
      return .failure(refusal)
    }
    do {
      let scope = try scope(for: planned.plan, request, caller)
      let (cost, shownCost) = planned.cost(request.variables)
      return .success(
        PreparedOperation(
          plan: planned.plan, canonical: planned.canonical, selection: planned.selection, cost: cost,
          shownCost: shownCost, scope: scope))
    } catch {
      return .failure(.scope(error))
    }
  }

  /// The refusal of an operation whose caller has used what it may use, before its document is read; nothing is spent.
  func judge(bytes: Int, _ caller: Caller, over peer: Peer) -> Refusal? {
    meter(caller, peer) { callers throws(QuotaRefusal) in
      try callers.judge(QuotaUse(operations: 1, bytes: bytes), caller.identity, over: peer, at: loop.now)
    }
  }

  /// Spends what an operation uses of what its caller may use; the refusal where it may not.
  func charge(_ prepared: PreparedOperation, bytes: Int, _ caller: Caller, over peer: Peer) -> Refusal? {
    meter(caller, peer) { callers throws(QuotaRefusal) in
      let use = QuotaUse(operations: 1, bytes: bytes, cost: prepared.cost)
      try callers.spend(use, caller.identity, over: peer, at: loop.now)
    }
  }

  /// Spends what an operation used that cannot be run: its document was read all the same.
  func charge(_ refusal: Refusal, bytes: Int, _ caller: Caller, over peer: Peer) {
    guard refusal.hasReadDocument else { return }
    _ = meter(caller, peer) { callers throws(QuotaRefusal) in
      try callers.spend(QuotaUse(operations: 1, bytes: bytes), caller.identity, over: peer, at: loop.now)
    }
  }

  private func meter(
    _ caller: Caller, _ peer: Peer, _ body: (CallerMeters) throws(QuotaRefusal) -> Void
  ) -> Refusal? {
    guard node.callers.countsOperations else { return nil }
    do {
      try body(node.callers)
      return nil
    } catch {
      counters.addLimited(error.limit)
      node.audit.limited(caller.identity, peer, limit: error.limit)
      return .limited(error)
    }
  }

  /// The document of a request: its own, or the one it names by hash. One that comes with its hash is kept.
  private func document(of request: RequestPayload) throws(PersistedOperationError) -> String {
    // Nearly every request has no extensions at all.
    guard !request.extensions.isEmpty, let operation = try PersistedOperation(extensions: request.extensions) else {
      return request.query
    }
    guard node.limits.query.persistedOperations > 0 else { throw .notSupported }
    guard !request.query.isEmpty else {
      guard let known = node.persisted.withLock({ $0.document(operation) }) else { throw .notFound }
      return known
    }
    guard Digest.sha256(Array(request.query.utf8)) == operation.hash else { throw .hashMismatch }
    node.persisted.withLock { $0.keep(request.query, as: operation) }
    return request.query
  }

  /// Parses, validates and plans a document, or returns what is kept from an equal one.
  private func plan(
    _ query: String, operationName: String?, _ caller: Caller
  ) throws(RequestErrors) -> PlannedDocument {
    let document = Array(query.utf8)
    let served = node.served
    if served !== plannedUnder {
      plannedUnder = served
      plans = PlanCache(capacity: node.limits.query.cachedPlans)
      selections = [:]
    }
    if let known = plans.plan(document: document, operation: operationName) {
      counters.add(.planHits)
      return known
    }
    counters.add(.planMisses)
    let planned = shared(
      try PlannedDocument(
        query, operationName: operationName, under: served, suggests: caller.allowsIntrospection,
        countsCost: node.callers.countsCost || node.showsCost, allowedCost: node.allowedCost))
    // A key of the cache holds the whole document.
    guard document.count <= node.limits.query.cachedDocumentBytes else { return planned }
    plans.keep(planned, document: document, operation: operationName)
    return planned
  }

  /// The scope of one request: where the store delivers to and, for a numbered write, its number.
  private func scope(
    for plan: OperationPlan, _ request: RequestPayload, _ caller: Caller
  ) throws(ResolverError) -> RequestScope {
    let continuity: RequestContinuity
    do {
      continuity = try RequestContinuity(extensions: request.extensions)
    } catch {
      throw ResolverError(error.description, extensions: ["code": "BAD_USER_INPUT"])
    }
    guard plan.kind == .mutation, let write = continuity.write else {
      return scope(for: caller.identity, allowsIntrospection: caller.allowsIntrospection, trace: trace(of: request))
    }
    let fields = plan.variant(for: [:]).selection.fields
    guard fields.count == 1 else {
      throw ResolverError("A numbered write has exactly one mutation field.", extensions: ["code": "BAD_USER_INPUT"])
    }
    return RequestScope(
      destination: feed.destination, identity: caller.identity, rights: .of(caller.identity, under: node.served),
      writeNumber: WriteNumber(client: write.client, number: write.number, identity: caller.identity.writer),
      acknowledged: continuity.acknowledged, isResend: continuity.isResend, replaced: continuity.replaced,
      allowsIntrospection: caller.allowsIntrospection, server: node.handle, trace: trace(of: request))
  }

  /// The scope of what is read for a caller.
  func scope(
    for identity: Identity, allowsIntrospection: Bool? = nil, trace: OperationTrace? = nil
  ) -> RequestScope {
    RequestScope(
      destination: feed.destination, identity: identity, rights: .of(identity, under: node.served),
      allowsIntrospection: allowsIntrospection, server: node.handle, trace: trace)
  }

  /// Where a request stands in a trace, by what its client says; nil when it is not recorded.
  private func trace(of request: RequestPayload) -> OperationTrace? {
    node.tracer.flatMap { OperationTrace($0, request.extensions[TraceContext.name]?.string) }
  }

  /// What a subscription selects of a record; nil where the record alone does not answer it.
  func selection(of prepared: PreparedOperation, _ variables: JSONObject) -> RecordSelection? {
    switch prepared.selection {
    case .same(let selection): selection
    case .byVariables: shared(RecordSelection(prepared.plan, variables: variables))
    }
  }

  /// The same with the selection that is kept for an equal one.
  private func shared(_ planned: PlannedDocument) -> PlannedDocument {
    guard case .same(let selection?) = planned.selection else { return planned }
    var planned = planned
    planned.selection = .same(shared(selection))
    return planned
  }

  /// The selection kept for an equal one. They are few: clients differ in what they filter, hardly in what they select.
  private func shared(_ selection: RecordSelection?) -> RecordSelection? {
    guard let selection else { return nil }
    let signature = selection.signature
    if let known = selections[signature] { return known }
    if selections.count >= node.limits.query.cachedPlans { selections.removeAll() }
    selections[signature] = selection
    return selection
  }
}
