public import MartletVocabulary

/// What a running subscription reports to the interceptors it passed; see `Interceptor.received(_:of:)`.
public enum SubscriptionNews: Sendable {
  /// Its state changed. The state it finished with is the last news.
  case state(SubscriptionState)
  /// An event arrived, with its place in the server's log where the server gives places.
  case event(OperationPayload, cursor: Cursor?)
  /// Events are missing here.
  case gap(EventGap)

  init(_ event: SubscriptionEvent) {
    if let gap = event.gap {
      self = .gap(gap)
    } else {
      self = .event(OperationPayload(bytes: event.payload), cursor: event.cursor)
    }
  }
}

/// News on its way to one observer: delivered in order, one at a time, by whichever thread brought the first.
struct NewsQueue: Sendable {
  private var observer: (@Sendable (SubscriptionNews) -> Void)?
  private var waiting: [SubscriptionNews] = []
  private var isTelling = false

  /// Another observer, called before the present ones: it is nearer to the transport.
  mutating func add(_ nearer: @escaping @Sendable (SubscriptionNews) -> Void) {
    guard let farther = observer else { return observer = nearer }
    observer = { news in
      nearer(news)
      farther(news)
    }
  }

  /// True when the caller has to deliver it, with `next`, outside its lock.
  mutating func append(_ news: @autoclosure () -> SubscriptionNews) -> Bool {
    guard observer != nil else { return false }
    waiting.append(news())
    defer { isTelling = true }
    return !isTelling
  }

  /// What to deliver now, and to which observers; nil when nothing is left.
  mutating func next() -> (SubscriptionNews, @Sendable (SubscriptionNews) -> Void)? {
    guard let observer, !waiting.isEmpty else {
      isTelling = false
      return nil
    }
    return (waiting.removeFirst(), observer)
  }
}
