internal import MartletAccess
internal import MartletChannels
internal import MartletJSON

/// Who manages subscriptions and devices, and whether a subscription's owner may have it still. Confined to its loop.
struct ChannelRights {
  let settings: ChannelSettings
  let access: AccessControl

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
      return access.standing(of: ChannelOwner(definition.owner).identity, needsAllRights: true, at: now)
    }
    // What the configuration has, and what was made in development, has no maker.
    guard !definition.maker.isNull, !access.isDevelopment else { return OwnerStanding() }
    let maker = ChannelOwner(definition.maker).identity
    guard settings.isAdministrator(maker) else {
      return OwnerStanding(withdrawal: "its maker is no longer an administrator")
    }
    return access.standing(of: maker, needsAllRights: false, at: now)
  }
}
