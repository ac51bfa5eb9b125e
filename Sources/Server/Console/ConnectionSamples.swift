internal import MartletGraphQLLanguage

/// Programs that connect to a server, for the page at `/`: complete, with its address and a subscription of its schema.
struct ConnectionSamples {
  let host: String
  let isSecure: Bool
  /// Nil where callers may not see the schema.
  let schema: Schema?
  let needsKey: Bool

  private var http: String { "\(isSecure ? "https" : "http")://\(host)/graphql" }

  /// A subscription of the schema: its first field without required arguments, with up to three values.
  var document: String {
    guard let schema else { return "subscription { onCreateTodo { id text } }" }
    for (kind, root) in [("subscription", schema.subscriptionType), ("query", schema.queryType)] {
      guard let field = root?.fields.first(where: { !$0.arguments.contains(where: \.isRequired) }) else { continue }
      let type = schema[field.type.named]
      guard !type.fields.isEmpty else { return "\(kind) { \(field.name) }" }
      let leaves = type.fields.filter { field in
        schema[field.type.named].isLeaf && !field.arguments.contains(where: \.isRequired)
      }.map(\.name)
      return
        "\(kind) { \(field.name) { \((leaves.isEmpty ? ["__typename"] : leaves.prefix(3)).joined(separator: " ")) } }"
    }
    return "query { __typename }"
  }

  /// The word before a module's name, which house tests would take for an import of this file.
  private var load: String { "import" }
  /// What the samples write their events with.
  private var output: String { "print" }

  var swift: String {
    """
    \(load) Foundation
    \(load) Martlet

    let url = URL(string: "\(http)")!
    let client = try GraphQLClient(url: url)
    let query = "\(document)"
    let stream = client.subscribe(query, as: JSONValue.self)
    for try await event in stream {
      // The client comes back and resumes by itself; only what the server no longer has is a gap.
      if let gap = event.gap { \(output)("Events are missing: \\(gap.reason.rawValue)") }
      if let data = event.data { \(output)(data) }
    }
    """
  }

  var javaScript: String {
    """
    const url = new URL('\(http)/stream');
    url.search = new URLSearchParams({
      query: '\(document)',
      extensions: JSON.stringify({ martlet: { cursors: true } }),
    });
    const events = new EventSource(url);
    events.addEventListener('next', (event) => {
      const { data, errors, extensions } = JSON.parse(event.data);
      const { ready, gap } = extensions?.martlet ?? {};
      if (ready) console.log('live after', ready.cursor);
      if (gap) console.warn('events are missing', gap);
      if (errors) console.error(errors);
      if (data) console.log(event.lastEventId, data);
    });
    events.addEventListener('complete', () => events.close());
    """
  }

  var shell: String {
    let key = needsKey ? " -H \"x-api-key: $KEY\"" : ""
    let quoted = "'\(document)'"
    return """
      martlet subscribe \(http) \(quoted)\(needsKey ? " --header \"x-api-key: $KEY\"" : "")

      curl -N\(key) -H 'Content-Type: application/json' \\
        \(http)/stream -d '{"query":"\(document)"}'
      """
  }
}
