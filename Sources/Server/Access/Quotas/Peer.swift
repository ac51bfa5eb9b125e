internal import MartletAccess
internal import MartletRuntime
internal import MartletWire

/// The client of one connection: where it is, and what it has used. Confined to its loop.
final class Peer {
  var meters = QuotaMeters()

  private let channel: any ByteChannel
  /// The address of the connection's other end. Read when it is asked for: most servers count and log none.
  private(set) lazy var direct = IPAddress(node: channel.peer)
  /// What a trusted proxy says of the client.
  private var named: [UInt8]?
  /// Whether the client's own connection is encrypted, where a trusted proxy says so.
  var isSecure: Bool?
  /// What admitted the caller of the last request, for the audit log.
  var lastGrant: AccessControl.Grant?
  /// The host that the client asked for, where a trusted proxy says so.
  var host: String?

  init(_ channel: any ByteChannel) {
    self.channel = channel
  }

  /// The client's address as bytes: the connection's peer, or what a trusted proxy says. Empty where it is not known.
  var address: [UInt8] { named ?? direct?.bytes ?? [] }

  /// The client's address as text, for logs.
  var text: String { IPAddress(address)?.description ?? "unknown" }

  /// Takes what trusted proxies say of the client of the present request.
  func take(_ head: HTTPRequestHead, trusted: [AddressRange]) throws(ForwardedClient.Failure) {
    guard !trusted.isEmpty, let direct else { return }
    let client = try ForwardedClient.find(head.headers, peer: direct, trusted: trusted)
    named = client.address.bytes
    isSecure = client.isSecure
    host = client.host
  }
}
