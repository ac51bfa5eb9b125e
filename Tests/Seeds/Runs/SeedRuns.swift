/// The run of every block.
enum SeedRuns {
  static let all: [SeedRun] = todos + posts + reviews + views + clients

  /// What is said of a todo without a description, in the standard library's words.
  private static let noDescription: String = {
    let context = DecodingError.Context(
      codingPath: [DescriptionKey.description], debugDescription: "Expected text, found null.")
    return "the answer is no Todo: \(DecodingError.valueNotFound(String.self, context))"
  }()

  private enum DescriptionKey: String, CodingKey {
    case description
  }

  private static let todos = [
    SeedRun("follow-todos", of: ["000-1", "000-3", "000-5"]) { printed in
      [
        printed("000-3", 3, "Martlet.configure has not been called"),
        printed("000-3", 0, "connecting"),
        printed("000-3", 0, "connected"),
        printed("000-3", 1, #"Todo(id: "1", name: "milk", description: "two litres")"#),
        printed("000-3", 2, noDescription),
        printed("000-3", 1, #"Todo(id: "3", name: "tea", description: "green")"#),
        printed("000-3", 0, "disconnected"),
        "over",
      ]
    },
    SeedRun("sink-todos", of: ["000-2", "000-4", "000-5"]) { printed in
      [
        printed("000-4", 0, "Martlet.configure has not been called"),
        printed("000-4", 2, "connecting"),
        printed("000-4", 2, "connected"),
        printed("000-4", 3, #"Todo(id: "1", name: "milk", description: "two litres")"#),
        printed("000-4", 4, noDescription),
        printed("000-4", 3, #"Todo(id: "3", name: "tea", description: "green")"#),
        "cancelled",
        printed("000-4", 2, "connecting"),
        printed("000-4", 2, "connected"),
        printed("000-4", 3, #"Todo(id: "5", name: "soap", description: "the last")"#),
        printed("000-4", 2, "disconnected"),
        printed("000-4", 1),
        "over",
      ]
    },
    SeedRun("cancel-sequence", of: ["000-6"]) { _ in
      [
        "all: connecting", "all: connected", "all: milk", "all: bread", "filtered: bread", "all: finished",
        "filtered: finished", "over: finished(cancelled)",
      ]
    },
    SeedRun("cancel-subscriber", of: ["000-7"]) { _ in
      [
        "all: connecting", "all: connected", "all: milk", "filtered: milk", "filtered: finished",
        "over: finished(cancelled)",
      ]
    },
  ]

  private static let posts = [
    SeedRun(
      "follow-posts", of: ["001-1"], server: .versionedPosts,
      // The feed's copy of the store's own write comes before the answer to it, or after it and says nothing new.
      besides: { [$0("001-1", 0, #"update Post 1 (live): {"id":"1","title":"post one","rating":11.0}"#)] }
    ) { printed in
      [
        printed("001-1", 1, "there is no DataStore. Call Martlet.configure(dataStore:) when the program starts."),
        printed("001-1", 0, #"create Post 1 (local): {"id":"1","title":"post one","rating":11.0}"#),
        printed("001-1", 0, #"update Post 1 (mutationResponse): {"id":"1","title":"post one","rating":11.0}"#),
        printed("001-1", 0, #"create Post 2 (live): {"id":"2","title":"post two","rating":12.0}"#),
        "stopped",
        "started",
        printed("001-1", 0, #"create Post 3 (live): {"id":"3","title":"post three","rating":13.0}"#),
        printed("001-1", 0, #"delete Post 1 (local): {"id":"1","title":"post one","rating":11.0}"#),
        "over",
      ]
    },
    SeedRun("sink-posts", of: ["001-2"], server: .none) { printed in
      [
        printed("001-2", 0, "there is no DataStore. Call Martlet.configure(dataStore:) when the program starts."),
        printed("001-2", 1, #"create Post 1 (local): {"id":"1","title":"post one","rating":11.0}"#),
        printed("001-2", 1, #"update Post 1 (local): {"id":"1","title":"post one","rating":7.5}"#),
        "stopped",
        printed("001-2", 1, #"delete Post 1 (local): {"id":"1","title":"post one","rating":7.5}"#),
        "cancelled",
        "over",
      ]
    },
    SeedRun("query-posts", of: ["001-3"], server: .versionedPosts) { printed in
      [
        printed("001-3", 0, "0", "false"),
        printed("001-3", 0, "1", "true"),
        printed("001-3", 0, "2", "true"),
        "over",
      ]
    },
    SeedRun("sink-query", of: ["001-4"], server: .none) { printed in
      [
        printed("001-4", 0, "there is no DataStore. Call Martlet.configure(dataStore:) when the program starts."),
        printed("001-4", 1, "1", "true"),
        printed("001-4", 1, "2", "true"),
        printed("001-4", 1, "1", "true"),
        "cleared",
        printed("001-4", 1, "0", "true"),
        printed("001-4", 1, "1", "true"),
        "cancelled",
        "over",
      ]
    },
  ]

  private static let reviews = [
    SeedRun("split-transport", of: ["003-1"], operations: .block(BlockName("003", 2))) { _ in
      [
        "pending", "active", "review 1", "written 2, paused", "review 2", "listed 2", "ended",
        "over: finished(cancelled)",
      ]
    },
    SeedRun("generated-operation", of: ["003-2"], operations: .block(BlockName("003", 2))) { _ in
      ["subscription ReviewAdded", "id 0, stars 3", "id 1, stars 4", "id 2, stars 5"]
    },
    SeedRun("subscribe", of: ["003-3"], operations: .block(BlockName("003", 2))) { _ in
      ["5 stars", "1 stars", "over: finished(cancelled)"]
    },
    SeedRun("lifecycle-states", of: ["003-4"], server: .none, operations: .block(BlockName("003", 2))) { _ in
      ["pending", "active", "5 stars", "active", "1 stars", "finished(completed)", "over"]
    },
  ]

  private static let views = [
    SeedRun("view-task", of: ["003-5"], operations: .block(BlockName("003", 2))) { printed in
      [printed("003-5", 0, by: "ProgressView"), "review 1: 5 stars", "review 2: 1 stars", "over"]
    },
    SeedRun("view-model", of: ["003-6"], operations: .block(BlockName("003", 2))) { _ in
      [
        "nothing yet, well", "review 1: 5 stars, well", "review 2: 1 stars, well",
        "nothing yet, well", "nothing yet, nobody is there", "over",
      ]
    },
    SeedRun("view-controller", of: ["003-7"], operations: .block(BlockName("003", 2))) { printed in
      ["5 stars", "1 stars", printed("003-7", 0, "nobody is there"), "over"]
    },
  ]

  private static let clients = [
    SeedRun("shared-client", of: ["004-1"], operations: .tour) { _ in
      [
        "active", "written 1", "written 2", "review 2", "listed 2", "from the store 2", "the same client: true",
      ]
    },
    SeedRun("review-list", of: ["004-2"], operations: .tour) { _ in
      ["JEDI 5 Ewoks!", "JEDI 5 Ewoks!; NEWHOPE 4 -", "the controller is gone"]
    },
    SeedRun(
      "authorized-client", of: ["004-3"], server: .keyed(BlockName("004", 3), constant: "magicToken"),
      operations: .tour
    ) { _ in
      ["active", "review 1", "by HTTP: unauthorized", "without the token: unauthorized"]
    },
  ]
}
