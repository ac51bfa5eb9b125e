internal import MartletRuntime

/// Passes values from one task to another, one at a time: the sender continues when its value has been taken.
final class Handoff<Element: Sendable>: Sendable {
  private struct State {
    var element: Element?
    var isOver = false
    var reader: CheckedContinuation<Element?, Never>?
    var writer: CheckedContinuation<Void, Never>?
  }

  private let state = Lock(State())

  /// Offers a value and waits until it has been taken or the receiver has ended. For one sender.
  func send(_ element: Element) async {
    await withCheckedContinuation { writer in
      let (reader, isWaiting) = state.withLock { state -> (CheckedContinuation<Element?, Never>?, Bool) in
        if state.isOver { return (nil, false) }
        if let reader = state.reader {
          state.reader = nil
          return (reader, false)
        }
        state.element = element
        state.writer = writer
        return (nil, true)
      }
      reader?.resume(returning: element)
      if !isWaiting { writer.resume() }
    }
  }

  /// The next value; nil when there will be none. For one reader.
  func take() async -> Element? {
    await withCheckedContinuation { reader in
      let (element, writer, isWaiting) = state.withLock {
        state -> (Element?, CheckedContinuation<Void, Never>?, Bool) in
        guard state.element == nil, !state.isOver else {
          let taken = (state.element, state.writer, false)
          state.element = nil
          state.writer = nil
          return taken
        }
        state.reader = reader
        return (nil, nil, true)
      }
      if !isWaiting { reader.resume(returning: element) }
      writer?.resume()
    }
  }

  /// Ends the exchange; a value that has not been taken is dropped.
  func finish() {
    let (reader, writer) = state.withLock {
      state -> (CheckedContinuation<Element?, Never>?, CheckedContinuation<Void, Never>?) in
      let waiting = (state.reader, state.writer)
      state = State(isOver: true)
      return waiting
    }
    reader?.resume(returning: nil)
    writer?.resume()
  }
}
