internal import MartletChangeFeed
internal import MartletChannels
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// The subscriptions of webhooks and devices, on one loop of the server. Confined to that loop.
final class ChannelService {
  let settings: ChannelSettings
  let tools: ChannelTools
  private let service: GraphQLService
  let rights: ChannelRights
  let devices: DeviceRegistry
  private let recorder: ChannelRecorder
  private let webhooks: WebhookSender
  private let push: PushSender
  private let policy: TreePolicy?
  let treeLimits: TreeLimits
  private var channels: [String: Channel] = [:]
  /// The owners of subscriptions whose definitions are being written, by id.
  private var beginning: [String: JSONValue] = [:]
  /// By webhook or push service.
  private var slots: [String: ChannelSlots] = [:]
  private var expiries: [String: LoopTimer] = [:]
  private var idleTimer: LoopTimer?
  /// Set for the time at which the next owner's credentials end.
  private var ownerTimer: LoopTimer?
  /// The last offset of a batch with changes.
  private var visible: Int64 = 0
  private var isOpen = false
  /// Requests that came before the subscriptions had been read.
  private var waiting: [(Bool) -> Void] = []
  /// Milliseconds; owners whose credentials end later are looked at before that too.
  private static let farthestCheck: Int64 = 86_400_000
  private var isStopped = false

  init(_ settings: ChannelSettings, _ service: GraphQLService, _ http: any HTTPExchanging) {
    let node = service.node
    self.settings = settings
    self.service = service
    tools = ChannelTools(
      loop: service.loop, feed: service.feed, calendar: node.calendar, limits: node.limits.channels, log: node.log)
    recorder = ChannelRecorder(feed: service.feed)
    rights = ChannelRights(
      settings: settings, access: node.access, absence: node.limits.channels.ownerAbsence)
    webhooks = WebhookSender(settings, tools, http)
    devices = DeviceRegistry(recorder)
    push = PushSender(settings.push, devices, tools, http)
    policy = node.tree
    treeLimits = TreeLimits(node.limits.tree)
  }

  /// Continues the subscriptions that are kept, and begins those that are configured.
  func start() {
    recorder.load { [weak self] result in
      guard let self, !self.isStopped else { return }
      switch result {
      case .success(let kept): self.open(kept)
      case .failure(let error):
        self.tools.log.write(.warning, "The channels could not be read.", [(.reason, error.description)])
        self.tools.loop.schedule(at: self.tools.loop.now + .seconds(1)) { [weak self] in self?.start() }
      }
    }
    watchPositions()
  }

  func stop() {
    isStopped = true
    isOpen = false
    idleTimer?.cancel()
    ownerTimer?.cancel()
    for timer in expiries.values { timer.cancel() }
    for channel in channels.values { channel.stop() }
    channels = [:]
    openWaiting(false)
  }

  /// Runs `work` when the subscriptions have been read, at once where they have; with false when they will not be.
  func whenOpen(_ work: @escaping (Bool) -> Void) {
    if isOpen || isStopped || waiting.count >= tools.limits.waitingRequests { return work(isOpen) }
    waiting.append(work)
  }

  private func openWaiting(_ isOpen: Bool) {
    let due = waiting
    waiting = []
    for work in due { work(isOpen) }
  }

  private func open(_ kept: ChannelRecorder.Kept) {
    isOpen = true
    for name in devices.open(kept.devices) {
      tools.log.write(.error, "The registration of a device cannot be read.", [(.subscription, name)])
    }
    var definitions: [(definition: ChannelDefinition, isConfigured: Bool)] =
      settings.subscriptions.map { ($0, true) }
    for (name, body) in kept.definitions where !settings.subscriptions.contains(where: { $0.id == name }) {
      do throws(ChannelError) {
        guard let json = try? JSONValue(parsing: body) else { throw ChannelError(.record, "it is not JSON") }
        definitions.append((try ChannelDefinition(json, freshID: name, at: 0, limits: treeLimits), false))
      } catch {
        tools.log.write(
          .error, "The definition of a subscription cannot be read.",
          [(.subscription, name), (.reason, error.description)])
      }
    }
    for (definition, isConfigured) in definitions {
      var record: ChannelRecord?
      if let bytes = kept.records[definition.id] {
        do { record = try ChannelRecord(bytes) } catch {
          tools.log.write(
            .error, "The position of a subscription cannot be read; it restarts.",
            [(.subscription, definition.id), (.reason, "\(error)")])
        }
      }
      begin(definition, isConfigured: isConfigured, record)
    }
    removeThoseWithoutDevice()
    recheckOwners()
    openWaiting(true)
  }

