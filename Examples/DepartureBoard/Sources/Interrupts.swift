import Dispatch
import Foundation

/// Ctrl-C and a polite kill, as a sequence in place of their default effect.
enum Interrupts {
  static func sequence(_ numbers: [Int32] = [SIGINT, SIGTERM]) -> AsyncStream<Int32> {
    AsyncStream { continuation in
      let sources = Sources(
        numbers.map { number in
          signal(number, SIG_IGN)
          let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
          source.setEventHandler { continuation.yield(number) }
          source.resume()
          return source
        })
      continuation.onTermination = { _ in sources.cancel() }
    }
  }

  /// Dispatch sources may be cancelled from any thread, and nothing else is done with them here.
  private final class Sources: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    init(_ sources: [any DispatchSourceSignal]) {
      self.sources = sources
    }

    func cancel() {
      for source in sources { source.cancel() }
    }
  }
}
