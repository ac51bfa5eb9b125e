internal import MartletChangeFeed
internal import MartletJSON

/// The bodies of the application's events in the log: topic, then payload.
enum EventCoder {
  static func write(_ event: TopicEvent, into writer: inout EntryWriter) {
    writer.text(event.topic)
    writer.value(event.payload)
  }

  static func read(_ reader: inout EntryReader) throws(StoreError) -> TopicEvent {
    TopicEvent(topic: try reader.text(), payload: try reader.value())
  }
}
