import MartletWire

/// Feeds one HTTP machine whole and another in small pieces: both must report the same, whatever came. Requests are
/// answered as they end, so that pipelined ones are read too. The first byte chooses the role, the second the size of
/// the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzHTTP(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count >= 2 else { return 0 }
  let isServer = data[0] & 1 == 0
  let piece = Int(data[1] % 16) + 1
  let bytes = Array(UnsafeBufferPointer(start: data + 2, count: count - 2))
  let whole = max(1, bytes.count)
  if isServer {
    precondition(server(bytes, whole) == server(bytes, piece), "the same requests in any chunking")
  } else {
    precondition(client(bytes, whole) == client(bytes, piece), "the same response in any chunking")
  }
  return 0
}

private func pieces(_ bytes: [UInt8], _ size: Int) -> [[UInt8]] {
  stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min(bytes.count, $0 + size)]) }
}

private func server(_ bytes: [UInt8], _ size: Int) -> [HTTPServerEvent] {
  var machine = HTTPServerMachine()
  var told: [HTTPServerEvent] = []
  var output: [UInt8] = []
  for piece in pieces(bytes, size) {
    var events: [HTTPServerEvent] = []
    machine.receive(piece.span.bytes, events: &events)
    while !events.isEmpty {
      var isComplete = false
      for event in events {
        if case .requestEnded = event { isComplete = true }
        if case .body(let more) = event, case .body(let before)? = told.last {
          told[told.count - 1] = .body(before + more)
        } else {
          told.append(event)
        }
      }
      events = []
      guard isComplete, machine.responding == .waiting else { break }
      machine.respond(HTTPResponseHead(status: 200), body: [0x6F, 0x6B], to: &output)
      machine.advance(&events)
    }
  }
  let failures = told.filter { if case .failed = $0 { true } else { false } }
  precondition(failures.count <= 1, "one failure at most")
  return told
}

private func client(_ bytes: [UInt8], _ size: Int) -> [HTTPClientEvent] {
  var machine = HTTPClientMachine()
  var told: [HTTPClientEvent] = []
  var output: [UInt8] = []
  machine.send(HTTPRequestHead(method: "GET", target: "/", headers: HTTPHeaders([("Host", "a")])), to: &output)
  for piece in pieces(bytes, size) {
    var events: [HTTPClientEvent] = []
    machine.receive(piece.span.bytes, events: &events)
    for event in events {
      if case .body(let more) = event, case .body(let before)? = told.last {
        told[told.count - 1] = .body(before + more)
      } else {
        told.append(event)
      }
    }
  }
  machine.inputEnded(events: &told)
  return told
}
