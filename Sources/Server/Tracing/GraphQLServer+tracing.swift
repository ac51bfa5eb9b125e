internal import Foundation
internal import MartletRuntime
internal import MartletTracing
internal import MartletVocabulary

extension ServerConfiguration {
  /// The same, with what gathers its traces.
  /// - Throws: as `checkStores`, and `endpoint` for an address that is not a collector's.
  func checked() throws(ServerError) -> ServerConfiguration {
    try checkStores()
    guard let tracing else { return self }
    guard let url = URL(string: tracing.endpoint), url.scheme == "http" || url.scheme == "https",
      url.host?.isEmpty == false
    else {
      throw ServerError(
        .endpoint, "\"\(tracing.endpoint)\" is not a collector's address such as http://127.0.0.1:4318/v1/traces.")
    }
    guard (0...1).contains(tracing.share) else {
      throw ServerError(.endpoint, "The share of recorded traces is from 0 to 1, not \(tracing.share).")
    }
    var chance = SystemChance.generator()
    var checked = self
    checked.tracer = Tracer(tracing, limits: SpanLimits(limits), chance: SeededRandom(seed: chance.next()))
    return checked
  }
}

extension Tracer {
  /// Sends from a loop, from now on.
  func export(on loop: any Loop, _ http: any HTTPExchanging, _ log: Log) {
    loop.execute {
      let exporter = SpanExporter(self, OutgoingSurroundings(loop: loop, http: http, log: log))
      self.attach(LoopBound(exporter, on: loop))
    }
  }

  /// Sends what is left. Suspends for at most the time of one request to the collector.
  func drain() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      guard let exporter = detach() else { return continuation.resume() }
      exporter.loop.execute { exporter.value.drain { continuation.resume() } }
    }
  }
}
