public import MartletJSON
internal import MartletJSONTree
internal import MartletTreeClient

extension DatasyncNode {
  /// Replaces the node. Listeners see it at once.
  ///
  /// ```swift
  /// try await node.set(Contact(name: "Ada")).acknowledged()
  /// ```
  ///
  /// - Parameter moment: when the write is made; a deferred one is acknowledged when the server has registered it.
  /// - Throws: `invalid` for a value that the tree does not accept, naming the path; nothing was written.
  @discardableResult
  public func set(_ value: some Encodable, at moment: DatasyncMoment = .now) throws(DatasyncError) -> DatasyncWrite {
    try write(.put(try Self.json(value, treePath)), moment)
  }

  /// Replaces the named nodes below this one, as one write, and keeps the others. Names may be paths.
  /// - Throws: `invalid`, also for a value that encodes to something else than an object.
  @discardableResult
  public func merge(_ value: some Encodable, at moment: DatasyncMoment = .now) throws(DatasyncError) -> DatasyncWrite {
    guard let object = try Self.json(value, treePath).object else {
      throw DatasyncError(.invalid, "\(path): a merge needs named values")
    }
    return try write(.merge(object), moment)
  }

  /// Removes the node.
  @discardableResult
  public func clear(at moment: DatasyncMoment = .now) throws(DatasyncError) -> DatasyncWrite {
    try write(.put(.null), moment)
  }

  /// Adds a child with a new key that sorts after those made before.
  /// - Returns: the child, and the write.
  @discardableResult
  public func push(_ value: some Encodable) throws(DatasyncError) -> (node: DatasyncNode, write: DatasyncWrite) {
    let child = createChild()
    return (child, try child.set(value))
  }

  /// Adds to the number here, as one step on the server; the step alone where there is no number.
  /// - Returns: the number after it, as the server says it.
  /// - Throws: as `acknowledged()` of a write.
  @discardableResult
  public func increment(_ step: Double = 1, startValue: Double = 0) async throws -> Double {
    if startValue != 0 {
      let value = try await transaction { .double(($0.asDouble ?? startValue) + step) }
      return value.asDouble ?? startValue
    }
    let done = try await set(DatasyncServerValue.increment(step)).acknowledged()
    if let number = TreeScalar(done.value)?.number { return number }
    return try await value().value.asDouble ?? step
  }

  /// Computes the next value from the server's and writes it if nothing came in between; again from the start if
  /// something did, at most 25 times.
  ///
  /// - Parameter update: gets the server's value; returns the next one, or nil to write nothing.
  /// - Returns: the value that was written.
  /// - Throws: `aborted` when `update` returned nil, `stale` after too many runs, or why the write was refused.
  public func transaction(_ update: @escaping @Sendable (DatasyncValue) -> JSONValue?) async throws -> DatasyncValue {
    let write = service.transact(treePath, update)
    let json = try await write.acknowledged().value
    return DatasyncValue((try? TreeReader(limits: .init()).read(json, at: treePath)) ?? .empty, isAcknowledged: true)
  }

  /// Drops the deferred writes at this node and below it.
  @discardableResult
  public func cancelNextDisconnectionAction() -> DatasyncWrite { service.cancelDeferred(treePath) }

  /// Shows a value here for as long as this client is connected: it is written now and with each new connection, and
  /// removed by the server when the client has been gone for the grace.
  ///
  /// - Parameter grace: in which a client that comes back keeps the value; needs a server of this package.
  /// - Returns: what ends it; the value is removed then.
  public func present(_ value: some Encodable, grace: Duration = .zero) throws(DatasyncError) -> DatasyncPresence {
    let json = try Self.json(value, treePath)
    _ = try TreeReader.check(json, at: treePath)
    return DatasyncPresence(self, json, grace)
  }

  private func write(_ content: TreeClient.Content, _ moment: DatasyncMoment) throws(DatasyncError) -> DatasyncWrite {
    try service.check(content, treePath)
    switch moment {
    case .now: return try service.write(content, treePath)
    case .nextDisconnection: return service.deferWrite(content, treePath, repeats: false)
    case .everyDisconnection: return service.deferWrite(content, treePath, repeats: true)
    }
  }

  static func json(_ value: some Encodable, _ path: TreePath) throws(DatasyncError) -> JSONValue {
    if let json = value as? JSONValue { return json }
    do { return try JSONEncoding(types: .foundation).encode(value) } catch {
      throw DatasyncError(.invalid, "\(path): the value cannot be encoded: \(error)")
    }
  }
}

extension TreeReader {
  /// Whether the tree accepts a value.
  static func check(_ json: JSONValue, at path: TreePath) throws(DatasyncError) -> TreeNode {
    do throws(TreeError) {
      return try TreeReader(serverValues: ServerValues(milliseconds: 0)).read(json, at: path)
    } catch { throw DatasyncError(error) }
  }
}

extension DatasyncNode {
  /// The value, from the server when it can be reached, else the last known one.
  /// - Throws: `unknownValue` when neither is there; `denied` when the rules refuse.
  public func value(window: DatasyncWindow = .all) async throws -> DatasyncReading {
    let window = try window.checked(at: treePath)
    return try await service.read(treePath, window)
  }

  /// The value as `type`; nil when the node does not exist.
  /// - Throws: as `value()`, and `DecodingError`.
  public func value<Value: Decodable>(as type: Value.Type, window: DatasyncWindow = .all) async throws -> Value? {
    let reading = try await value(window: window)
    return reading.value.isNull ? nil : try reading.value.decodedThrows(as: type)
  }

  /// The last known value, without asking the server.
  /// - Throws: `unknownValue` when part of it is not known.
  public func cachedValue(window: DatasyncWindow = .all) async throws -> DatasyncReading {
    let window = try window.checked(at: treePath)
    return try await service.known(treePath, window)
  }
}
