internal import MartletChannels
internal import MartletJSON
internal import MartletStore
internal import MartletVocabulary

/// What callers do with subscriptions, under their rights. Confined to its loop.
struct ChannelRequests {
  let service: ChannelService

  /// The subscriptions that a caller may see, by id.
  func statuses(for caller: Caller) -> [ChannelStatus] {
    service.all.filter { service.rights.mayManage($0.definition.owner, caller) }.map(\.status)
  }

  /// One of them.
  func channel(_ id: String, for caller: Caller) throws(ChannelRefused) -> Channel {
    guard let channel = service.channel(id), service.rights.mayManage(channel.definition.owner, caller) else {
      throw .missing("There is no subscription \"\(id)\".")
    }
    return channel
  }

  /// Makes a subscription, and calls `completion` when it is durable and every later change will be delivered.
  func subscribe(
    _ json: JSONValue, as caller: Caller, _ completion: @escaping (Result<ChannelStatus, ChannelRefused>) -> Void
  ) {
    do throws(ChannelRefused) { service.make(try checked(json, caller), completion) } catch {
      completion(.failure(error))
    }
  }

  private func checked(_ json: JSONValue, _ caller: Caller) throws(ChannelRefused) -> ChannelDefinition {
    let tools = service.tools
    var definition: ChannelDefinition
    do throws(ChannelError) {
      if let member = ChannelDefinition.keptMembers.first(where: { json[$0] != nil }) {
        throw ChannelError(.definition, "\"\(member)\" is not given by requests")
      }
      definition = try ChannelDefinition(
        json, freshID: tools.calendar.identifier(), at: tools.now, limits: service.treeLimits)
    } catch {
      throw .bad("The subscription cannot be used: \(error.description).")
    }
    let duration = try checked(definition.target, caller)
    definition.owner = service.rights.owner(caller)
    definition.maker = service.rights.maker(caller)
    guard !service.isTaken(definition.id) else {
      throw .conflict("There is a subscription \"\(definition.id)\" already.")
    }
    let owners = service.owners
    guard owners.count < tools.limits.subscriptions else { throw .tooMany("subscriptions", "channels.subscriptions") }
    if !service.rights.isAdministrator(caller) {
      guard owners.count(where: { ChannelOwner($0).isSame(as: caller) }) < tools.limits.subscriptionsPerCaller else {
        throw .tooMany("subscriptions of this caller", "channels.subscriptionsPerCaller")
      }
    }
    if definition.expires == nil, let duration {
      definition.expires = tools.now + duration.wholeNanoseconds / 1_000_000
    }
    return definition
  }

  /// Whether a caller may subscribe a target; how long subscriptions of it last that do not say.
  private func checked(_ target: ChannelTarget, _ caller: Caller) throws(ChannelRefused) -> Duration? {
    let (settings, rights) = (service.settings, service.rights)
    let missing = ChannelRefused.bad("There is no \(target.kind) \"\(target.name)\".")
    let duration: Duration?
    let isOpen: Bool
    switch target {
    case .webhook(let name):
      guard let receiver = settings.receivers[name] else { throw missing }
      (duration, isOpen) = (receiver.duration, receiver.isOpenToCallers)
    case .device(let id):
      guard let device = service.devices.device(id), rights.mayManage(device.owner, caller) else { throw missing }
      (duration, isOpen) = (nil, settings.areDevicesOpenToCallers)
    }
    guard rights.isAdministrator(caller) || isOpen && rights.mayOwn(caller) else {
      throw .forbidden("This caller may not subscribe the \(target.kind).")
    }
    return duration
  }

  /// Ends a subscription.
  func remove(_ id: String, as caller: Caller, _ completion: @escaping (Result<Void, ChannelRefused>) -> Void) {
    do throws(ChannelRefused) {
      guard try !channel(id, for: caller).isConfigured else {
        throw .conflict("The subscription \"\(id)\" is configured; remove it there.")
      }
    } catch {
      return completion(.failure(error))
    }
    service.remove(id) { completion($0.mapError { .unavailable($0) }) }
  }
}
