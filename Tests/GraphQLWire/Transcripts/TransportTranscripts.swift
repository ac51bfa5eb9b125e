import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// graphql-transport-ws, row by row of its checklist, in both roles.
@Suite struct TransportTranscripts {
  private static func opened(_ rest: String) -> String {
    """
    > {"type":"connection_init"}
    = authenticate
    + accept
    < {"type":"connection_ack"}

    """ + rest
  }

  private static let serverRows: [Transcript] = [
    Transcript(
      "connection_init may carry an object; the acknowledgement may too",
      """
      > {"type":"connection_init","payload":{"token":"t"}}
      = authenticate {"token":"t"}
      + accept {"user":1}
      < {"type":"connection_ack","payload":{"user":1}}
      """),
    Transcript(
      "optional fields may be null, unknown ones are ignored",
      """
      > {"type":"connection_init","payload":null,"new":[]}
      = authenticate
      + accept
      < {"type":"connection_ack"}
      > {"type":"subscribe","id":"1","more":1,"payload":{"query":"{a}","variables":null,"operationName":null,"extensions":null,"x":2}}
      = start 1 1 {a}
      """),
    Transcript(
      "ping is answered at once, also before connection_init; pong needs no ping",
      """
      > {"type":"ping"}
      < {"type":"pong"}
      > {"type":"pong"}
      > {"type":"ping","payload":{"n":1}}
      < {"type":"pong","payload":{"n":1}}
      > {"type":"ping","payload":null}
      < {"type":"pong"}
      > {"type":"connection_init"}
      = authenticate
      """),
    Transcript(
      "subscribe after an initialisation that is still looked at: 4401",
      """
      > {"type":"connection_init"}
      = authenticate
      > {"type":"subscribe","id":"1","payload":{"query":"{a}"}}
      = violated: Unauthorized
      = close 4401 Unauthorized
      + accept
      """),
    Transcript(
      "next as often as it likes, then complete; the id is free again",
      opened(
        """
        > {"type":"subscribe","id":"1","payload":{"query":"subscription{a}"}}
        = start 1 1 subscription{a}
        + next 1 {"data":1}
        < {"id":"1","type":"next","payload":{"data":1}}
        + next 1 {"data":2}
        < {"id":"1","type":"next","payload":{"data":2}}
        + complete 1
        < {"id":"1","type":"complete"}
        + next 1 {"data":3}
        > {"type":"subscribe","id":"1","payload":{"query":"{b}"}}
        = start 2 1 {b}
        """)),
    Transcript(
      "error carries a list, and no complete follows",
      opened(
        """
        > {"type":"subscribe","id":"1","payload":{"query":"{"}}
        = start 1 1 {
        + fail 1 [{"message":"syntax"}]
        < {"id":"1","type":"error","payload":[{"message":"syntax"}]}
        + complete 1
        > {"type":"complete","id":"1"}
        """)),
    Transcript(
      "the client's complete is not confirmed; what crosses it is dropped; unknown ids are ignored",
      opened(
        """
        > {"type":"subscribe","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        > {"type":"complete","id":"1"}
        = stop 1
        + next 1 {"data":1}
        + complete 1
        + fail 1 []
        > {"type":"complete","id":"1"}
        > {"type":"complete","id":"never"}
        """)),
    Transcript(
      "ids interleave",
      opened(
        """
        > {"type":"subscribe","id":"a","payload":{"query":"{a}"}}
        = start 1 a {a}
        > {"type":"subscribe","id":"b","payload":{"query":"{b}"}}
        = start 2 b {b}
        + next 2 {"data":2}
        < {"id":"b","type":"next","payload":{"data":2}}
        + next 1 {"data":1}
        < {"id":"a","type":"next","payload":{"data":1}}
        + complete 2
        < {"id":"b","type":"complete"}
        + complete 1
        < {"id":"a","type":"complete"}
        """)),
    Transcript(
      "an id counts as used while its operation is still being prepared: 4409",
      opened(
        """
        > {"type":"subscribe","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        > {"type":"subscribe","id":"1","payload":{"query":"{b}"}}
        = violated: Subscriber for 1 already exists
        = stop 1
        = close 4409 Subscriber for 1 already exists
        """)),
    Transcript(
      "a ping with credentials is answered when they were checked, and does not send them back",
      """
      > {"type":"ping","payload":{"martlet":{"credentials":{"authToken":"a"}}}}
      < {"type":"pong","payload":{"martlet":{"credentials":false}}}
      > {"type":"connection_init","payload":{"martlet":{"cursors":true}}}
      = authenticate {"martlet":{"cursors":true}}
      + accept
      < {"type":"connection_ack","payload":{"martlet":{"cursors":true}}}
      + warn 60
      < {"type":"ping","payload":{"martlet":{"credentialsEndInMs":60000}}}
      > {"type":"ping","payload":{"martlet":{"credentials":{"authToken":"b"}}}}
      = renew {"authToken":"b"}
      + renewed 1
      < {"type":"pong","payload":{"martlet":{"credentials":true}}}
      > {"type":"ping","payload":{"martlet":{"credentials":{"authToken":"c"}}}}
      = renew {"authToken":"c"}
      + renewed 0
      < {"type":"pong","payload":{"martlet":{"credentials":false}}}
      """),
    Transcript(
      "no connection_init in time: 4408",
      """
      + wait 2
      + wait 1
      = violated: Connection initialisation timeout
      = close 4408 Connection initialisation timeout
      """),
    Transcript(
      "a second connection_init, before the acknowledgement and after it: 4429",
      """
      > {"type":"connection_init"}
      = authenticate
      > {"type":"connection_init"}
      = violated: Too many initialisation requests
      = close 4429 Too many initialisation requests
      """),
    Transcript(
      "a refused initialisation: 4403 with the reason",
      """
      > {"type":"connection_init"}
      = authenticate
      + refuse no such token
      = close 4403 no such token
      """),
    Transcript(
      "the operations beyond the limit fail alone",
      limit: 1,
      opened(
        """
        > {"type":"subscribe","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        > {"type":"subscribe","id":"2","payload":{"query":"{b}"}}
        = violated: This connection has 1 operations already
        < {"id":"2","type":"error","payload":[{"message":"This connection has 1 operations already","extensions":{"code":"TOO_MANY_OPERATIONS"}}]}
        """)),
    Transcript(
      "a binary message: 4400",
      opened(
        """
        + binary
        = violated: Messages are text
        = close 4400 Messages are text
        """)),
    Transcript(
      "types of the older protocol: 4400 that names them",
      opened(
        """
        > {"type":"start","id":"1","payload":{"query":"{a}"}}
        = violated: Unknown message type start
        = close 4400 Unknown message type start
        """)),
    Transcript(
      "a shutdown ends operations, then closes; nothing is said afterwards",
      opened(
        """
        > {"type":"subscribe","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        + end 1001 bye
        = stop 1
        = close 1001 bye
        + next 1 {"data":1}
        > {"type":"ping"}
        + gone
        """)),
    Transcript(
      "a client that does not ask gets no cursors",
      opened(
        """
        > {"type":"subscribe","id":"1","payload":{"query":"{a}"}}
        = start 1 1 {a}
        + ready 1
        + live 1
        """)),
  ]

