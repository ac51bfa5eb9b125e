internal import MartletAccess
internal import MartletChangeFeed
internal import MartletJSON
internal import MartletJSONTree
internal import MartletModelSDL
internal import MartletModels
internal import MartletStore

/// The records of the models as a read-only part of the first tree: `/models/T/<key>/<field>`.
///
/// It is not stored: reads read the records, and listeners are shown the changes of the same log. The tree's rules and
/// those of the model must both allow it.
struct RecordTree: Sendable {
  /// The node below which records stand.
  static let key: TreeKey = "models"

  private let served: ServedSchema

  /// Nil for a schema without models, whose tree has no such part.
  init?(_ served: ServedSchema) {
    if served.models.models.isEmpty { return nil }
    self.served = served
  }

  /// Whether a path belongs to the records, and not to what is stored.
  static func contains(_ path: TreePath) -> Bool { path.first == key }

  /// The path among the records that a write of the tree would change; nil for another write.
  static func path(in write: TreeWrite) -> TreePath? {
    if contains(write.path) { return write.path }
    return write.path.isRoot && write.node.hasChild(key) ? [key] : nil
  }

  private enum Place {
    case all
    case model(ModelDefinition)
    case record(ModelDefinition, RecordKey, below: TreePath)
    /// No record can stand there.
    case nothing
  }

  private func place(of path: TreePath) -> Place {
    guard path.keys.count > 1 else { return .all }
    guard let model = served.models.models.first(where: { $0.name.hasSameBytes(as: path.keys[1].text) }) else {
      return .nothing
    }
    guard path.keys.count > 2 else { return .model(model) }
    guard let values = RecordKeyText.values(path.keys[2], of: model) else { return .nothing }
    return .record(model, RecordKey(values: values), below: TreePath(path.keys[3...]))
  }

  // MARK: Reading

  /// Reads a node of the records for a caller.
  ///
  /// - Parameters:
  ///   - isListening: Whether the caller is to see changes as they happen.
  ///   - limit: Leaves beyond which the node is refused as `invalid`.
  func read(
    _ path: TreePath, _ window: Window, as caller: TreeCaller, isListening: Bool, in snapshot: ReadSnapshot, limit: Int
  ) throws(StoreError) -> Result<TreeNode, TreeRefusal> {
    let rights = rights(of: caller)
    var left = limit
    let node: TreeNode
    switch place(of: path) {
    case .nothing: node = .empty
    case .all:
      var all = TreeNode.empty
      for model in served.models.models {
        let sight = RecordSight(rights, model, .list, isListening: isListening)
        if !sight.isBlind {
          all = all.setting(TreeKey(unchecked: model.name), to: try list(model, sight, in: snapshot, path, &left))
        }
      }
      node = all
    case .model(let model):
      let sight = RecordSight(rights, model, .list, isListening: isListening)
      if sight.isBlind { return .failure(.forbidden(path, model.name)) }
      node = try list(model, sight, in: snapshot, path, &left)
    case .record(let model, let key, let below):
      let sight = RecordSight(rights, model, .get, isListening: isListening)
      if sight.isBlind { return .failure(.forbidden(path, model.name)) }
      let record = try snapshot.get(model.number, key).flatMap { sight.view(of: $0.record) }
      node = record.map { Self.node($0, model).node(at: below) } ?? .empty
    }
    if window.isUnbounded || node.isLeaf { return .success(node) }
    return .success(OrderedChildren(node, order: window.order).node(in: window))
  }

  /// The refusal of the models' rules where no record of a node can be seen.
  func refusal(_ path: TreePath, _ caller: TreeCaller) -> TreeRefusal? {
    let (model, operation): (ModelDefinition, AccessOperation)
    switch place(of: path) {
    case .all, .nothing: return nil
    case .model(let found): (model, operation) = (found, .list)
    case .record(let found, _, _): (model, operation) = (found, .get)
    }
    let sight = RecordSight(rights(of: caller), model, operation, isListening: true)
    return sight.isBlind ? .forbidden(path, model.name) : nil
  }

  private func list(
    _ model: ModelDefinition, _ sight: RecordSight, in snapshot: ReadSnapshot, _ path: TreePath, _ left: inout Int
  ) throws(StoreError) -> TreeNode {
    var entries: [(key: TreeKey, value: TreeNode)] = []
    var query = ListQuery(model: model.number, filter: sight.predicate, limit: 1_000)
    while true {
      let page = try snapshot.list(query)
      for stored in page.records {
        guard let view = sight.view(of: stored.record) else { continue }
        let node = Self.node(view, model)
        left -= node.rowCount
        guard left >= 0 else {
          throw StoreError(.invalid, "the node \(path) has more leaves than the limit nodeLeaves")
        }
        entries.append((Self.key(of: stored.record, model), node))
      }
      guard let token = page.token else { break }
      query.token = token
    }
    entries.sort { $0.key < $1.key }
    return TreeNode(children: SortedMap(sorted: entries))
  }

  private func rights(of caller: TreeCaller) -> Rights? {
    caller.isAdministrator ? nil : Rights.of(caller.identity, under: served)
  }

  // MARK: Changes

  /// Where the record of a change stands; nil for a model that is not served.
  func path(of change: RecordChange) -> TreePath? {
    guard served.models.models.indices.contains(change.model) else { return nil }
    let model = served.models.models[change.model]
    return [Self.key, TreeKey(unchecked: model.name), Self.key(of: change.image, model)]
  }

  /// The value that a changed record has for a listener; nil when it sees the record neither before nor after the
  /// change.
  func value(of change: RecordChange, at path: TreePath, for caller: TreeCaller) -> TreeNode? {
    let model = served.models.models[change.model]
    let operation = path.keys.count > 2 ? AccessOperation.get : .list
    let sight = RecordSight(rights(of: caller), model, operation, isListening: true)
    let after = change.after.flatMap { sight.view(of: $0) }
    if after == nil, change.before.flatMap({ sight.view(of: $0) }) == nil { return nil }
    return after.map { Self.node($0, model) } ?? .empty
  }

  // MARK: Values

  private static func key(of record: Record, _ model: ModelDefinition) -> TreeKey {
    RecordKeyText.key(model.key(of: record).values)
  }

  private static func node(_ record: Record, _ model: ModelDefinition) -> TreeNode {
    var node = TreeNode.empty
    for (position, field) in model.fields.enumerated() where !field.isImplicit {
      node = node.setting(TreeKey(unchecked: field.name), to: Self.node(record[position]))
    }
    return node
  }

  /// Arrays become children with their positions as keys; null and what is empty does not exist.
  private static func node(_ json: JSONValue) -> TreeNode {
    if let scalar = TreeScalar(json) { return TreeNode(scalar) }
    var node = TreeNode.empty
    if let object = json.object {
      for (name, value) in object { node = node.setting(RecordKeyText.name(name), to: Self.node(value)) }
    } else if let array = json.array {
      for (position, value) in array.enumerated() {
        node = node.setting(TreeKey(unchecked: String(position)), to: Self.node(value))
      }
    }
    return node
  }
}