  @discardableResult
  private func begin(_ definition: ChannelDefinition, isConfigured: Bool, _ record: ChannelRecord?) -> Channel {
    let sender: any ChannelSender =
      switch definition.target {
      case .webhook: webhooks
      case .device: push
      }
    let channel = Channel(
      definition, isConfigured: isConfigured, record, tools, recorder, sender, places(of: definition.target))
    channel.onTargetLost = { [weak self, weak channel] outcome in
      if let channel { self?.targetIsLost(outcome, channel) }
    }
    channels[definition.id] = channel
    if let expires = definition.expires {
      expiries[definition.id]?.cancel()
      expiries[definition.id] = tools.schedule(at: expires) { [weak self] in self?.expire(definition.id) }
    }
    let cursor = record.map { Cursor(term: $0.term, offset: $0.offset) }
    if let cursor, let reason = rights.standing(of: definition, at: tools.calendar.sinceEpoch()).withdrawal {
      channel.suspend(.withdrawn(reason), at: cursor)
    } else if let source = source(of: channel) {
      channel.start(source, after: cursor)
    }
    return channel
  }

  /// The places that a target shares with others.
  private func places(of target: ChannelTarget) -> ChannelSlots {
    let (key, limit) =
      switch target {
      case .webhook(let name): ("webhook \(name)", tools.limits.concurrentDeliveries)
      case .device(let id): (devices.device(id)?.platform.rawValue ?? "device", tools.limits.concurrentPushes)
      }
    let places = slots[key] ?? ChannelSlots(limit: limit)
    slots[key] = places
    return places
  }

  /// What the channel follows; nil after the channel has failed.
  private func source(of channel: Channel) -> (any ChannelSourcing)? {
    let caller = ChannelOwner(channel.definition.owner)
    switch channel.definition.source {
    case .node(let path, let events, let carriesData):
      guard let policy else {
        channel.fail("the server serves no tree")
        return nil
      }
      let access = NodeAccess(policy: policy, caller: caller.tree, milliseconds: tools.now)
      return NodeSource(channel, path, events, carriesData: carriesData, access)
    case .operation(let query, let name, let variables):
      let request = RequestPayload(query: query, operationName: name, variables: variables)
      return OperationSource(channel, request, caller.caller, service)
    }
  }

  // MARK: The log

  /// Shows the channels a batch that the feed has matched.
  func apply(_ batch: ChangeBatch) {
    if !batch.changes.isEmpty { visible = batch.lastOffset }
    for channel in channels.values { channel.apply(batch) }
  }

  /// Records positions that moved without deliveries, from time to time, so that they stay within retention.
  private func watchPositions() {
    idleTimer = tools.loop.schedule(at: tools.loop.now + tools.limits.idleRecordInterval) { [weak self] in
      guard let self, !self.isStopped else { return }
      for channel in self.channels.values { channel.recordIdlePosition(visible: self.visible) }
      self.watchPositions()
    }
  }

  /// Other credentials may be in force: suspends subscriptions whose owners' were withdrawn, and continues those whose
  /// owners' are accepted again.
  func recheckOwners() {
    let now = tools.calendar.sinceEpoch()
    var next: Duration?
    for channel in all {
      let standing = rights.standing(of: channel.definition, at: now)
      if let end = standing.end { next = min(end, next ?? end) }
      if let reason = standing.withdrawal {
        channel.suspend(.withdrawn(reason))
      } else if case .withdrawn = channel.suspension {
        resume(channel)
      }
    }
    ownerTimer?.cancel()
    ownerTimer = next.map { end in
      let due = min(end.wholeNanoseconds / 1_000_000, tools.now + Self.farthestCheck)
      return tools.schedule(at: due) { [weak self] in self?.recheckOwners() }
    }
  }

  /// A caller has shown its credentials: what belongs to it stands by these, where they are newer.
  func seen(_ caller: Caller) {
    guard ChannelOwner.proofEnd(of: caller.identity) != nil else { return }
    var isChanged = false
    for channel in all {
      var isAwaited = false
      if case .withdrawn = channel.suspension { isAwaited = true }
      let (owner, maker) = (channel.definition.owner, channel.definition.maker)
      let newOwner = rights.renewal(of: owner, by: caller, isAwaited: isAwaited)
      let newMaker = rights.renewal(of: maker, by: caller, isAwaited: isAwaited)
      guard newOwner != nil || newMaker != nil else { continue }
      isChanged = true
      channel.renew(owner: newOwner ?? owner, maker: newMaker ?? maker)
      recorder.keep(channel.definition.json.serialized(), of: channel.definition.id) { _ in }
      // Under the newer claims the rules may allow it something else.
      if newOwner != nil, channel.suspension == nil, let source = source(of: channel) { channel.restart(source) }
    }
    if isChanged { recheckOwners() }
  }

  private func resume(_ channel: Channel) {
    if let source = source(of: channel) { channel.resume(source) }
  }

