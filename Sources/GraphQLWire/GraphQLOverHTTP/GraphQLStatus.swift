import MartletJSON
package import MartletWire

extension GraphQLOverHTTP {
  /// How far a request got.
  package enum Outcome: Sendable, Equatable {
    /// There is a `data` entry, with or without errors.
    case executed
    /// No `data`: the document does not parse or validate, the variables do not fit, no operation can be chosen.
    case refused
    /// The server itself failed before there was `data`.
    case failed
  }

  /// The status of a response that is a well-formed GraphQL result. As the audits ask: errors of the request are 400
  /// in the newer type, and 200 towards clients that believe a body only with 2xx.
  package static func status(_ outcome: Outcome, as type: ResponseType) -> Int {
    switch (outcome, type) {
    case (.executed, _): 200
    case (.refused, .graphQLResponse): 400
    case (.refused, .json): 200
    case (.failed, .graphQLResponse): 500
    case (.failed, .json): 200
    }
  }

  /// A request refused before its document was looked at.
  package struct RequestFailure: Error, Equatable, Sendable, CustomStringConvertible {
    package enum Reason: Equatable, Sendable {
      case method
      case mutationOverGET
      case contentType
      /// The body is compressed.
      case contentCoding
      case notAcceptable
      /// On the path of event streams, another type is asked for.
      case eventStreamNotAcceptable
      /// A subscription where only single responses are accepted.
      case subscriptionNotServed
      case request(GraphQLRequestError)
    }

    package var reason: Reason
    /// How to label the answer.
    package var responseType: ResponseType

    package init(_ reason: Reason, responseType: ResponseType) {
      self.reason = reason
      self.responseType = responseType
    }

    package var status: Int {
      switch reason {
      case .method, .mutationOverGET: 405
      case .contentType, .contentCoding: 415
      case .notAcceptable, .eventStreamNotAcceptable: 406
      case .subscriptionNotServed, .request: 400
      }
    }

    /// The value of the Allow header that goes with 405.
    package var allow: String? {
      switch reason {
      case .method: "GET, POST"
      case .mutationOverGET: "POST"
      case .contentType, .contentCoding, .notAcceptable, .eventStreamNotAcceptable, .subscriptionNotServed, .request:
        nil
      }
    }

    package var description: String {
      switch reason {
      case .method: "GraphQL is served by GET and POST"
      case .mutationOverGET: "mutations need POST"
      case .contentType: "the request needs Content-Type: application/json in UTF-8"
      case .contentCoding: "a compressed body is not read: send it without Content-Encoding"
      case .notAcceptable: "the response is application/graphql-response+json or application/json"
      case .eventStreamNotAcceptable: "the response is text/event-stream"
      case .subscriptionNotServed:
        "subscriptions are served over WebSocket (graphql-transport-ws), and over HTTP with Accept: "
          + "multipart/mixed;subscriptionSpec=1.0 or text/event-stream"
      case .request(let error): error.description
      }
    }

    /// The answer, head and body.
    package var response: (head: HTTPResponseHead, body: [UInt8]) {
      var headers = HTTPHeaders()
      headers.append("Content-Type", responseType.contentType)
      if let allow { headers.append("Allow", allow) }
      if reason == .contentCoding { headers.append("Accept-Encoding", "identity") }
      var writer = JSONWriter()
      writer.beginObject()
      writer.key("errors")
      writer.beginArray()
      writer.beginObject()
      writer.key("message")
      writer.string(description)
      writer.endObject()
      writer.endArray()
      writer.endObject()
      return (HTTPResponseHead(status: status, headers: headers), writer.bytes)
    }
  }
}
