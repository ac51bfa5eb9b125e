import MartletWire

/// Reads the header of the PROXY protocol whole and in small pieces, and forwarded fields: both must come to the same,
/// whatever came. The first byte chooses the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzProxy(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count >= 1 else { return 0 }
  let piece = Int(data[0] % 16) + 1
  let bytes = Array(UnsafeBufferPointer(start: data + 1, count: count - 1))

  func read(_ piece: Int) -> String {
    var reader = ProxyHeaderReader()
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + piece)
      do {
        if case .done(let header, let rest) = try reader.receive(bytes[start..<end]) {
          return "\(header) \(rest + bytes[end...])"
        }
      } catch { return "\(error)" }
      start = end
    }
    return "more"
  }

  precondition(read(max(1, bytes.count)) == read(piece), "the same header in any chunking")
  let text = String(decoding: bytes, as: UTF8.self)
  if let address = IPAddress(text) { precondition(IPAddress(address.description) == address, "an address is its text") }
  guard HTTPSyntax.isFieldValue(bytes[...]), let peer = IPAddress("127.0.0.1"),
    let range = try? AddressRange("127.0.0.1")
  else { return 0 }
  for name in ["Forwarded", "X-Forwarded-For"] {
    _ = try? ForwardedClient.find(HTTPHeaders([(name, text)]), peer: peer, trusted: [range])
  }
  return 0
}
