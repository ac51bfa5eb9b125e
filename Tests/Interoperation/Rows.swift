/// Every protocol, both ends, and the peers that speak it.
extension Row {
  static let all = servers + clients

  private static let subscriptions: [Check] = [.values, .errors, .completion, .cancellation, .reconnect]

  /// This package is the server.
  private static let servers: [Row] = [
    Row(
      spoken: "graphql-transport-ws", end: .server, packages: ["gql", "websockets"], peer: "gql",
      dialect: "transport-ws",
      checks: Check.allCases),
    Row(
      spoken: "graphql-transport-ws", end: .server, packages: ["gql", "aiohttp"], peer: "gql",
      dialect: "transport-ws+aiohttp", checks: Check.allCases),
    Row(
      spoken: "graphql-ws", end: .server, packages: ["gql", "websockets"], peer: "gql", dialect: "legacy",
      checks: Check.allCases),
    Row(
      spoken: "graphql-ws", end: .server, packages: ["gql", "aiohttp"], peer: "gql", dialect: "legacy+aiohttp",
      checks: Check.allCases),
    Row(
      spoken: "graphql-ws", end: .server, packages: ["sgqlc", "websocket-client"], peer: "sgqlc", dialect: "legacy",
      checks: Check.allCases, without: "leaves by closing the connection"),
    Row(
      spoken: "AppSync", end: .server, packages: ["gql", "websockets"], peer: "gql", dialect: "appsync",
      checks: subscriptions + [.keys], without: "subscriptions only"),
    Row(
      spoken: "AppSync, by token", end: .server, packages: ["gql", "websockets"], peer: "gql", dialect: "appsync-jwt",
      checks: subscriptions + [.keys], without: "subscriptions only"),
    Row(
      spoken: "AppSync", end: .server, packages: ["appsync-ws-client", "websocket-client"], peer: "appsync",
      dialect: "appsync", checks: [.values, .errors, .cancellation],
      without: "reports no completion, does not subscribe again, waits without end when refused"),
    Row(
      spoken: "multipart", end: .server, packages: ["gql", "aiohttp"], peer: "gql", dialect: "multipart",
      checks: Check.allCases),
    Row(
      spoken: "server-sent events", end: .server, packages: ["httpx-sse", "httpx"], peer: "sse", dialect: "sse",
      checks: Check.allCases),
    Row(
      spoken: "server-sent events, one stream", end: .server, packages: ["httpx-sse", "httpx"], peer: "sse",
      dialect: "sse-single", checks: subscriptions + [.keys], without: "subscriptions tried only"),
  ]

  /// This package is the client.
  private static let clients: [Row] = [
    Row(
      spoken: "graphql-transport-ws", end: .client, packages: ["strawberry-graphql", "uvicorn"], peer: "strawberry",
      dialect: "transport-ws", checks: subscriptions + [.requests], without: keys),
    Row(
      spoken: "graphql-transport-ws", end: .client, packages: ["ariadne", "uvicorn"], peer: "ariadne",
      dialect: "transport-ws", checks: subscriptions + [.requests], without: keys),
    Row(
      spoken: "graphql-ws", end: .client, packages: ["strawberry-graphql", "uvicorn"], peer: "strawberry",
      dialect: "legacy", checks: subscriptions, without: "takes subscriptions only"),
    Row(
      spoken: "graphql-ws", end: .client, packages: ["ariadne", "uvicorn"], peer: "ariadne", dialect: "legacy",
      checks: subscriptions + [.requests], without: keys),
    Row(
      spoken: "multipart", end: .client, packages: ["strawberry-graphql", "uvicorn"], peer: "strawberry",
      dialect: "multipart", checks: subscriptions + [.requests], without: keys),
    Row(
      spoken: "server-sent events", end: .client, packages: ["strawberry-graphql", "uvicorn"], peer: "strawberry",
      dialect: "sse", checks: subscriptions + [.requests], without: keys),
    Row(
      spoken: "server-sent events", end: .client, packages: ["ariadne", "uvicorn"], peer: "ariadne", dialect: "sse",
      checks: subscriptions + [.requests], without: keys),
  ]

  private static let keys = "asks for no key"
}
