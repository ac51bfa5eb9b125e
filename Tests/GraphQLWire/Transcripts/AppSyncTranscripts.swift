import MartletGraphQLWire
import Testing

@testable import MartletHTTPWire
@testable import MartletWire

/// AppSync's real-time protocol, row by row of its checklist, in both roles. How the authorization travels in the
/// handshake is in `AppSyncHandshakeTests`.
@Suite struct AppSyncTranscripts {
  private static func opened(_ rest: String) -> String {
    """
    > {"type":"connection_init"}
    = authenticate
    + accept
    < {"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}
    < {"type":"ka"}

    """ + rest
  }

  private static let serverRows: [Transcript] = [
    Transcript(
      "connection_init with an empty payload (gql); the acknowledgement says connectionTimeoutMs and nothing else",
      """
      > {"type":"connection_init","payload":{}}
      = authenticate {}
      + accept {"user":1}
      < {"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}
      < {"type":"ka"}
      """),
    Transcript(
      "ka well within connectionTimeoutMs",
      opened(
        """
        + wait 60
        < {"type":"ka"}
        + wait 60
        < {"type":"ka"}
        """)),
    Transcript(
      "messages before the acknowledgement are ignored",
      """
      > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{a}\\"}"}}
      > {"type":"stop","id":"1"}
      > {"type":"novel"}
      > {"type":"connection_init"}
      = authenticate
      > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{a}\\"}"}}
      """),
    Transcript(
      "start holds its request as text, and its own authorization; start_ack once it is live",
      opened(
        """
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"subscription{a}\\",\\"variables\\":{}}","extensions":{"authorization":{"host":"h"}}}}
        = start 1 1 subscription{a}
        + live 1
        < {"id":"1","type":"start_ack"}
        + live 1
        + ready 1
        + next 1 {"data":1}
        < {"id":"1","type":"data","payload":{"data":1}}
        """)),
    Transcript(
      "stop is confirmed by complete, and nothing for the id comes afterwards",
      opened(
        """
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{a}\\"}"}}
        = start 1 1 {a}
        > {"type":"stop","id":"1"}
        = stop 1
        < {"id":"1","type":"complete"}
        + live 1
        + next 1 {"data":1}
        + complete 1
        > {"type":"stop","id":"1"}
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{b}\\"}"}}
        = start 2 1 {b}
        """)),
    Transcript(
      "an id in use: error, and the connection and the running subscription stay",
      opened(
        """
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{a}\\"}"}}
        = start 1 1 {a}
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{b}\\"}"}}
        = violated: A subscription with id 1 exists already
        < {"id":"1","type":"error","payload":{"errors":[{"errorType":"DuplicatedOperationError","message":"A subscription with id 1 exists already"}]}}
        + next 1 {"data":1}
        < {"id":"1","type":"data","payload":{"data":1}}
        """)),
    Transcript(
      "one subscription too many: MaxSubscriptionsReachedError",
      limit: 1,
      opened(
        """
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{a}\\"}"}}
        = start 1 1 {a}
        > {"type":"start","id":"2","payload":{"data":"{\\"query\\":\\"{b}\\"}"}}
        = violated: This connection has 1 subscriptions already
        < {"id":"2","type":"error","payload":{"errors":[{"errorType":"MaxSubscriptionsReachedError","message":"This connection has 1 subscriptions already","errorCode":429}]}}
        """)),
    Transcript(
      "a start whose data is an object, is not JSON or is missing: BadRequestException of that id",
      opened(
        """
        > {"type":"start","id":"1","payload":{"data":{"query":"{a}"}}}
        = violated: start: "payload.data" must be a string that holds a JSON object
        < {"id":"1","type":"error","payload":{"errors":[{"errorType":"BadRequestException","message":"start: \\"payload.data\\" must be a string that holds a JSON object","errorCode":400}]}}
        > {"type":"start","id":"1"}
        = violated: start: "payload.data" must be a string that holds a JSON object
        < {"id":"1","type":"error","payload":{"errors":[{"errorType":"BadRequestException","message":"start: \\"payload.data\\" must be a string that holds a JSON object","errorCode":400}]}}
        > {"type":"start","id":"1","payload":{"data":"{}","extensions":{"authorization":1}}}
        = violated: start: "query" is missing; it must hold a GraphQL document
        < {"id":"1","type":"error","payload":{"errors":[{"errorType":"BadRequestException","message":"start: \\"query\\" is missing; it must hold a GraphQL document","errorCode":400}]}}
        """)),
    Transcript(
      "an unknown type: UnsupportedOperation; the connection stays",
      opened(
        """
        > {"type":"subscribe","id":"1"}
        = violated: Invalid message type! subscribe
        < {"id":"1","type":"error","payload":{"errors":[{"errorType":"UnsupportedOperation","message":"Invalid message type! subscribe","errorCode":400}]}}
        """)),
    Transcript(
      "text that is not a message: an error without id; the connection stays",
      opened(
        """
        > []
        = violated: A message is a JSON object
        < {"type":"error","payload":{"errors":[{"errorType":"BadRequestException","message":"A message is a JSON object","errorCode":400}]}}
        """)),
    Transcript(
      "credentials that do not reach: error of that id with UnauthorizedException",
      opened(
        """
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{a}\\"}"}}
        = start 1 1 {a}
        + fail 1 [{"message":"no","extensions":{"code":"UNAUTHENTICATED"}}]
        < {"id":"1","type":"error","payload":{"errors":[{"message":"no","extensions":{"code":"UNAUTHENTICATED"},"errorType":"UnauthorizedException","errorCode":401}]}}
        """)),
    Transcript(
      "refused at init: an error message, then the server closes",
      """
      > {"type":"connection_init"}
      = authenticate
      + refuse no such key
      < {"type":"connection_error","payload":{"errors":[{"errorType":"UnauthorizedException","message":"no such key","errorCode":401}]}}
      = close 1008 no such key
      """),
    Transcript(
      "no init in time: RequestTimeoutException, then the server closes",
      """
      + wait 3
      = violated: Connection initialisation timeout
      < {"type":"connection_error","payload":{"errors":[{"errorType":"RequestTimeoutException","message":"Connection initialisation timeout","errorCode":408}]}}
      = close 1008 Connection initialisation timeout
      """),
    Transcript(
      "a connection ends after a day",
      opened(
        """
        > {"type":"start","id":"1","payload":{"data":"{\\"query\\":\\"{a}\\"}"}}
        = start 1 1 {a}
        + wait 86400
        < {"type":"ka"}
        + wait 0
        = stop 1
        = close 1001 The connection has reached its maximum lifetime
        """)),
  ]

