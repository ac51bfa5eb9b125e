package import MartletWire

/// The addresses that a server may deliver to.
///
/// Names are judged by the address that they resolve to, and the connection is made to that address, so that a name
/// that means another address a moment later changes nothing.
package struct OutgoingRanges: Sendable {
  /// Ranges that are allowed although they are refused by default.
  private let allowed: [AddressRange]

  /// What no public service has: this machine, private and shared networks, link-local addresses with the metadata
  /// services of clouds, documentation, multicast, and forms that stand for other addresses.
  private static let refused: [AddressRange] = [
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
    "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
    "224.0.0.0/4", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32",
    "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
  ].compactMap { try? AddressRange($0) }

  package init(allowing allowed: [AddressRange] = []) {
    self.allowed = allowed
  }

  /// Whether a request may be sent to the address.
  package func allows(_ address: IPAddress) -> Bool {
    allowed.contains { $0.contains(address) } || !Self.refused.contains { $0.contains(address) }
  }
}
