internal import Dispatch

#if canImport(Darwin)
  internal import Darwin
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Glibc
#endif

/// Signals of the process as a sequence, in place of their default effect.
package enum Signals {
  /// Returns once the signals are watched: one that is sent from then on is an element. Before that, with its default
  /// effect gone, it would be lost.
  package static func sequence(_ numbers: [Int32]) -> AsyncStream<Int32> {
    let watched = DispatchSemaphore(value: 0)
    let sequence = AsyncStream<Int32> { continuation in
      let sources = SourceBox(
        numbers.map { number in
          signal(number, SIG_IGN)
          let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
          source.setEventHandler { continuation.yield(number) }
          source.setRegistrationHandler { watched.signal() }
          source.resume()
          return source
        })
      continuation.onTermination = { _ in sources.cancel() }
    }
    // Registration takes microseconds; the bound keeps a defect of the library from keeping a program from starting.
    for _ in numbers { _ = watched.wait(timeout: .now() + .seconds(1)) }
    return sequence
  }

  /// Dispatch sources may be cancelled from any thread, and nothing else is done with them here.
  private final class SourceBox: @unchecked Sendable {
    private let sources: [any DispatchSourceSignal]

    init(_ sources: [any DispatchSourceSignal]) {
      self.sources = sources
    }

    func cancel() {
      for source in sources { source.cancel() }
    }
  }
}