  @Test(arguments: serverRows) func `the server`(row: Transcript) {
    row.play(.appSync { if let limit = row.limit { $0.session.operations = limit } })
  }

  private static func connected(_ rest: String) -> String {
    """
    + start 1 subscription{a}
    + open {"host":"h"}
    < {"type":"connection_init"}
    > {"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}
    = acknowledged
    < {"id":"1","type":"start","payload":{"data":"{\\"query\\":\\"subscription{a}\\",\\"variables\\":{}}","extensions":{"authorization":{"host":"h"}}}}
    = started 1

    """ + rest
  }

  private static let clientRows: [Transcript] = [
    Transcript(
      "start_ack makes it live",
      connected(
        """
        > {"type":"start_ack","id":"1"}
        = confirmed 1
        > {"type":"data","id":"1","payload":{"data":1}}
        = next 1 {"data":1}
        """)),
    Transcript(
      "the absence of start_ack is not fatal",
      connected(
        """
        > {"type":"data","id":"1","payload":{"data":1}}
        = next 1 {"data":1}
        > {"type":"complete","id":"1"}
        = completed 1
        """)),
    Transcript(
      "no ka for connectionTimeoutMs: close and reconnect",
      connected(
        """
        + wait 299
        > {"type":"ka"}
        = alive
        + wait 299
        + wait 1
        = close 4499
        """)),
    Transcript(
      "stop every subscription before closing",
      connected(
        """
        + start 2 {b}
        < {"id":"2","type":"start","payload":{"data":"{\\"query\\":\\"{b}\\",\\"variables\\":{}}","extensions":{"authorization":{"host":"h"}}}}
        = started 2
        + leave
        < {"id":"1","type":"stop"}
        < {"id":"2","type":"stop"}
        > {"type":"complete","id":"1"}
        = completed 1
        """)),
    Transcript(
      "stop once when cancelled; its confirmation and what crossed it are dropped",
      connected(
        """
        + cancel 1
        < {"id":"1","type":"stop"}
        > {"type":"data","id":"1","payload":{"data":1}}
        > {"type":"complete","id":"1"}
        """)),
    Transcript(
      "error of one subscription; too many is reported with its type",
      connected(
        """
        > {"type":"error","id":"1","payload":{"errors":[{"errorType":"MaxSubscriptionsReachedError","message":"too many"}]}}
        = failed 1 ["too many"]
        """)),
    Transcript(
      "error of one subscription's credentials: it stays open for new ones",
      connected(
        """
        > {"type":"error","id":"1","payload":{"errors":[{"errorType":"UnauthorizedException","message":"expired"}]}}
        = unauthorized 1
        """)),
    Transcript(
      "error without id is about the connection; its errors may be one object",
      connected(
        """
        > {"type":"error","payload":{"errors":{"errorType":"LimitExceededError","message":"slow down","errorCode":429}}}
        = refused afterBackoff ["slow down"]
        """)),
    Transcript(
      "connection_error: by its type new credentials, later, or never",
      """
      + open {"host":"h"}
      < {"type":"connection_init"}
      > {"type":"connection_error","payload":{"errors":[{"errorType":"UnauthorizedException","errorCode":401}]}}
      = refused withNewCredentials ["-"]
      + drop
      + open {"host":"h"}
      < {"type":"connection_init"}
      > {"type":"connection_error","payload":{"errors":[{"errorType":"BadRequestException","errorCode":400,"message":"bad"}]}}
      = refused never ["bad"]
      """),
    Transcript(
      "a server of the older protocol names itself",
      """
      + open {"host":"h"}
      < {"type":"connection_init"}
      > {"type":"connection_ack"}
      = acknowledged
      + start 1 {a}
      < {"id":"1","type":"start","payload":{"data":"{\\"query\\":\\"{a}\\",\\"variables\\":{}}","extensions":{"authorization":{"host":"h"}}}}
      = started 1
      > {"id":"1","type":"error","payload":{"message":"Must provide a query."}}
      = mismatched: graphql-ws
      """),
  ]

  @Test(arguments: clientRows) func `the client`(row: Transcript) throws {
    try row.play(DialectClient.appSync)
  }
}
