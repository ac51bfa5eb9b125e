import MartletGraphQLClientWire
import MartletVocabulary

/// Numbers one client's writes, and knows up to which number it needs no more answers. The client's name is drawn anew
/// for each client and kept nowhere: numbers serve resends within the client's lifetime, not after it. Confined to its
/// loop.
final class WriteNumbering {
  private struct Open {
    var number: Int64
    weak var response: PendingResponse?
    var isOver: Bool { response?.isOver ?? true }
  }

  private let client: String
  private var last: Int64 = 0
  /// Writes that may still be sent again, oldest first; those that have ended leave from the front.
  private var open: [Open] = []

  init(_ chance: Chance) {
    // 128 bits, so that no two clients ever share a name.
    client = String(chance.next(), radix: 16) + "-" + String(chance.next(), radix: 16)
  }

  /// The next write, whose answer goes to `response`: its number, and the number up to which all writes have ended.
  func next(for response: PendingResponse) -> (write: WriteNumber, acknowledged: Int64) {
    if let first = open.firstIndex(where: { !$0.isOver }) {
      open.removeFirst(first)
    } else {
      open.removeAll(keepingCapacity: true)
    }
    let acknowledged = open.first.map { $0.number - 1 } ?? last
    last += 1
    open.append(Open(number: last, response: response))
    return (WriteNumber(client: client, number: last), acknowledged)
  }
}