  @Test(arguments: serverRows) func `the server`(row: Transcript) {
    var limits = GraphQLTransportWS.ServerLimits()
    if let limit = row.limit { limits.operations = limit }
    row.play(DialectServer(GraphQLTransportWS.ServerMachine(limits: limits, at: .zero)))
  }

  private static func connected(_ rest: String) -> String {
    """
    + start 1 subscription{a}
    + open
    < {"type":"connection_init"}
    > {"type":"connection_ack"}
    = acknowledged
    < {"id":"1","type":"subscribe","payload":{"query":"subscription{a}"}}
    = started 1

    """ + rest
  }

  private static let clientRows: [Transcript] = [
    Transcript(
      "nothing but ping and pong before the acknowledgement",
      """
      + start 1 subscription{a}
      + open {"token":"t"}
      < {"type":"connection_init","payload":{"token":"t"}}
      > {"type":"ping"}
      < {"type":"pong"}
      = alive
      > {"type":"pong"}
      = alive
      > {"type":"connection_ack","payload":null}
      = acknowledged
      < {"id":"1","type":"subscribe","payload":{"query":"subscription{a}"}}
      = started 1
      """),
    Transcript(
      "the first message is something else: 4004",
      """
      + open
      < {"type":"connection_init"}
      > {"type":"next","id":"1","payload":{}}
      = close 4004
      """),
    Transcript(
      "no acknowledgement in time: 4504",
      """
      + open
      < {"type":"connection_init"}
      + wait 10
      = close 4504
      """),
    Transcript(
      "a validation error comes as error with a list (reference server)",
      connected(
        """
        > {"type":"error","id":"1","payload":[{"message":"no such field"}]}
        = failed 1 ["no such field"]
        """)),
    Transcript(
      "error with one object, with none and with null (other servers)",
      connected(
        """
        + start 2 {b}
        < {"id":"2","type":"subscribe","payload":{"query":"{b}"}}
        = started 2
        + start 3 {c}
        < {"id":"3","type":"subscribe","payload":{"query":"{c}"}}
        = started 3
        > {"type":"error","id":"1","payload":{"message":"one"}}
        = failed 1 ["one"]
        > {"type":"error","id":"2"}
        = failed 2 []
        > {"type":"error","id":"3","payload":null}
        = failed 3 []
        """)),
    Transcript(
      "a variable that does not fit comes as next without data, then complete (reference server)",
      connected(
        """
        > {"type":"next","id":"1","payload":{"errors":[{"message":"$x"}]}}
        = next 1 {"errors":[{"message":"$x"}]}
        > {"type":"complete","id":"1"}
        = completed 1
        """)),
    Transcript(
      "next with errors only is not the end",
      connected(
        """
        > {"type":"next","id":"1","payload":{"data":null,"errors":[{"message":"x"}]}}
        = next 1 {"data":null,"errors":[{"message":"x"}]}
        > {"type":"next","id":"1","payload":{"data":{"a":1}}}
        = next 1 {"data":{"a":1}}
        """)),
    Transcript(
      "unknown ids and unknown types are ignored",
      connected(
        """
        > {"type":"next","id":"9","payload":{"data":1}}
        > {"type":"error","id":"9","payload":[]}
        > {"type":"complete","id":"9"}
        > {"type":"novel","id":"1"}
        """)),
    Transcript(
      "complete once when cancelled, and nothing of it is sent afterwards",
      connected(
        """
        + cancel 1
        < {"id":"1","type":"complete"}
        > {"type":"next","id":"1","payload":{"data":1}}
        > {"type":"complete","id":"1"}
        """)),
    Transcript(
      "a ping is answered with its payload; a pong without one is a sign of life",
      connected(
        """
        > {"type":"ping","payload":{"n":1}}
        < {"type":"pong","payload":{"n":1}}
        = alive
        + wait 15
        < {"type":"ping"}
        > {"type":"pong"}
        = alive
        + wait 15
        < {"type":"ping"}
        + wait 10
        = close 4499
        """)),
    Transcript(
      "open operations are sent again under their ids; what may not be repeated is lost",
      connected(
        """
        + ask 2 mutation{b}
        < {"id":"2","type":"subscribe","payload":{"query":"mutation{b}"}}
        = started 2
        + drop
        = lost 2
        + open
        < {"type":"connection_init"}
        > {"type":"connection_ack"}
        = acknowledged
        < {"id":"1","type":"subscribe","payload":{"query":"subscription{a}"}}
        = started 1
        """)),
    Transcript(
      "a server of the older protocol names itself",
      """
      + open
      < {"type":"connection_init"}
      > {"type":"connection_ack"}
      = acknowledged
      > {"type":"ka"}
      = mismatched: graphql-ws
      """),
    Transcript(
      "text that is not a message: 4004",
      connected(
        """
        > nonsense
        = close 4004
        """)),
  ]

  @Test(arguments: clientRows) func `the client`(row: Transcript) throws {
    try row.play(DialectClient(GraphQLTransportWS.ClientMachine(wants: .none)))
  }
}
