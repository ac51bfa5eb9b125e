/// A client's number for one of its writes: a resend with the same one is applied once.
package struct WriteNumber: Hashable, Sendable {
  /// The caller that the client writes as; empty where callers are not distinguished, and on the wire, where the server
  /// knows it. The same client name under another identity is another client.
  package var identity: String
  /// The client's own random name, 1 to 64 bytes.
  package var client: String
  /// The client's count of its writes, from 1.
  package var number: Int64

  package init(client: String, number: Int64, identity: String = "") {
    self.identity = identity
    self.client = client
    self.number = number
  }

  /// Compares bytes: composed and decomposed names are different clients.
  package static func == (left: WriteNumber, right: WriteNumber) -> Bool {
    left.number == right.number && left.client.utf8.elementsEqual(right.client.utf8)
      && left.identity.utf8.elementsEqual(right.identity.utf8)
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(number)
    for byte in client.utf8 { hasher.combine(byte) }
  }
}
