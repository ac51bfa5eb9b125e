import Dispatch
import Foundation

/// Ends what the tour started when somebody presses Ctrl-C, then the tour itself.
///
/// `@unchecked Sendable` holds because dispatch sources may be cancelled from any thread, and nothing else is done with
/// them here.
final class Interrupts: @unchecked Sendable {
  private let sources: [any DispatchSourceSignal]

  init(_ action: @escaping @Sendable () -> Void) {
    sources = [SIGINT, SIGTERM].map { number in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        action()
        exit(128 + number)
      }
      source.resume()
      return source
    }
  }

  func cancel() {
    for source in sources { source.cancel() }
  }
}
