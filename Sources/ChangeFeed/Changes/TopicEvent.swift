package import MartletJSON

/// An event that the application published under a topic.
package struct TopicEvent: Sendable, Equatable {
  package var topic: String
  package var payload: JSONValue

  package init(topic: String, payload: JSONValue) {
    self.topic = topic
    self.payload = payload
  }

  /// Compares the topic's bytes: composed and decomposed forms are different topics.
  package static func == (left: TopicEvent, right: TopicEvent) -> Bool {
    left.topic.utf8.elementsEqual(right.topic.utf8) && left.payload == right.payload
  }
}
