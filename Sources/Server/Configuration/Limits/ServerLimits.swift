/// Every bound the server sets, with its default and reason, in groups by what they bound. They are
/// `ServerConfiguration.limits`, and hold from the moment the server is made.
///
/// ```swift
/// configuration.limits.http.bodyBytes = 4 * 1_048_576
/// configuration.limits.query.complexity = 50_000
/// ```
///
/// `martlet serve --limit http.bodyBytes=4MiB` and `--limits FILE` set the same bounds by the same names.
/// `docs/guides/limits.md` lists all of them.
public struct ServerLimits: Sendable {
  /// Connections, requests and streamed responses over HTTP, the event loops, and the end of the server.
  public var http = HTTP()
  /// WebSockets, in every protocol that is spoken on them.
  public var webSocket = WebSocket()
  /// What is served to one client, and how much of it in one turn of an event loop.
  public var session = Session()
  /// What one connection, one identity and one address may use.
  public var callers = Callers()
  /// What one GraphQL operation may cost.
  public var query = Query()
  /// The embedded store: writes, reads, the change log and its files.
  public var store = Store()
  /// The synced tree: values, connections and rules.
  public var tree = Tree()
  /// Webhooks and push.
  public var channels = Channels()
  /// Tokens and the key sets that they are checked with.
  public var access = Access()
  /// The server's own log.
  public var log = Log()
  /// Traces for a collector.
  public var tracing = Tracing()
  /// The console in the browser.
  public var console = Console()

  /// The defaults.
  public init() {}
}
