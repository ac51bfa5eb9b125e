public import MartletJSON
internal import MartletJSONTree

extension DatasyncNode {
  /// Has the server post each event of this node to one of its webhooks, in order and at least once, whether this
  /// client is connected or not.
  ///
  /// ```swift
  /// try await orders.subscribeThroughWebhook("shop", context: "new", descriptor: .childAddition)
  /// ```
  ///
  /// Suspends until every later change will be delivered. What is delivered has been accepted by the server, so that
  /// acknowledgements that the descriptor asks for bring no events of their own; missing changes are always reported.
  ///
  /// - Parameters:
  ///   - webhook: The webhook's name in the server's configuration.
  ///   - context: Comes back in every event.
  ///   - descriptor: The kinds of events. Rejections of writes are refused: they are the writing client's own.
  ///   - id: Names the subscription; nil for a name that the server chooses.
  ///   - duration: After which it ends, in whole seconds; nil for the webhook's own.
  /// - Throws: `invalid` for a webhook that does not exist and a descriptor without changes; `denied` when the caller
  ///   may not subscribe the webhook or read the node; `refused` for an id that is taken, and beyond the server's
  ///   limits; `unavailable`.
  @discardableResult
  public func subscribeThroughWebhook(
    _ webhook: String, context: JSONValue = .null, descriptor: DatasyncEventType, id: String? = nil,
    duration: Duration? = nil
  ) async throws(DatasyncError) -> DatasyncChannel {
    try await subscribe("webhook", webhook, context, descriptor, id, duration, nil)
  }

  /// Has the server send each event of this node to a device, by the push service that reaches it.
  ///
  /// - Parameters:
  ///   - device: The id of a device that `registerDevice` of the service has registered.
  ///   - notification: What is shown, and how the service treats the messages.
  ///   - id: Names the subscription; nil for a name that the server chooses.
  ///   - duration: After which it ends, in whole seconds; nil for no end.
  /// - Throws: As `subscribeThroughWebhook`.
  @discardableResult
  public func subscribeThroughPushNotification(
    _ device: String, context: JSONValue = .null, descriptor: DatasyncEventType,
    notification: DatasyncPushNotification = DatasyncPushNotification(), id: String? = nil, duration: Duration? = nil
  ) async throws(DatasyncError) -> DatasyncChannel {
    try await subscribe("device", device, context, descriptor, id, duration, notification)
  }

  /// Ends the caller's subscriptions of a webhook on this node.
  ///
  /// - Returns: how many there were.
  /// - Throws: As `channels` of the service.
  @discardableResult
  public func cancelThroughWebhook(_ webhook: String) async throws(DatasyncError) -> Int {
    try await cancel(.webhook(webhook))
  }

  /// Ends the caller's subscriptions of a device on this node.
  ///
  /// - Returns: how many there were.
  /// - Throws: As `channels` of the service.
  @discardableResult
  public func cancelThroughPushNotification(_ device: String) async throws(DatasyncError) -> Int {
    try await cancel(.device(device))
  }

  private func subscribe(
    _ kind: String, _ name: String, _ context: JSONValue, _ descriptor: DatasyncEventType, _ id: String?,
    _ duration: Duration?, _ notification: DatasyncPushNotification?
  ) async throws(DatasyncError) -> DatasyncChannel {
    var body: JSONObject = [kind: .string(name), "node": .string(path), "events": try descriptor.channelEvents(path)]
    if !descriptor.hasData { body["withoutData"] = true }
    if !context.isNull { body["context"] = context }
    if let id { body["id"] = .string(id) }
    if let duration { body["duration"] = .int(duration.components.seconds) }
    if let notification, !notification.json.isEmpty { body["push"] = .object(notification.json) }
    return try DatasyncChannel(try await service.request("POST", "", body))
  }

  private func cancel(_ target: DatasyncChannel.Target) async throws(DatasyncError) -> Int {
    var count = 0
    for channel in try await service.channels() where channel.target == target {
      guard let node = channel.path, node.utf8.elementsEqual(path.utf8) else { continue }
      try await service.cancel(channel)
      count += 1
    }
    return count
  }
}

extension DatasyncEventType {
  /// The names of the kinds that a server delivers to webhooks and devices.
  fileprivate func channelEvents(_ path: String) throws(DatasyncError) -> JSONValue {
    var names: [String] = []
    switch self {
    case .value(let change, _, _, let rejection, _):
      if rejection { throw Self.rejections(path) }
      if change { names.append("valueChange") }
    case .child(let addition, let change, let removal, _, let rejection, _):
      if rejection { throw Self.rejections(path) }
      if addition { names.append("childAddition") }
      if change { names.append("childChange") }
      if removal { names.append("childRemoval") }
    }
    guard !names.isEmpty else {
      throw DatasyncError(.invalid, "\(path): a webhook or device needs changes or kinds of children")
    }
    return .array(names.map { .string($0) })
  }

  private static func rejections(_ path: String) -> DatasyncError {
    DatasyncError(.invalid, "\(path): rejections are the writing client's own, and go to no webhook or device")
  }
}
