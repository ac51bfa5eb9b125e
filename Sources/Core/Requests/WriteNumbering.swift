import MartletGraphQLWire
import MartletVocabulary

/// Numbers one client's writes. The client's name is drawn anew for each client and kept nowhere: numbers serve resends
/// within the client's life, not after it. Confined to its loop.
final class WriteNumbering {
  private let client: String
  private var last: Int64 = 0

  init(_ chance: Chance) {
    // 128 bits, so that no two clients ever share a name.
    client = String(chance.next(), radix: 16) + "-" + String(chance.next(), radix: 16)
  }

  func next() -> WriteNumber {
    last += 1
    return WriteNumber(client: client, number: last)
  }
}
