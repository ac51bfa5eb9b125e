/// Names one write of one client, so that a repeat after a lost answer applies once.
package struct WriteNumber: Hashable, Sendable {
  /// The client's lasting name, 1 to 64 bytes.
  package var client: String
  /// Counts the client's writes, from 1.
  package var number: Int64

  package init(client: String, number: Int64) {
    self.client = client
    self.number = number
  }

  package static func == (left: WriteNumber, right: WriteNumber) -> Bool {
    left.number == right.number && left.client.utf8.elementsEqual(right.client.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    for byte in client.utf8 { hasher.combine(byte) }
  }
}
