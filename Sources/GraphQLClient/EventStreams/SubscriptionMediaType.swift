/// How subscriptions by HTTP are asked for.
public enum SubscriptionMediaType: Sendable, Hashable {
  /// `multipart/mixed;subscriptionSpec="1.0"`, which most gateways speak: one response for each.
  case multipart
  /// `text/event-stream`, one response for each (the distinct connections mode).
  case eventStream
  /// `text/event-stream`, one response that all of a transport share (the single connection mode). Few connections
  /// suffice, also over HTTP/1.1; the slowest consumer, when its buffer's policy is to wait, holds up the others.
  case sharedEventStream

  /// The two modes of GraphQL over server-sent events.
  public enum EventStreamMode: Sendable, Hashable {
    /// One response for each subscription.
    case distinctConnections
    /// One response that all subscriptions of a transport share.
    case singleConnection
  }

  /// Server-sent events in one of their modes.
  public static func eventStream(_ mode: EventStreamMode) -> SubscriptionMediaType {
    switch mode {
    case .distinctConnections: .eventStream
    case .singleConnection: .sharedEventStream
    }
  }

  var accept: String {
    switch self {
    case .multipart: #"multipart/mixed;subscriptionSpec="1.0", application/graphql-response+json, application/json"#
    // Some servers look for exactly this. Refusals are read whatever their type.
    case .eventStream, .sharedEventStream: "text/event-stream"
    }
  }
}
