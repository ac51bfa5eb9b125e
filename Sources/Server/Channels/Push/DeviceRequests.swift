internal import MartletChannels
internal import MartletJSON
internal import MartletStore

/// `/channels/devices`: the registration of devices, and their tokens. Confined to its loop.
struct DeviceRequests {
  enum Action: Sendable {
    case list
    case register(JSONValue)
    case show(String)
    case change(String, token: JSONValue)
    case remove(String)

    init?(_ method: String, _ segments: [String], _ json: JSONValue) {
      switch (method, segments.count) {
      case ("GET", 1): self = .list
      case ("POST", 1): self = .register(json)
      case ("GET", 2): self = .show(segments[1])
      case ("PUT", 2): self = .change(segments[1], token: json)
      case ("DELETE", 2): self = .remove(segments[1])
      default: return nil
      }
    }
  }

  typealias Answer = Result<(status: Int, json: JSONValue), ChannelRefused>

  let service: ChannelService

  func perform(_ action: Action, as caller: Caller, _ completion: @escaping @Sendable (Answer) -> Void) {
    do throws(ChannelRefused) {
      switch action {
      case .list:
        let devices = service.devices.all.filter { service.rights.mayManage($0.owner, caller) }.map(Self.shown)
        completion(.success((200, ["devices": .array(devices)])))
      case .show(let id): completion(.success((200, Self.shown(try device(id, caller)))))
      case .register(let json):
        let device = try registered(json, caller)
        keep(device, service.devices.device(device.id)?.owner == device.owner ? 200 : 201, completion)
      case .change(let id, let json): keep(try changed(id, json, caller), 200, completion)
      case .remove(let id):
        let known = try device(id, caller).id
        service.remove(device: known) { completion(Self.answer($0, (200, ["id": .string(known)]))) }
      }
    } catch {
      completion(.failure(error))
    }
  }

  /// Without its token, by which others with the service's credentials could reach it.
  private static func shown(_ device: Device) -> JSONValue {
    ["id": .string(device.id), "platform": .string(device.platform.rawValue), "time": .int(device.time)]
  }

  private func keep(_ device: Device, _ status: Int, _ completion: @escaping @Sendable (Answer) -> Void) {
    // An installation whose user signs in as another one must not get the first one's events any longer.
    if let other = service.devices.device(withTokenOf: device), other.id != device.id || other.owner != device.owner {
      service.tools.log.write(.info, "A device's token was registered by another one.", [(.subscription, other.id)])
      service.remove(device: other.id) { _ in }
    }
    let shown = Self.shown(device)
    service.devices.put(device) { [service] result in
      if case .success = result { service.deviceHasChanged(device.id) }
      completion(Self.answer(result, (status, shown)))
    }
  }

  private static func answer(_ result: Result<Void, StoreError>, _ success: (status: Int, json: JSONValue)) -> Answer {
    result.map { _ in success }.mapError { .unavailable($0) }
  }

  private func registered(_ json: JSONValue, _ caller: Caller) throws(ChannelRefused) -> Device {
    let (rights, limits) = (service.rights, service.tools.limits)
    var device: Device
    do throws(ChannelError) {
      device = try Device(
        json, freshID: service.tools.calendar.identifier(), owner: rights.owner(caller), at: service.tools.now)
    } catch {
      throw Self.bad(error.description)
    }
    guard service.settings.push.has(device.platform) else {
      throw Self.bad("the server sends nothing by \(device.platform.rawValue)")
    }
    let isAdministrator = rights.isAdministrator(caller)
    guard isAdministrator || service.settings.areDevicesOpenToCallers && rights.mayOwn(caller) else {
      throw .forbidden("This caller may not register devices.")
    }
    if let known = service.devices.device(device.id) {
      let isManaged = rights.mayManage(known.owner, caller)
      // Registering again is how applications report their token; it takes another caller's device only with that
      // device's token, as another id with it does: the same installation has another user.
      guard known.platform == device.platform, isManaged || known.token == device.token else {
        throw .conflict("There is a device \"\(device.id)\" already.")
      }
      if isManaged {
        device.owner = known.owner
        return device
      }
    }
    guard service.devices.count < limits.devices else { throw .tooMany("devices", "channels.devices") }
    if !isAdministrator {
      let own = service.devices.all.count { ChannelOwner($0.owner).isSame(as: caller) }
      guard own < limits.devicesPerCaller else { throw .tooMany("devices of this caller", "channels.devicesPerCaller") }
    }
    return device
  }

  private func changed(_ id: String, _ json: JSONValue, _ caller: Caller) throws(ChannelRefused) -> Device {
    var device = try device(id, caller)
    do throws(ChannelError) {
      device.token = try Device.token(json["token"], device.platform)
      device.time = service.tools.now
    } catch {
      throw Self.bad(error.description)
    }
    return device
  }

  private func device(_ id: String, _ caller: Caller) throws(ChannelRefused) -> Device {
    guard let device = service.devices.device(id), service.rights.mayManage(device.owner, caller) else {
      throw .missing("There is no device \"\(id)\".")
    }
    return device
  }

  private static func bad(_ reason: String) -> ChannelRefused { .bad("The device cannot be used: \(reason).") }
}
