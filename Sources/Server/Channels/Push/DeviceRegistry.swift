internal import MartletChannels
internal import MartletJSON
internal import MartletStore

/// The devices that take push messages, kept in the log. Confined to its loop.
///
/// Changes take effect here at once, in the order in which they are written, and are taken back where the store refuses
/// them.
final class DeviceRegistry {
  private let recorder: ChannelRecorder
  private var devices: [String: Device] = [:]
  /// The device that has a token; the last one that registered it.
  private var ids: [Token: String] = [:]

  private struct Token: Hashable {
    let platform: Device.Platform
    let text: String

    init(_ device: Device) { (platform, text) = (device.platform, device.token) }
  }

  init(_ recorder: ChannelRecorder) {
    self.recorder = recorder
  }

  /// Takes the devices that are kept; returns the names of those that cannot be read.
  func open(_ kept: [(name: String, body: [UInt8])]) -> [String] {
    var unreadable: [String] = []
    for (name, body) in kept {
      if let json = try? JSONValue(parsing: body), let device = try? Device(kept: json) {
        hold(device)
      } else {
        unreadable.append(name)
      }
    }
    return unreadable
  }

  private func hold(_ device: Device) {
    release(device.id)
    devices[device.id] = device
    ids[Token(device)] = device.id
  }

  private func release(_ id: String) {
    guard let known = devices.removeValue(forKey: id) else { return }
    if ids[Token(known)] == id { ids[Token(known)] = nil }
  }

  func device(_ id: String) -> Device? { devices[id] }

  /// The device that has the token of another one.
  func device(withTokenOf device: Device) -> Device? { ids[Token(device)].flatMap { devices[$0] } }

  /// By id.
  var all: [Device] { devices.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map(\.value) }

  var count: Int { devices.count }

  /// Registers a device, or gives a registered one another token.
  func put(_ device: Device, _ completion: @escaping (Result<Void, StoreError>) -> Void) {
    let before = devices[device.id]
    hold(device)
    recorder.keep(device: device.json.serialized(), of: device.id) { [self] result in
      if case .failure = result, devices[device.id] == device {
        if let before { hold(before) } else { release(device.id) }
      }
      completion(result)
    }
  }

  func remove(_ id: String, _ completion: @escaping (Result<Void, StoreError>) -> Void) {
    release(id)
    recorder.keep(device: nil, of: id, completion)
  }
}
