internal import MartletAccess
internal import MartletChannels
internal import MartletJSON
internal import MartletVocabulary

/// Who manages subscriptions and devices, and whether a subscription's owner may have it still. Confined to its loop.
struct ChannelRights {
  let settings: ChannelSettings
  let access: AccessControl
  /// How long owners may stay away after the end of the last credentials that they have shown.
  let absence: Duration

  func isAdministrator(_ caller: Caller) -> Bool {
    settings.isAdministrator(caller, isDevelopment: access.isDevelopment)
  }

  /// Whether a caller manages what belongs to an owner.
  func mayManage(_ owner: JSONValue, _ caller: Caller) -> Bool {
    isAdministrator(caller) || ChannelOwner(owner).isSame(as: caller)
  }

  /// Whether a caller may own subscriptions and devices: it has a name, and credentials for all that its rules allow.
  func mayOwn(_ caller: Caller) -> Bool { caller.identity.subject != nil && caller.identity.scope == .everything }

  /// What a new subscription or device is kept with.
  func owner(_ caller: Caller) -> JSONValue {
    isAdministrator(caller) ? .null : ChannelOwner.json(of: caller.identity)
  }

  /// What is kept of an administrator that makes a subscription.
  func maker(_ caller: Caller) -> JSONValue {
    isAdministrator(caller) && !access.isDevelopment ? ChannelOwner.json(of: caller.identity) : .null
  }

  // MARK: Afterwards

  /// Whether a subscription may continue under the credentials and the configuration in force.
  func standing(of definition: ChannelDefinition, at now: Duration) -> OwnerStanding {
    if case .webhook(let name) = definition.target {
      guard let receiver = settings.receivers[name] else {
        return OwnerStanding(withdrawal: "the webhook \"\(name)\" is not configured")
      }
      if !definition.owner.isNull, !receiver.isOpenToCallers {
        return OwnerStanding(withdrawal: "the webhook \"\(name)\" is no longer open to callers")
      }
    } else if !definition.owner.isNull, !settings.areDevicesOpenToCallers {
      return OwnerStanding(withdrawal: "devices are no longer open to callers")
    }
    guard definition.owner.isNull else {
      return standing(of: ChannelOwner(definition.owner), needsAllRights: true, at: now)
    }
    // What the configuration has, and what was made in development, has no maker.
    guard !definition.maker.isNull, !access.isDevelopment else { return OwnerStanding() }
    let maker = ChannelOwner(definition.maker)
    guard settings.isAdministrator(maker.identity) else {
      return OwnerStanding(withdrawal: "its maker is no longer an administrator")
    }
    return standing(of: maker, needsAllRights: false, at: now)
  }

  /// The same for one owner: by the access file, and by the time for which it has shown no credentials. What proves a
  /// caller ends soon, and a subscription is for while its caller is away; so it outlives its token, but not for ever.
  private func standing(of owner: ChannelOwner, needsAllRights: Bool, at now: Duration) -> OwnerStanding {
    var standing = access.standing(of: owner.identity, needsAllRights: needsAllRights, at: now)
    guard standing.withdrawal == nil, let last = owner.end else { return standing }
    let end = last + absence
    guard now < end else { return OwnerStanding(withdrawal: "its owner has shown no credentials for too long") }
    standing.end = min(standing.end ?? end, end)
    return standing
  }

  // MARK: Newer credentials

  /// What of a caller's credentials takes the place of what is kept of an owner; nil where they are not the owner's or
  /// not newer. Each replacement is a write, so that those which change little are left out.
  ///
  /// - Parameter isAwaited: Whether the subscription waits for credentials of its owner.
  func renewal(of owner: JSONValue, by caller: Caller, isAwaited: Bool) -> JSONValue? {
    let known = ChannelOwner(owner)
    guard let before = known.end, let end = ChannelOwner.proofEnd(of: caller.identity), end > before,
      known.isSame(as: caller)
    else { return nil }
    let shown = ChannelOwner.json(of: caller.identity)
    let isDue = isAwaited || end - before >= absence / 30 || shown["groups"] != owner["groups"]
    return isDue ? shown : nil
  }
}
