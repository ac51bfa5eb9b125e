/// Every change to a block beside the renames. All other lines compile as they stand in the seeds.
enum SeedEdits {
  static let all: [BlockEdit] = todos + reviews + views + clients

  private static let todos = [
    BlockEdit(
      .unwrap, "000-1", line: 1, "5ee52bac", ">>", with: ">>?",
      because: "the function that cancels takes an optional, and a property needs a first value"),
    BlockEdit(
      .unwrap, "000-3", line: 5, "1eb79e64", "subscription {", with: "subscription! {",
      because: "a loop takes no optional"),
    BlockEdit(
      .placeholder, "000-6", line: 1, "497ce659", "...", with: "request: .subscription(of: Todo.self, type: .onCreate)",
      because: "dots for the request"),
    BlockEdit(
      .placeholder, "000-6", line: 3, "2438d03c", "...",
      with: "receiveCompletion: ended(for: \"all\"), receiveValue: shown(by: \"all\")", because: "dots for closures"),
    BlockEdit(
      .placeholder, "000-6", line: 4, "797b458f", "{...}", with: "{ isLong($0) }", because: "dots for a condition"),
    BlockEdit(
      .placeholder, "000-6", line: 4, "797b458f", "(...)",
      with: "(receiveCompletion: ended(for: \"filtered\"), receiveValue: shown(by: \"filtered\"))",
      because: "dots for closures"),
    BlockEdit(
      .moment, "000-6", line: 5, "c7cc5736", "sequence.c", with: "try await someTodos(); sequence.c",
      because: "todos are added while both listen"),
  ]

  private static let reviews = [
    BlockEdit(
      .address, "003-1", line: 8, "61d91de7", "\"https://example.com/graphql\"", with: "Served.http",
      because: "the run's server"),
    BlockEdit(
      .address, "003-1", line: 14, "08a7f005", "\"wss://example.com/graphql\"", with: "Served.socket",
      because: "the run's server"),
    BlockEdit(
      .placeholder, "003-3", line: 5, "bd3c1c8c", "// H", with: "handle(result) // H",
      because: "a comment for the handler; without one the result is unused, which is a warning"),
    BlockEdit(
      .placeholder, "003-4", line: 8, "69ab6409", "// h", with: "handle(result) // h",
      because: "a comment for the handler; without one the result is unused, which is a warning"),
  ]

  private static let views = [
    BlockEdit(
      .mainActor, "003-6", line: 1, "41b7c2eb", "@O", with: "@MainActor @O",
      because: "the view's task calls the model from the main actor"),
    BlockEdit(
      .initialiser, "003-7", line: 3, "e38467b5", "let", with: "var",
      because: "a variable of this type begins as nil; a constant leaves the class without initialisers"),
    BlockEdit(
      .platform, "004-2", line: 7, "72739b04", "@IBOutlet", with: "",
      because: "the attribute is known where there is Objective-C only"),
    BlockEdit(
      .empty, "004-2", line: 26, "13303e2f", "(let error):", with: ": break",
      because: "a case needs a statement, and an unused binding is a warning"),
  ]

  private static let clients = [
    BlockEdit(
      .mainActor, "004-1", line: 7, "87207f52", "class", with: "@MainActor class",
      because: "a shared instance with lazy properties belongs to one actor"),
    BlockEdit(
      .address, "004-1", line: 12, "69b41271", "\"ws://localhost:8080/websocket\"", with: "Served.socket",
      because: "the run's server"),
    BlockEdit(
      .address, "004-1", line: 19, "29d1e7fa", "\"http://localhost:8080/graphql\"", with: "Served.http",
      because: "the run's server"),
    BlockEdit(
      .mainActor, "004-3", line: 9, "87207f52", "class", with: "@MainActor class",
      because: "a shared instance with lazy properties belongs to one actor"),
    BlockEdit(
      .address, "004-3", line: 16, "69b41271", "\"ws://localhost:8080/websocket\"", with: "Served.socket",
      because: "the run's server"),
    BlockEdit(
      .address, "004-3", line: 24, "29d1e7fa", "\"http://localhost:8080/graphql\"", with: "Served.http",
      because: "the run's server"),
  ]
}
