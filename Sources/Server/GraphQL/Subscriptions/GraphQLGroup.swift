internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletSockets
internal import MartletTokens
internal import MartletVocabulary

/// The group of equal GraphQL subscriptions: how a change becomes their result. Confined to its loop.
///
/// Where the record alone answers the selection, the selection is kept (and shared with equal ones) and the plan let
/// go.
final class GraphQLGroup: FeedGroup {
  private unowned let service: GraphQLService
  let variables: JSONObject
  let interests: [Interest]
  /// Writes the payload straight from the record, where the record alone answers the selection.
  private let selection: RecordSelection?
  /// The canonical document and the operation's name: what the plan is made from again when it is needed after all.
  let document: [UInt8]
  let operationName: String?
  /// The caller for whom the group's resolvers run. Members share a group only where no resolver can distinguish them.
  let identity: Identity
  /// What some groups have besides; nil for most.
  private let particulars: GroupParticulars?
  /// What the rules come to for the members; nil where nothing restricts them.
  private var restriction: GroupRestriction?
  /// Kept where every event needs it.
  private let plan: OperationPlan?

  init(
    _ service: GraphQLService, _ prepared: PreparedOperation, operationName: String?, variables: JSONObject,
    interests: [Interest], selection: RecordSelection?, mask: RuleOutcome? = nil,
    topicFilter: JSONObject = JSONObject(), changes: ChangeSelection? = nil, control: EventControl? = nil,
    tree: TreeSubscription? = nil
  ) {
    particulars = GroupParticulars(topicFilter: topicFilter, changes: changes, control: control, tree: tree)
    self.service = service
    self.variables = variables
    self.interests = interests
    self.selection = selection
    self.operationName = operationName
    identity = prepared.scope.identity
    document = prepared.canonical
    plan = selection == nil ? prepared.plan : nil
    let rules = rulesDigest(prepared.scope.rights)
    if rules.isEmpty { return }
    restriction = GroupRestriction(
      rules, interests, mask: mask.flatMap { $0.hidesParts(for: .listen) ? $0 : nil })
  }

  /// What the rules come to for the members, as a digest; empty where nothing restricts them.
  var rules: [UInt8] { restriction?.rules ?? [] }

  /// Says what the members see of the log: another view has seen other events. Nil where nothing restricts it.
  var view: String? { restriction?.view }

  /// What the program has added to the subscription.
  var control: EventControl? { particulars?.control }

  /// The part of the tree that the subscription is about.
  var tree: TreeSubscription? { particulars?.tree }

  /// The schema that the group was judged under last, and whether its document is valid there.
  private var judged: (schema: ServedSchema, isValid: Bool)?

  /// Whether the group's document is a subscription under a schema.
  func isValid(under served: ServedSchema) -> Bool {
    if let judged, judged.schema === served { return judged.isValid }
    let plan = try? served.schema.makePlan(document, operationName: operationName)
    let isValid = plan?.kind == .subscription
    judged = (served, isValid)
    return isValid
  }

  /// Whether payloads are written from the record, without resolvers.
  var needsRecordAlone: Bool { selection != nil }

  /// What rights come to for the group, as a digest; empty where nothing is restricted.
  func rulesDigest(_ rights: Rights?) -> [UInt8] { rights.map { Digest.sha256(readingBytes($0)) } ?? [] }

  /// What decides which values of an event the caller sees: the rules of the record's own model where the record alone
  /// answers the selection, else those of all models, because the payload is made by reads.
  private func readingBytes(_ rights: Rights) -> [UInt8] {
    guard needsRecordAlone, case .model(let model, _)? = interests.first?.channel else {
      return rights.readingBytes(of: service.node.models.models.indices)
    }
    return rights.readingBytes(of: [model])
  }

  /// A record's update is for a subscription whose filter the record matches after it. A topic's event is when every
  /// argument equals the payload's member of its name.
  func accepts(_ change: Change, _ effect: Effect) -> Bool {
    if let record = change.record {
      return (particulars?.changes != nil || effect != .left || record.kind == .delete) && passes(record)
    }
    if let change = change.tree { return tree?.event(of: change) != nil }
    guard let event = change.event else { return false }
    guard let particulars else { return true }
    return particulars.topicFilter.allSatisfy { event.payload[$0.key] == $0.value }
      && particulars.control?.filter?.holds(for: event.payload.object ?? JSONObject()) ?? true
  }

  /// Whether the program's filter lets a record's change pass.
  private func passes(_ record: RecordChange) -> Bool {
    guard let filter = control?.filter else { return true }
    return filter.holds(for: RecordPage.object(record.image, service.node.models.models[record.model]))
  }

  /// A record that the interests select, as the members see it.
  private func masked(_ record: Record) -> Record { restriction?.mask?.masked(record, for: .listen) ?? record }

  func encode(_ change: Change, into writer: inout JSONWriter) -> Bool {
    guard let selection, let record = change.record else { return false }
    return selection.write(masked(record.image).values, stamps: stamps(record, of: change), to: &writer)
  }

  /// The stamps of a changed record.
  private func stamps(_ record: RecordChange, of change: Change) -> [JSONValue] {
    service.node.models.models[record.model].stamps(record.version, change.time, isDeleted: record.kind == .delete)
  }

  func evaluate(_ change: Change, _ completion: @escaping ([UInt8]) -> Void) {
    let node = service.node
    let changes = particulars?.changes
    let root: ResolvedValue =
      switch change.body {
      case .record where changes != nil: changes?.value(of: change).map { .value($0) } ?? .null
      case .record(let record):
        .record(
          node.models.models[record.model].value(masked(record.image), of: record.image, stamps(record, of: change)))
      case .event(let event): .value(event.payload)
      case .tree(let change): tree?.event(of: change).map { .value($0) } ?? .null
      }
    let plan: OperationPlan
    do {
      if let kept = self.plan {
        plan = kept
      } else {
        plan = try node.schema.makePlan(document, operationName: operationName)
      }
    } catch {
      return completion(ResponseTree.requestError(error.errors).bytes)
    }
    service.runner.run(plan, coerced: variables, root: root, scope: service.scope(for: identity)) {
      completion($0.bytes)
    }
  }

  func event(_ payload: [UInt8], at cursor: Cursor, endsTransaction: Bool) -> FeedEvent {
    GraphQLEvent(payload, at: cursor, endsTransaction: endsTransaction)
  }
}
