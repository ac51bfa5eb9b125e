internal import MartletAccess
internal import MartletChannels
internal import MartletJSON
internal import MartletJSONTree
internal import MartletWire

/// A channel configuration that was checked.
package struct ChannelSettings: Sendable {
  struct Receiver: Sendable {
    let address: TargetAddress
    let keys: [[UInt8]]
    let headers: [(name: String, value: String)]
    let duration: Duration?
    let isEnabled: Bool
    let isOpenToCallers: Bool
  }

  let receivers: [String: Receiver]
  let subscriptions: [ChannelDefinition]
  let administrators: Set<String>
  let ranges: OutgoingRanges
  let authorityFile: String?
  let proxy: String?
  let push: PushServices
  let areDevicesOpenToCallers: Bool

  init(_ given: ChannelConfiguration) throws(ServerError) {
    var receivers: [String: Receiver] = [:]
    for webhook in given.webhooks {
      let what = "The webhook \"\(webhook.name)\""
      guard receivers[webhook.name] == nil else { throw ServerError(.channels, "\(what) is declared twice.") }
      do throws(ChannelError) {
        try ChannelDefinition.checkName(webhook.name, "its name")
        receivers[webhook.name] = try Self.receiver(webhook)
      } catch {
        throw ServerError(.channels, "\(what) cannot be used: \(error.description).")
      }
    }
    self.receivers = receivers
    subscriptions = try Self.subscriptions(given.subscriptions, receivers)
    administrators = given.administrators
    push = try PushServices(given)
    areDevicesOpenToCallers = given.areDevicesOpenToCallers
    authorityFile = given.authorityFile
    proxy = given.proxy
    do throws(ChannelError) { _ = try proxy.map { address throws(ChannelError) in try TargetAddress(address) } } catch {
      throw ServerError(.channels, "The channels' proxy cannot be used: \(error.description).")
    }
    do {
      ranges = OutgoingRanges(allowing: try given.allowedAddresses.map { try AddressRange($0) })
    } catch {
      throw ServerError(.channels, "In the channels' allowed addresses, \(error).")
    }
  }

  private static func receiver(_ webhook: Webhook) throws(ChannelError) -> Receiver {
    var keys: [[UInt8]] = []
    for secret in webhook.secrets { keys.append(try WebhookSignature.key(secret)) }
    guard (1...4).contains(keys.count) else { throw ChannelError(.signature, "it needs 1 to 4 secrets") }
    for (name, value) in webhook.headers {
      let isOwn = name.lowercased().hasPrefix("webhook-") || ["content-type", "host"].contains(name.lowercased())
      guard HTTPSyntax.isToken(Array(name.utf8)[...]), HTTPSyntax.isFieldValue(Array(value.utf8)[...]), !isOwn else {
        throw ChannelError(.target, "the header \"\(name)\" cannot be sent")
      }
    }
    return Receiver(
      address: try TargetAddress(webhook.url), keys: keys,
      headers: webhook.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, duration: webhook.duration,
      isEnabled: webhook.isEnabled, isOpenToCallers: webhook.isOpenToCallers)
  }

  private static func subscriptions(
    _ given: [JSONObject], _ receivers: [String: Receiver]
  ) throws(ServerError) -> [ChannelDefinition] {
    var found: [ChannelDefinition] = []
    for object in given {
      let id = object["id"]?.string
      do throws(ChannelError) {
        guard id != nil else { throw ChannelError(.definition, "it needs an \"id\"") }
        guard (["duration"] + ChannelDefinition.keptMembers).allSatisfy({ object[$0] == nil }) else {
          throw ChannelError(.definition, "a configured subscription has neither an end nor an owner")
        }
        let definition = try ChannelDefinition(.object(object), freshID: "", at: 0)
        guard !found.contains(where: { $0.id == definition.id }) else {
          throw ChannelError(.definition, "its id is used twice")
        }
        guard case .webhook(let name) = definition.target, receivers[name] != nil else {
          throw ChannelError(.target, "there is no webhook \"\(definition.target.name)\"")
        }
        found.append(definition)
      } catch {
        throw ServerError(.channels, "The subscription \"\(id ?? "")\" cannot be used: \(error.description).")
      }
    }
    return found
  }

  /// Whether a caller manages all subscriptions.
  func isAdministrator(_ caller: Caller, isDevelopment: Bool) -> Bool {
    if isDevelopment { return caller.grant != nil }
    if case .key(let key) = caller.grant { return administrators.contains(key.name) }
    return !administrators.isDisjoint(with: caller.identity.groups)
  }

  /// Whether an administrator of earlier is one still.
  func isAdministrator(_ identity: Identity) -> Bool {
    if identity.provider == .apiKey { return identity.subject.map { administrators.contains($0) } ?? false }
    return !administrators.isDisjoint(with: identity.groups)
  }
}
