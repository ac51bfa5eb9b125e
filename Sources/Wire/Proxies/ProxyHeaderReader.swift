/// Reads the header with which a connection begins in version 2 of the PROXY protocol: a proxy says whose connection it
/// carries (HAProxy's `proxy-protocol.txt`, section 2.2).
///
/// Bytes in, one result out; nothing is read past the header. Version 1, which is text, is not accepted.
package struct ProxyHeaderReader: Sendable {
  /// What the header says.
  package enum Header: Sendable, Hashable {
    /// The proxy itself connects, for example to see whether the server lives; its own address stands.
    case local
    /// A client's address and port.
    case client(IPAddress, port: UInt16)
    /// A client whose address has another family, or is not said.
    case unknown
  }

  package enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The connection does not begin with the twelve bytes of the protocol.
    case notPROXY
    case version(UInt8)
    case command(UInt8)
    /// An address that does not fit into the length that is given.
    case truncated
    case tooLong(Int)

    package var description: String {
      switch self {
      case .notPROXY: "the connection does not begin with a header of the PROXY protocol, version 2"
      case .version(let version): "version \(version) of the PROXY protocol is not known"
      case .command(let command): "command \(command) of the PROXY protocol is not known"
      case .truncated: "the PROXY header is shorter than its addresses"
      case .tooLong(let length): "the PROXY header has \(length) bytes"
      }
    }
  }

  package enum Progress: Sendable, Hashable {
    case needsMore
    /// The header, and what came after it.
    case done(Header, rest: [UInt8])
  }

  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]

  private let largest: Int
  private var bytes: [UInt8] = []

  /// - Parameter largest: bytes of a header at most, extensions included.
  package init(largest: Int = 4_096) { self.largest = largest }

  /// Takes what arrived. Not to be called after it has thrown or is done.
  package mutating func receive(_ piece: some Collection<UInt8>) throws(Failure) -> Progress {
    bytes.append(contentsOf: piece)
    let begun = min(bytes.count, Self.signature.count)
    // Said at the first byte that differs: a peer that speaks something else is not waited for.
    guard bytes[..<begun] == Self.signature[..<begun] else { throw .notPROXY }
    guard bytes.count > 12 else { return .needsMore }
    guard bytes[12] >> 4 == 2 else { throw .version(bytes[12] >> 4) }
    let command = bytes[12] & 0x0F
    guard command <= 1 else { throw .command(command) }
    guard bytes.count >= 16 else { return .needsMore }
    let length = Int(bytes[14]) << 8 | Int(bytes[15])
    guard 16 + length <= largest else { throw .tooLong(16 + length) }
    guard bytes.count >= 16 + length else { return .needsMore }
    let header = try Self.header(command, family: bytes[13], bytes[16..<(16 + length)])
    return .done(header, rest: Array(bytes[(16 + length)...]))
  }

  private static func header(
    _ command: UInt8, family: UInt8, _ body: ArraySlice<UInt8>
  ) throws(Failure) -> Header {
    if command == 0 { return .local }
    let size: Int
    switch family {
    // TCP and UDP over IPv4 and IPv6.
    case 0x11, 0x12: size = 4
    case 0x21, 0x22: size = 16
    default: return .unknown
    }
    guard body.count >= 2 * size + 4 else { throw .truncated }
    let start = body.startIndex
    guard let address = IPAddress(body[start..<(start + size)]) else { return .unknown }
    let port = start + 2 * size
    return .client(address, port: UInt16(body[port]) << 8 | UInt16(body[port + 1]))
  }
}
