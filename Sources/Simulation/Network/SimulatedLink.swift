internal import MartletRuntime
internal import MartletVocabulary

/// One imaginary stream with both its ends.
@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
package final class SimulatedLink {
  package let number: Int
  package let client: SimulatedChannel
  package let server: SimulatedChannel
  let network: SimulatedNetwork
  /// Both directions drop everything from now on without a notice: a peer that lost power.
  package var isHalfOpen = false
  /// The stream is cut when this many more bytes have been sent in both directions together; nil never.
  package var bytesUntilCut: Int?

  init(network: SimulatedNetwork, number: Int, client: SimulatedLoop, server: SimulatedLoop) {
    self.network = network
    self.number = number
    self.client = SimulatedChannel(home: client, peer: "server:\(number)")
    self.server = SimulatedChannel(home: server, peer: "client:\(number)")
    self.client.link = self
    self.server.link = self
    self.client.other = self.server
    self.server.other = self.client
  }

  /// Ends the stream: both ends get a failure, what is under way is lost.
  package func cut() {
    network.executor.record("cut \(number)")
    for end in [client, server] {
      let bound = LoopBound(end, on: end.home)
      end.home.execute { bound.value.end(.failure("connection reset")) }
    }
  }

  /// Whether the seed or the counter ends the stream within the next `count` bytes; answers how many still pass.
  func passing(_ count: Int) -> (passes: Int, thenCut: Bool) {
    let chance = network.conditions.cutsPerMillion
    if chance > 0, Int(network.executor.random.next() % 1_000_000) < chance {
      return (Int(network.executor.random.next() % UInt64(count + 1)), true)
    }
    guard let left = bytesUntilCut else { return (count, false) }
    bytesUntilCut = max(0, left - count)
    return left <= count ? (left, true) : (count, false)
  }

  func healed() {
    client.healed()
    server.healed()
  }

  func endClosed() {
    if client.isClosed, server.isClosed { network.remove(self) }
  }
}