  /// Another schema is in force: subscriptions of operations are planned again.
  func recheckSchema() {
    for channel in channels.values {
      guard case .operation = channel.definition.source, channel.suspension == nil,
        let source = source(of: channel)
      else { continue }
      channel.restart(source)
    }
  }

  /// Other rules of the tree are in force: subscriptions whose owners may no longer read their nodes end.
  func recheckRules() {
    guard let policy else { return }
    for channel in channels.values {
      guard case .node(let path, _, _) = channel.definition.source, !channel.definition.owner.isNull,
        channel.suspension == nil
      else { continue }
      let access = NodeAccess(
        policy: policy, caller: ChannelOwner(channel.definition.owner).tree, milliseconds: tools.now)
      let bound = LoopBound(channel, on: tools.loop)
      access.read(path, leaves: tools.limits.nodeLeaves, from: tools.feed) { result in
        if case .failure(.ended(let reason)) = result { bound.value.fail(reason) }
      }
    }
  }

  // MARK: Subscriptions

  /// By id.
  var all: [Channel] {
    channels.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value)
  }

  func channel(_ id: String) -> Channel? { channels[id] }

  /// Whether a subscription has the id, or is being made with it.
  func isTaken(_ id: String) -> Bool { channels[id] != nil || beginning[id] != nil }

  /// The owners of all subscriptions, of those that are being made too.
  var owners: [JSONValue] { channels.values.map(\.definition.owner) + beginning.values }

  /// Keeps a subscription's definition and begins it. `completion` is called when it is durable and every later change
  /// will be delivered, or with the reason why it will not.
  func make(
    _ definition: ChannelDefinition, _ completion: @escaping (Result<ChannelStatus, ChannelRefused>) -> Void
  ) {
    beginning[definition.id] = definition.owner
    recorder.keep(definition.json.serialized(), of: definition.id) { [weak self] result in
      guard let self, !self.isStopped else { return completion(.failure(.unavailable)) }
      self.beginning[definition.id] = nil
      if case .failure(let error) = result { return completion(.failure(.unavailable(error))) }
      let channel = self.begin(definition, isConfigured: false, nil)
      // The end of its owner's credentials may be the next one.
      self.recheckOwners()
      func ready(_ reason: String?) {
        guard let reason else { return completion(.success(channel.status)) }
        self.remove(definition.id) { _ in }
        // What GraphQL says ends with a period of its own.
        let message = "The subscription is refused: \(reason)" + (reason.hasSuffix(".") ? "" : ".")
        completion(.failure(ChannelRefused(status: 403, code: "REFUSED", message: message)))
      }
      if let reason = channel.failure ?? channel.suspension?.reason { ready(reason) } else { channel.onReady = ready }
    }
  }

  /// Delivers what waits for an operator or a pause again.
  ///
  /// - Returns: how many dead letters that concerns.
  func retry(_ channel: Channel, _ event: String?) -> Int {
    let count = channel.retry(event)
    if case .unreachable = channel.suspension { resume(channel) }
    return count
  }

  /// Ends a subscription.
  func remove(_ id: String, _ completion: @escaping (Result<Void, StoreError>) -> Void) {
    expiries.removeValue(forKey: id)?.cancel()
    guard let channel = channels.removeValue(forKey: id) else { return completion(.success(())) }
    channel.stop()
    recorder.keep(nil, of: id, completion)
  }

  private func expire(_ id: String) {
    tools.log.write(.info, "A subscription of a channel has expired.", [(.subscription, id)])
    remove(id) { _ in }
  }

  // MARK: Devices

  /// Subscriptions of a device that could not be delivered continue: it has another token.
  func deviceHasChanged(_ id: String) {
    for channel in all where channel.definition.target == .device(id) {
      if case .unreachable = channel.suspension { resume(channel) }
    }
  }

  /// Forgets a device and ends its subscriptions.
  func remove(device id: String, _ completion: @escaping (Result<Void, StoreError>) -> Void) {
    for channel in all where channel.definition.target == .device(id) { remove(channel.definition.id) { _ in } }
    devices.remove(id, completion)
  }

  /// The process may have ended between the removal of a device and that of its subscriptions.
  private func removeThoseWithoutDevice() {
    for channel in all {
      guard case .device(let id) = channel.definition.target, devices.device(id) == nil else { continue }
      remove(channel.definition.id) { _ in }
    }
  }

  private func targetIsLost(_ outcome: AttemptOutcome, _ channel: Channel) {
    switch outcome {
    case .settled: break
    case .unreachable(let reason): channel.suspend(.unreachable(reason))
    case .gone(let reason):
      let id = channel.definition.target.name
      tools.log.write(.info, "A device is gone and was removed.", [(.subscription, id), (.reason, reason)])
      remove(device: id) { _ in }
    }
  }
}
