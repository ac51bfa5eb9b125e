package import CMartletSystem

/// An IPv4 or IPv6 address with its port, in 24 bytes: one is kept per connection.
package struct SocketAddress: Sendable, Hashable, CustomStringConvertible {
  private let high: UInt64
  private let low: UInt64
  private let scope: UInt32
  package var port: UInt16
  package let isIPv6: Bool

  package init(_ system: martlet_address) {
    high = system.high
    low = system.low
    scope = system.scope
    port = system.port
    isIPv6 = system.is_ipv6 != 0
  }

  package var system: martlet_address {
    martlet_address(high: high, low: low, scope: scope, port: port, is_ipv6: isIPv6 ? 1 : 0)
  }

  /// Reads a numeric address such as `127.0.0.1` or `::1`; nil when it is not one. Asks no name server.
  package init?(_ host: String, port: Int) {
    guard let port = UInt16(exactly: port) else { return nil }
    var found = martlet_address()
    // One slot, and the capacity says so.
    guard unsafe martlet_resolve(host, port, 1, &found, 1) == 1 else { return nil }
    self.init(found)
  }

  /// Whether the address is on the machine's own loopback network, IPv4 peers on an IPv6 socket included.
  package var isLoopback: Bool {
    if isIPv6 {
      if isMappedIPv4 { return (low >> 24) & 0xFF == 127 }
      return high == 0 && low == 1
    }
    return (low >> 24) & 0xFF == 127
  }

  private var isMappedIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

  /// The address without the port: what limits per peer count by. An IPv4 peer has one form on both socket families.
  package var host: SocketAddress {
    guard isIPv6, isMappedIPv4 else {
      return SocketAddress(
        martlet_address(high: high, low: low, scope: scope, port: 0, is_ipv6: isIPv6 ? 1 : 0))
    }
    return SocketAddress(martlet_address(high: 0, low: low & 0xFFFF_FFFF, scope: 0, port: 0, is_ipv6: 0))
  }

  package var description: String {
    // 64 bytes are more than the longest numeric address with a scope needs; the shim ends the text with a zero.
    let host = unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      unsafe buffer.initialize(repeating: 0)
      guard let start = buffer.baseAddress else { return "" }
      var address = system
      unsafe martlet_address_text(&address, start)
      return unsafe String(cString: start)
    }
    return isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)"
  }
}
