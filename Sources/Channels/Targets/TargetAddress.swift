/// The address of a target, split into what a connection needs.
package struct TargetAddress: Sendable, Hashable {
  /// As it is sent.
  package let url: String
  /// A name or a numeric address, without brackets.
  package let host: String
  package let port: Int
  package let isSecure: Bool

  /// Reads an `https` or `http` URL with a host, without credentials and without a fragment.
  package init(_ text: String) throws(ChannelError) {
    func refuse(_ reason: String) -> ChannelError { ChannelError(.address, "the URL \(reason)") }
    guard (8...2_048).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw refuse("needs 8 to 2048 visible ASCII characters")
    }
    let lower = text.lowercased()
    let scheme = lower.hasPrefix("https://") ? "https" : lower.hasPrefix("http://") ? "http" : nil
    guard let scheme else { throw refuse("begins neither with https:// nor with http://") }
    guard !text.contains("#") else { throw refuse("has a fragment") }
    // Where programs disagree about the host's end, an address could be judged that is not the one that is used.
    guard !text.contains("\\") else { throw refuse("has a backslash") }
    let rest = text.dropFirst(scheme.count + 3)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard !authority.contains("@") else { throw refuse("has credentials; use the target's headers for them") }
    let portText: Substring
    if authority.first == "[" {
      guard let end = authority.firstIndex(of: "]") else { throw refuse("has no host") }
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      portText = authority[authority.index(after: end)...]
    } else {
      let name = authority.prefix { $0 != ":" }
      host = String(name)
      portText = authority[name.endIndex...]
    }
    guard !host.isEmpty, host.utf8.count <= 255, host.utf8.allSatisfy(Self.isHostByte) else {
      throw refuse("has no host that can be looked up")
    }
    isSecure = scheme == "https"
    if portText.isEmpty {
      port = isSecure ? 443 : 80
    } else {
      guard portText.first == ":", let number = UInt16(portText.dropFirst()), number > 0 else {
        throw refuse("has no port from 1 to 65535")
      }
      port = Int(number)
    }
    url = text
  }

  private static func isHostByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: ":"):
      true
    default: false
    }
  }
}
