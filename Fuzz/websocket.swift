import MartletVocabulary
import MartletWire

/// Feeds one WebSocket machine whole and another in small pieces: both must report and answer the same, whatever came.
/// The first byte chooses the role, the second the size of the pieces.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzWebSocket(_ data: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count >= 2 else { return 0 }
  let isServer = data[0] & 1 == 0
  let piece = Int(data[1] % 16) + 1
  let bytes = Array(UnsafeBufferPointer(start: data + 2, count: count - 2))

  func run(_ piece: Int) -> (events: [WebSocketEvent], output: [UInt8]) {
    var machine = WebSocketMachine(role: isServer ? .server : .client(masks: SeededRandom(seed: 1)), at: .zero)
    var events: [WebSocketEvent] = []
    var output: [UInt8] = []
    var start = 0
    while start < bytes.count {
      let end = min(bytes.count, start + piece)
      machine.receive(Array(bytes[start..<end]).span.bytes, at: .zero, output: &output, events: &events)
      start = end
    }
    machine.transportEnded(events: &events)
    return (events, output)
  }

  let whole = run(max(1, bytes.count))
  let pieces = run(piece)
  precondition(whole.events == pieces.events, "the same events in any chunking")
  precondition(whole.output == pieces.output, "the same answers in any chunking")
  let closures = whole.events.filter { if case .closed = $0 { true } else { false } }
  precondition(closures.count == 1, "one closure, always")
  return 0
}
