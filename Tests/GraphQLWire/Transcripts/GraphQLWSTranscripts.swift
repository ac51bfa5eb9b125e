import MartletGraphQLWire
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// The older graphql-ws (subscriptions-transport-ws), row by row of its checklist, in both roles.
@Suite struct GraphQLWSTranscripts {
  private static func opened(_ rest: String) -> String {
    """
    > {"type":"connection_init","payload":{}}
    = authenticate {}
    + accept
    < {"type":"connection_ack"}
    < {"type":"ka"}

    """ + rest
  }

  private static let serverRows: [Transcript] = [
    Transcript(
      "init and start in one go: start is held, the acknowledgement goes first",
      """
      > {"type":"connection_init","payload":{"authToken":"t"}}
      = authenticate {"authToken":"t"}
      > {"type":"start","id":"1","payload":{"query":"subscription{a}","variables":null,"operationName":null}}
      > {"type":"start","id":"2","payload":{"query":"{b}"}}
      + accept {"user":1}
      < {"type":"connection_ack","payload":{"user":1}}
      < {"type":"ka"}
      = start 1 1 subscription{a}
      = start 2 2 {b}
      """),
    Transcript(
      "start, then init: the start asks for admission, and is held until then",
      """
      > {"type":"start","id":"1","payload":{"query":"{a}"}}
      = authenticate
      > {"type":"connection_init"}
      + accept
      < {"type":"connection_ack"}
      < {"type":"ka"}
      = start 1 1 {a}
      """),
    Transcript(
      "a held start that is started again or stopped runs at most once",
      """
      > {"type":"start","id":"1","payload":{"query":"{a}"}}
      = authenticate
      > {"type":"start","id":"1","payload":{"query":"{b}"}}
      > {"type":"start","id":"2","payload":{"query":"{c}"}}
      > {"type":"stop","id":"2"}
      > {"type":"connection_init"}
      + accept
      < {"type":"connection_ack"}
      < {"type":"ka"}
      = start 1 1 {b}
      < {"id":"2","type":"complete"}
      """),
    Transcript(
      "ka right after the acknowledgement, then periodically",
      opened(
        """
        + wait 10
        < {"type":"ka"}
        + wait 9
        + wait 1
        < {"type":"ka"}
        """)),
    Transcript(
      "refused: connection_error, then 1011, and nothing that was held runs",
      """
      > {"type":"connection_init"}
      = authenticate
      > {"type":"start","id":"1","payload":{"query":"{a}"}}
      + refuse no such token
      < {"type":"connection_error","payload":{"message":"no such token"}}
      = close 1011 no such token
      + accept
      """),
    Transcript(
      "no init in time: connection_error, then 1011",
      """
      + wait 3
      = violated: Connection initialisation timeout
      < {"type":"connection_error","payload":{"message":"Connection initialisation timeout"}}
      = close 1011 Connection initialisation timeout
      """),
    Transcript(
      "a second connection_init is acknowledged again, without another ka timer",
      opened(
        """
        > {"type":"connection_init"}
        < {"type":"connection_ack"}
        + wait 10
        < {"type":"ka"}
        """)),
    Transcript(
      "a second connection_init with other credentials is acknowledged when they are good, else it is the end",
      opened(
        """
        > {"type":"connection_init","payload":{"authToken":"b"}}
        = renew {"authToken":"b"}
        + renewed 1
        < {"type":"connection_ack"}
        + warn 60
        > {"type":"connection_init","payload":{"authToken":"c"}}
        = renew {"authToken":"c"}
        + renewed 0
        < {"type":"connection_error","payload":{"message":"Forbidden"}}
        = close 1011 Forbidden
        """)),
    Transcript(
      "an id in use: the running operation ends without a word, the new one starts",
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        > {"type":"start","id":"1","payload":{"query":"{b}"}}
        = stop 1
        = start 2 1 {b}
        + next 1 {"data":1}
        + next 2 {"data":2}
        < {"id":"1","type":"data","payload":{"data":2}}
        """)),
    Transcript(
      "an id restarted at the limit takes its own place",
      limit: 1,
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        > {"type":"start","id":"1","payload":{"query":"{b}"}}
        = stop 1
        = start 2 1 {b}
        > {"type":"start","id":"2","payload":{"query":"{c}"}}
        = violated: This connection has 1 operations already
        < {"id":"2","type":"error","payload":{"message":"This connection has 1 operations already","extensions":{"code":"TOO_MANY_OPERATIONS"}}}
        """)),
    Transcript(
      "unparsable text: connection_error with id null; the socket stays",
      opened(
        """
        > [1]
        = violated: A message is a JSON object
        < {"id":null,"type":"connection_error","payload":{"message":"A message is a JSON object"}}
        > {"type":"start","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        """)),
    Transcript(
      "an unknown type: error \"Invalid message type!\"; the socket stays",
      opened(
        """
        > {"id":"7","type":"subscribe","payload":{"query":"{a}"}}
        = violated: Invalid message type! subscribe
        < {"id":"7","type":"error","payload":{"message":"Invalid message type! subscribe"}}
        > {"type":"ping"}
        = violated: Invalid message type! ping
        < {"type":"error","payload":{"message":"Invalid message type! ping"}}
        """)),
    Transcript(
      "a query that is a document's tree: error",
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":{"kind":"Document"}}}
        = violated: start: "query" must be a string
        < {"id":"1","type":"error","payload":{"message":"start: \\"query\\" must be a string"}}
        """)),
    Transcript(
      "what fails before it runs: error with one object, and no complete",
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":"{"}}
        = start 1 1 {
        + fail 1 [{"message":"syntax"}]
        < {"id":"1","type":"error","payload":{"message":"syntax"}}
        + complete 1
        > {"type":"start","id":"2","payload":{"query":"{a}"}}
        = start 2 2 {a}
        + fail 2 [{"message":"one"},{"message":"two"}]
        < {"id":"2","type":"error","payload":{"message":"one","errors":[{"message":"one"},{"message":"two"}]}}
        """)),
    Transcript(
      "stop is confirmed by complete, once; data for it is dropped",
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        > {"type":"stop","id":"1"}
        = stop 1
        < {"id":"1","type":"complete"}
        + next 1 {"data":1}
        > {"type":"stop","id":"1"}
        """)),
    Transcript(
      "queries and mutations: data, then complete",
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":"mutation{a}"}}
        = start 1 1 mutation{a}
        + next 1 {"data":{"a":1}}
        < {"id":"1","type":"data","payload":{"data":{"a":1}}}
        + complete 1
        < {"id":"1","type":"complete"}
        """)),
    Transcript(
      "connection_terminate, with its payload null: 1000, and nothing is sent on the half-closed socket",
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        > {"type":"connection_terminate","payload":null}
        = stop 1
        = close 1000
        + next 1 {"data":1}
        + wait 10
        + gone
        """)),
    Transcript(
      "a binary message is answered like text that is not a message",
      opened(
        """
        + binary
        = violated: Messages are text
        < {"id":null,"type":"connection_error","payload":{"message":"Messages are text"}}
        """)),
  ]

  @Test(arguments: serverRows) func `the server`(row: Transcript) {
    row.play(.graphqlWS { if let limit = row.limit { $0.operations = limit } })
  }

  private static func connected(_ rest: String) -> String {
    """
    + start 1 subscription{a}
    + open
    < {"type":"connection_init","payload":{}}
    > {"type":"connection_ack"}
    = acknowledged
    < {"id":"1","type":"start","payload":{"query":"subscription{a}"}}
    = started 1

    """ + rest
  }

  private static let clientRows: [Transcript] = [
    Transcript(
      "no ka is expected before the first; after it, 30 seconds of silence end the socket",
      connected(
        """
        + wait 600
        > {"type":"ka"}
        = alive
        + wait 29
        > {"type":"ka"}
        = alive
        + wait 29
        + wait 1
        = close 4499
        """)),
    Transcript(
      "a ka before the acknowledgement counts",
      """
      + open
      < {"type":"connection_init","payload":{}}
      > {"type":"ka"}
      = alive
      > {"type":"connection_ack"}
      = acknowledged
      + wait 30
      = close 4499
      """),
    Transcript(
      "connection_error with an object, with text, with nothing: the connection is refused",
      """
      + open {"authToken":"t"}
      < {"type":"connection_init","payload":{"authToken":"t"}}
      > {"type":"connection_error","payload":{"message":"no"}}
      = refused withNewCredentials ["no"]
      + drop
      + open
      < {"type":"connection_init","payload":{}}
      > {"type":"connection_error","payload":"no"}
      = refused withNewCredentials ["no"]
      + drop
      + open
      < {"type":"connection_init","payload":{}}
      > {"type":"connection_error"}
      = refused withNewCredentials []
      """),
    Transcript(
      "error with one object and with a list",
      connected(
        """
        + start 2 {b}
        < {"id":"2","type":"start","payload":{"query":"{b}"}}
        = started 2
        > {"type":"error","id":"1","payload":{"message":"one"}}
        = failed 1 ["one"]
        > {"type":"error","id":"2","payload":[{"message":"two"},{"message":"three"}]}
        = failed 2 ["two", "three"]
        """)),
    Transcript(
      "a validation error as data with errors, then complete with a null payload (reference server)",
      connected(
        """
        > {"type":"data","id":"1","payload":{"errors":[{"message":"no such field"}]}}
        = next 1 {"errors":[{"message":"no such field"}]}
        > {"type":"complete","id":"1","payload":null}
        = completed 1
        """)),
    Transcript(
      "after stop: one data in flight and the confirmation are dropped",
      connected(
        """
        + cancel 1
        < {"id":"1","type":"stop"}
        > {"type":"data","id":"1","payload":{"data":1}}
        > {"type":"complete","id":"1"}
        """)),
    Transcript(
      "a server that acknowledges twice, and unknown types",
      connected(
        """
        > {"type":"connection_ack"}
        > {"type":"novel","id":"1"}
        > {"type":"data","id":"1","payload":{"data":1}}
        = next 1 {"data":1}
        """)),
    Transcript(
      "leaving says connection_terminate",
      connected(
        """
        + leave
        < {"type":"connection_terminate"}
        """)),
    Transcript(
      "ids that come back as numbers",
      connected(
        """
        > {"type":"data","id":1,"payload":{"data":1}}
        = next 1 {"data":1}
        """)),
    Transcript(
      "servers of the two other dialects name themselves",
      """
      + open
      < {"type":"connection_init","payload":{}}
      > {"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}
      = mismatched: AppSync's graphql-ws
      + drop
      + open
      < {"type":"connection_init","payload":{}}
      > {"type":"connection_ack"}
      = acknowledged
      > {"type":"ping"}
      = mismatched: graphql-transport-ws
      """),
    Transcript(
      "open subscriptions are sent again, other operations are lost",
      connected(
        """
        + ask 2 {b}
        < {"id":"2","type":"start","payload":{"query":"{b}"}}
        = started 2
        + drop
        = lost 2
        + open
        < {"type":"connection_init","payload":{}}
        > {"type":"connection_ack"}
        = acknowledged
        < {"id":"1","type":"start","payload":{"query":"subscription{a}"}}
        = started 1
        """)),
  ]

  @Test(arguments: clientRows) func `the client`(row: Transcript) throws {
    try row.play(DialectClient.graphqlWS)
  }
}
