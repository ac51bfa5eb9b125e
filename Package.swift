// swift-tools-version: 6.2
import PackageDescription

// The house. A target imports only from the floors below its own; Tests/House checks these edges.

/// The manifest for Apple platforms: without the targets that need Linux, and with the client over Foundation. On Linux
/// `MARTLET_MANIFEST=apple` shows it.
#if os(Linux)
  let isApple = Context.environment["MARTLET_MANIFEST"] == "apple"
#else
  let isApple = true
#endif

/// Whether the client goes over Foundation's network. On Linux `MARTLET_NETWORK=foundation` builds the same sources of the
/// client as Apple platforms do, beside the server, so that tests can run them.
let usesFoundation = isApple || Context.environment["MARTLET_NETWORK"] == "foundation"

let applePlatforms: [Platform] = [.macOS, .iOS, .tvOS, .watchOS, .visionOS]

/// Settings every Swift target shares: language mode 6, the upcoming features, warnings as errors.
let common: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
  .enableUpcomingFeature("ImmutableWeakCaptures"),
  // Other platforms have other compilers, whose new warnings must not stop an application's build.
  .treatAllWarnings(as: .error, .when(platforms: [.linux])),
]

/// Sources are also held to strict memory safety: every unsafe expression says so.
let strict: [SwiftSetting] = common + [.strictMemorySafety()]

func martlet(_ names: String...) -> [Target.Dependency] {
  names.map { .target(name: "Martlet\($0)") }
}

/// Modules that need Linux: no edge leads to them on another platform, nor with `MARTLET_NETWORK=foundation`.
func onLinux(_ names: String...) -> [Target.Dependency] {
  usesFoundation ? [] : names.map { .target(name: "Martlet\($0)", condition: .when(platforms: [.linux])) }
}

/// The client's network over Foundation, in place of those.
let foundationNetwork: [Target.Dependency] = [
  .target(
    name: "MartletFoundationNetwork", condition: usesFoundation && !isApple ? nil : .when(platforms: applePlatforms))
]

func module(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
  .target(
    name: "Martlet\(name)", dependencies: dependencies, path: "Sources/\(name)", exclude: exclude,
    swiftSettings: strict)
}

/// The folder of a module's sources for the network that is not used.
let otherNetwork = usesFoundation ? "Network/Linux" : "Network/Foundation"

func system(_ name: String, pkgConfig: String, package: String) -> Target {
  // Apple's systems have SQLite, and no pkg-config.
  .systemLibrary(
    name: name, path: "Sources/\(name)", pkgConfig: isApple ? nil : pkgConfig, providers: [.apt([package])])
}

func suite(
  _ name: String, _ dependencies: [Target.Dependency], exclude: [String] = [], sources: [String]? = nil,
  resources: [Resource] = [], settings: [SwiftSetting] = []
) -> Target {
  .testTarget(
    name: "\(name)Tests", dependencies: dependencies, path: "Tests/\(name)", exclude: exclude, sources: sources,
    resources: resources, swiftSettings: common + settings)
}

let floor0: [Target] = [
  module("Vocabulary"),
  module("JSON"),
  // GraphQL documents as a client needs them: read, printed, and the schema they describe.
  module("GraphQLDocuments"),
  // The same and what a server and the tools need besides: validation, the rules for type systems, introspection.
  module("GraphQLLanguage", martlet("GraphQLDocuments")),
  // The caller of a request, for every door and every kind of rule.
  module("Access", martlet("Vocabulary", "JSON")),
  // Regular expressions that are matched in linear time.
  module("Patterns"),
  // Models, predicates, records and rules of access, without GraphQL.
  module("Models", martlet("Vocabulary", "JSON", "Patterns", "Access")),
  // Reads models from schema documents and writes the schema that serves them.
  module("ModelSDL", martlet("Vocabulary", "JSON", "GraphQLLanguage", "Access", "Models")),
  // Signed tokens, their keys and their claims; signatures are checked on floor 1.
  module("Tokens", martlet("Vocabulary", "JSON", "Access")),
  module("ChangeFeed", martlet("Vocabulary", "JSON", "JSONTree", "Models")),
  // The DataStore's engine: outbox, images, syncs and uploads as decisions.
  module("SyncEngine", martlet("Vocabulary", "JSON", "Models")),
  // Results of queries, kept exact change by change.
  module("LiveQueries", martlet("JSON", "Models", "ChangeFeed")),
  // HTTP as a client needs it: messages, event streams, multipart, signatures.
  module("HTTPWire", martlet("Vocabulary")),
  // The same, and WebSockets, the server's end of HTTP and what proxies say of their clients.
  module("Wire", martlet("Vocabulary", "HTTPWire")),
  // The protocols of GraphQL as a client needs them: its machines, and what both ends share.
  module("GraphQLClientWire", martlet("Vocabulary", "JSON", "HTTPWire")),
  // The same and the server's machines.
  module("GraphQLWire", martlet("Vocabulary", "JSON", "Wire", "GraphQLClientWire")),
  // Traces: their place in requests, spans, what waits for a collector, and OTLP.
  module("Tracing", martlet("Vocabulary", "JSON")),
  // The files of the console in the browser; Embedded is written from Assets by Scripts/embed-console.
  .target(
    name: "MartletConsole", path: "Sources/Console", exclude: ["Assets"], swiftSettings: strict),
  // The synced tree: values, windows, the overlay of pending writes and the events derived from it.
  module("JSONTree", martlet("JSON")),
  // The rules that decide who may read and write which part of a tree.
  module("TreeRules", martlet("JSON", "Patterns", "JSONTree")),
  // The tree's WebSocket protocol and REST parameters, for both roles.
  module("TreeWire", martlet("Vocabulary", "JSON", "JSONTree", "Wire")),
  // Webhooks and push: what is delivered, in which order, how often, and what is kept of it.
  module("Channels", martlet("Vocabulary", "JSON", "JSONTree", "Wire")),
  // The client of the tree without its sockets: engine and protocol joined.
  module("TreeClient", martlet("Vocabulary", "JSON", "JSONTree", "TreeWire")),
]

let floor1: [Target] = [
  .target(name: "CMartletSystem", path: "Sources/CMartletSystem"),
  system("CMartletOpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
  system("CMartletZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
  system("CMartletCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
  system("CMartletSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
  module("Runtime", martlet("Vocabulary")),
  // The epoll loop and what its connections share: neither TLS nor WebSockets, so that who needs none links none.
  module("Loop", martlet("Vocabulary", "Runtime") + ["CMartletSystem"]),
  module(
    "Sockets",
    martlet("Vocabulary", "Runtime", "Wire", "Loop")
      + ["CMartletSystem", "CMartletOpenSSL", "CMartletZlib"]),
  module("Signatures", martlet("Tokens") + ["CMartletOpenSSL"]),
  module("HTTPClient", martlet("Vocabulary", "Runtime") + ["CMartletCurl"]),
  // Operations as types, the coding of Foundation's values, and the client's error: for the client and its store.
  module("GraphQLOperations", martlet("Vocabulary", "JSON")),
  .target(name: "CMartletVFS", dependencies: ["CMartletSQLite"], path: "Sources/CMartletVFS"),
  module("SQLite", martlet("Vocabulary", "Runtime") + ["CMartletSQLite", "CMartletVFS"]),
  // For tests: what a disk holds after a power cut.
  module("PowerCut", martlet("SQLite")),
]

let floor2: [Target] = [
  module("GraphQLExecution", martlet("Vocabulary", "JSON", "GraphQLLanguage", "Access", "Runtime")),
  // The client's normalized cache, its policies and its watchers.
  module("GraphQLStore", martlet("JSON", "GraphQLDocuments", "Runtime", "GraphQLOperations")),
  // The client of GraphQL servers, without a network of its own.
  module(
    "GraphQLClient",
    martlet(
      "Vocabulary", "JSON", "GraphQLClientWire", "HTTPWire", "Tracing", "Runtime", "GraphQLOperations")),
  // The client's network where there is no epoll: a dispatch queue as its loop, URLSession for HTTP and WebSockets.
  module("FoundationNetwork", martlet("Vocabulary", "Runtime", "HTTPWire", "GraphQLClient")),
  module("Generator", martlet("JSON", "GraphQLLanguage", "Models")),
  module(
    "Store",
    martlet(
      "Vocabulary", "JSON", "JSONTree", "Models", "ModelSDL", "ChangeFeed", "LiveQueries",
      "SyncEngine",
      "Runtime", "SQLite")),
]

let floor3: [Target] = [
  // The client's operations by way of its store: policies, watchers, optimistic updates.
  module("Cache", martlet("JSON", "GraphQLStore", "GraphQLClient")),
  // The client without WebSockets and without a store: a program that needs no more links neither OpenSSL nor zlib itself.
  module(
    "HTTP",
    martlet("GraphQLClient", "Runtime")
      + onLinux("Loop", "HTTPClient") + foundationNetwork, exclude: [otherNetwork]),
  // The whole client: what MartletHTTP has, the store, and WebSockets.
  .target(
    name: "Martlet",
    dependencies: martlet("Vocabulary", "GraphQLClient", "JSON", "Runtime", "HTTP", "Cache", "GraphQLStore")
      + onLinux("Sockets", "Wire") + foundationNetwork,
    path: "Sources/Martlet", exclude: [otherNetwork], swiftSettings: strict),
  module("SQLiteStore", martlet("JSON", "GraphQLStore", "SQLite")),
  // Finds schema and operations on disk for the generator; used by the command and by the plugin's tool.
  module("GenerateFiles", martlet("JSON", "GraphQLLanguage", "Models", "ModelSDL", "Generator")),
  module("Publishers", martlet("GraphQLClient", "Runtime")),
  // Models on the client's own disk, with live queries.
  module(
    "DataStore",
    martlet(
      "Vocabulary", "JSON", "Models", "LiveQueries", "SyncEngine", "Runtime", "SQLite",
      "Store",
      "GraphQLClient")),
  // The synced tree for applications.
  module(
    "Datasync",
    martlet(
      "Vocabulary", "JSON", "JSONTree", "TreeWire", "TreeClient", "Wire", "Runtime", "SQLite", "GraphQLClient")
      + ["Martlet"]),
  module(
    "Testing",
    martlet(
      "Vocabulary", "GraphQLClient", "JSON", "Models", "ModelSDL", "LiveQueries", "SyncEngine", "JSONTree", "TreeRules",
      "GraphQLWire", "Wire", "Runtime", "Simulation")),
  module(
    "Server",
    martlet(
      "Vocabulary", "JSON", "JSONTree", "TreeRules", "TreeWire", "GraphQLLanguage", "Access", "Models", "ModelSDL",
      "ChangeFeed", "GraphQLWire", "Wire", "Tracing", "Console", "Runtime", "Loop", "Sockets", "Tokens", "Signatures",
      "HTTPClient", "GraphQLExecution", "Store", "Channels")),
  // Not a product: the imaginary network and the seeded executor under which both shells run in tests.
  module("Simulation", martlet("Vocabulary", "JSON", "Models", "Runtime")),
]

let floor4: [Target] = [
  // What a program with subcommands is made of: specifications, parsing, help, exit codes, the console.
  module("CommandLine", martlet("Vocabulary", "GraphQLLanguage", "Runtime")),
  .executableTarget(
    name: "MartletCommand",
    dependencies: martlet(
      "Vocabulary", "JSON", "JSONTree", "TreeRules", "GraphQLLanguage", "Models", "ModelSDL", "ChangeFeed",
      "GraphQLWire",
      "Wire", "Runtime",
      "Loop", "Sockets", "Access", "Tokens", "Signatures",
      "HTTPClient", "SQLite", "GraphQLClient", "GraphQLExecution", "Store", "Server", "Generator", "GenerateFiles",
      "GraphQLStore", "SQLiteStore", "CommandLine")
      + ["Martlet", "CMartletSystem"],
    path: "Sources/Command", swiftSettings: strict),
  // Measures parts of Martlet and echoes WebSockets, for Benchmarks and Conformance; users do not need it.
  .executableTarget(
    name: "martlet-lab",
    dependencies: martlet(
      "Vocabulary", "JSON", "GraphQLLanguage", "Models", "ModelSDL", "ChangeFeed", "GraphQLWire", "Wire", "Runtime",
      "Loop",
      "Sockets", "SQLite", "GraphQLClient", "GraphQLExecution", "Store", "GraphQLStore", "SQLiteStore", "DataStore",
      "LiveQueries", "JSONTree", "Datasync",
      "CommandLine")
      + ["Martlet", "CMartletSystem", "CMartletSQLite"],
    path: "Sources/Lab", swiftSettings: strict),
  // Stores of clients, their server and all that goes wrong, under one seed.
  module(
    "StoreSimulation",
    martlet(
      "Vocabulary", "JSON", "Access", "Models", "ModelSDL", "ChangeFeed", "Runtime", "SQLite", "PowerCut", "Store",
      "GraphQLClient", "DataStore", "Server", "Simulation")),
  .executableTarget(
    name: "martlet-sim", dependencies: martlet("Vocabulary", "Runtime", "StoreSimulation"),
    path: "Sources/SimulationTool",
    swiftSettings: strict),
  // What the plugin runs: a program of its own, so that a user's build compiles neither sockets nor SQLite for it.
  .executableTarget(
    name: "martlet-generate", dependencies: martlet("GenerateFiles"), path: "Sources/GenerateTool",
    swiftSettings: strict),
  .plugin(
    name: "MartletGeneratePlugin", capability: .buildTool(), dependencies: ["martlet-generate"],
    path: "Plugins/MartletGeneratePlugin"),
]

// Whole small programs that use the products as a stranger would.
let examples: [Target] = [
  .executableTarget(
    name: "DepartureBoard", dependencies: ["Martlet", "MartletServer"], path: "Examples/DepartureBoard",
    exclude: ["Data", "schema.graphql", "run"], sources: ["Sources"], swiftSettings: strict),
  // The Swift of the README, as it stands there.
  .executableTarget(
    name: "TodoWatcher", dependencies: ["Martlet"], path: "Examples/TodoWatcher/Sources", swiftSettings: strict),
  // Views and their previews, which a Mac builds; elsewhere it prints what they show.
  .executableTarget(
    name: "LiveBoard", dependencies: ["Martlet", "MartletTesting"], path: "Examples/LiveBoard/Sources",
    swiftSettings: strict),
  .executableTarget(
    name: "HandWritten", dependencies: ["MartletServer"], path: "Examples/HandWritten/Sources",
    swiftSettings: strict),
  // Imports the client without WebSockets; Tests/HTTP looks at what it links.
  .executableTarget(
    name: "ShoppingList", dependencies: ["MartletHTTP"], path: "Examples/ShoppingList",
    exclude: ["README.md", "schema.graphql"], sources: ["Sources"], swiftSettings: strict),
  // Two stores and their server in one process.
  .executableTarget(
    name: "Checklist", dependencies: ["Martlet", "MartletDataStore", "MartletServer"], path: "Examples/Checklist",
    exclude: ["README.md", "schema.graphql"], sources: ["Sources"], swiftSettings: strict),
  .executableTarget(
    name: "Presence", dependencies: ["MartletDatasync"], path: "Examples/Presence",
    exclude: ["README.md", "rules.json", "run", "schema.graphql"], sources: ["Sources"], swiftSettings: strict),
  // Starts the command as a process, so that the command must be built with it.
  .executableTarget(
    name: "SeedTour",
    dependencies: [
      "Martlet", "MartletDataStore", "MartletDatasync", "MartletPublishers", "MartletServer", "MartletCommand",
    ],
    path: "Examples/SeedTour",
    exclude: ["Operations", "README.md", "martlet-generate.json", "rules.json", "run", "schema.graphql"],
    sources: ["Sources"], swiftSettings: strict, plugins: ["MartletGeneratePlugin"]),
]

/// Stands in for the allocator and counts; linked into test bundles only.
let testing: [Target] = [
  // A server for the tests of Foundation's network, in a process of its own.
  .executableTarget(
    name: "FoundationPeer", dependencies: ["MartletServer"], path: "Tests/FoundationServer/Peer",
    swiftSettings: common),
  .target(name: "CMartletAllocationCounter", path: "Sources/CMartletAllocationCounter"),
  // What several suites share.
  .target(
    name: "MartletTestSupport", dependencies: martlet("Vocabulary", "JSON", "Wire", "Runtime"), path: "Tests/Support",
    swiftSettings: common),
]

/// Tests of the client that need the server in their own process, or the client's own HTTP and WebSockets over bytes,
/// which are Linux's. The others are the same with Foundation's network.
let needLinuxNetwork = [
  "API/ModelEndToEndTests.swift", "EndToEnd", "HTTP/CompressedAnswerTests.swift", "Simulation/ItemResult.swift",
  "Simulation/Promises.swift", "Simulation/Scenario.swift", "Simulation/ServerSimulationTests.swift",
  "Simulation/SimulatedServer.swift", "Simulation/Tree", "Writes/AppliedOnceTests.swift",
]

let suites: [Target] = [
  suite("JSON", martlet("JSON")),
  suite("GraphQLLanguage", martlet("JSON", "GraphQLDocuments", "GraphQLLanguage")),
  suite("Access", martlet("Vocabulary", "JSON", "Access")),
  suite("Tokens", martlet("Vocabulary", "JSON", "Access", "Tokens", "Signatures") + ["CMartletOpenSSL"]),
  suite("Vocabulary", martlet("Vocabulary")),
  suite(
    "Models", martlet("Vocabulary", "JSON", "GraphQLLanguage", "Access", "Models", "ModelSDL", "Simulation")),
  suite("ChangeFeed", martlet("Vocabulary", "JSON", "Models", "ModelSDL", "ChangeFeed", "Simulation")),
  suite("LiveQueries", martlet("Vocabulary", "JSON", "Models", "ModelSDL", "ChangeFeed", "LiveQueries", "Simulation")),
  suite("SyncEngine", martlet("Vocabulary", "JSON", "Models", "ModelSDL", "SyncEngine", "Testing")),
  suite("Wire", martlet("Vocabulary", "JSON", "HTTPWire", "Wire", "Simulation", "TestSupport")),
  suite("Tracing", martlet("Vocabulary", "JSON", "Tracing", "Server") + ["Martlet"]),
  suite(
    "GraphQLWire",
    martlet("Vocabulary", "JSON", "Wire", "GraphQLClientWire", "GraphQLWire", "Simulation", "TestSupport")),
  suite("GraphQLExecution", martlet("JSON", "GraphQLLanguage", "GraphQLExecution", "Models", "ModelSDL", "Runtime")),
  suite(
    "Sockets",
    martlet(
      "Vocabulary", "JSON", "GraphQLWire", "Wire", "Runtime", "Loop", "Sockets", "HTTPClient", "Server", "TestSupport")
      + ["Martlet", "CMartletSystem", "CMartletOpenSSL", "CMartletZlib"]),
  suite(
    "Store",
    martlet(
      "Vocabulary", "JSON", "JSONTree", "GraphQLLanguage", "Models", "ModelSDL", "ChangeFeed", "Runtime", "SQLite",
      "PowerCut", "Store", "Simulation")
      + ["CMartletSQLite"], resources: [.copy("Fixtures")]),
  suite("GraphQLOperations", martlet("GraphQLOperations")),
  usesFoundation
    ? suite(
      "GraphQLClient",
      martlet(
        "Vocabulary", "JSON", "Models", "ModelSDL", "GraphQLWire", "Wire", "Runtime", "GraphQLClient", "Testing",
        "Simulation") + ["Martlet"], exclude: needLinuxNetwork)
    : suite(
      "GraphQLClient",
      martlet(
        "Vocabulary", "JSON", "Models", "ModelSDL", "ChangeFeed", "GraphQLWire", "Wire", "Runtime", "GraphQLClient",
        "SQLiteStore", "Testing", "Sockets", "Simulation", "Datasync", "JSONTree",
        "SQLite", "Store", "Server", "GraphQLExecution", "HTTPClient")
        + ["Martlet"]),
  suite(
    "Server",
    martlet(
      "Vocabulary", "JSON", "JSONTree", "TreeRules", "TreeWire", "GraphQLLanguage", "Access", "Models", "ModelSDL",
      "ChangeFeed", "GraphQLWire", "Wire", "Tracing", "Console", "Runtime", "Loop", "Sockets",
      "HTTPClient", "SQLite", "GraphQLClient", "GraphQLExecution", "Store", "Server", "Simulation", "Testing",
      "TestSupport")
      + ["Martlet", "MartletCommand", "CMartletAllocationCounter"]),
  suite(
    "Command",
    martlet(
      "Vocabulary", "JSON", "Access", "Tokens", "SQLite", "Server", "SQLiteStore", "Publishers", "CommandLine",
      "TestSupport")
      + ["Martlet", "MartletCommand", "martlet-lab", "TodoWatcher", "CMartletAllocationCounter"]),
  // The complete files of docs/guides, and what they do with a server.
  suite(
    "Guides",
    martlet(
      "Runtime", "HTTP", "Signatures", "Server", "Publishers", "SQLiteStore", "Testing", "DataStore", "Datasync",
      "TestSupport")
      + ["Martlet", "MartletCommand"]),
  suite("DepartureBoard", martlet("Vocabulary", "Runtime") + ["Martlet", "DepartureBoard"]),
  suite("HandWritten", ["Martlet", "MartletServer", "HandWritten"]),
  suite("Presence", martlet("TestSupport") + ["Presence", "MartletCommand"]),
  suite("SeedTour", ["Martlet", "MartletDataStore", "MartletPublishers", "MartletCommand", "SeedTour"]),
  suite("HTTP", martlet("HTTP", "Cache", "Runtime", "Server", "TestSupport") + ["ShoppingList", "MartletCommand"]),
  suite(
    "FoundationNetwork",
    martlet(
      "Vocabulary", "JSON", "Wire", "Runtime", "GraphQLClient", "FoundationNetwork", "Simulation", "Testing")
      // An initialiser of the client's that exists with Foundation's network alone.
      + ["Martlet"], exclude: usesFoundation ? [] : ["Transport"]),
  // Its servers are processes, which a build with Foundation's network takes from the ordinary one.
  suite(
    "FoundationServer",
    martlet("JSON", "Runtime", "FoundationNetwork", "TestSupport") + ["Martlet"]
      + (usesFoundation ? [] : ["MartletCommand", "FoundationPeer"]), exclude: ["Peer"]),
  suite(
    "GraphQLStore",
    martlet(
      "Vocabulary", "JSON", "GraphQLLanguage", "Runtime", "GraphQLOperations", "GraphQLStore", "SQLite", "SQLiteStore")),
  suite("Interoperation", martlet("Vocabulary", "JSON", "Server", "TestSupport") + ["Martlet"]),
  suite(
    "Generator",
    martlet(
      "JSON", "GraphQLLanguage", "Models", "ModelSDL", "Generator", "GenerateFiles", "GraphQLClient", "DataStore")
      + ["Martlet"],
    resources: [.copy("Fixtures")]),
  usesFoundation
    ? suite(
      "Publishers", martlet("Runtime", "Publishers") + ["Martlet"],
      exclude: ["Bridge/DisconnectionTests.swift", "Samples", "Support/TickServer.swift"])
    : suite(
      "Publishers",
      martlet(
        "Vocabulary", "JSON", "GraphQLClient", "Runtime", "Testing", "Simulation", "Server", "GraphQLExecution",
        "Publishers")
        + ["Martlet"]),
  // Code as applications have it, whose default isolation is the main actor.
  suite(
    "MainActor", martlet("Publishers", "DataStore") + (usesFoundation ? [] : martlet("Server")) + ["Martlet"],
    exclude: usesFoundation ? ["ScreenTests.swift"] : [], settings: [.defaultIsolation(MainActor.self)]),
  // Scratch holds programs that are compiled by the tests, around blocks that are not in the project.
  suite(
    "Seeds", martlet("Sockets", "Server", "Publishers", "DataStore") + ["Martlet", "MartletCommand"],
    exclude: ["Scratch"]),
  suite("JSONTree", martlet("Vocabulary", "JSON", "JSONTree", "Testing")),
  suite("TreeRules", martlet("Vocabulary", "JSON", "JSONTree", "Patterns", "TreeRules", "Testing")),
  suite("Channels", martlet("Vocabulary", "JSON", "JSONTree", "Wire", "Channels")),
  suite("TreeWire", martlet("Vocabulary", "JSON", "JSONTree", "TreeWire")),
  suite("TreeClient", martlet("Vocabulary", "JSON", "JSONTree", "TreeWire", "TreeClient")),
  usesFoundation
    ? suite(
      "Datasync", martlet("Vocabulary", "Runtime", "GraphQLClient", "Datasync", "Simulation"),
      sources: ["RefusedUpgradeTests.swift"])
    : suite(
      "Datasync",
      martlet(
        "Vocabulary", "JSON", "JSONTree", "TreeWire", "TreeClient", "Wire", "Runtime", "GraphQLClient", "Datasync",
        "Server", "Simulation", "TestSupport") + ["Martlet"]),
  suite(
    "DataStore",
    martlet(
      "Vocabulary", "JSON", "Models", "ModelSDL", "Runtime", "LiveQueries", "SyncEngine", "SQLite", "PowerCut",
      "Store", "GraphQLClient", "DataStore", "Publishers", "Simulation", "TestSupport")
      + (usesFoundation ? [] : ["martlet-lab"]), exclude: usesFoundation ? ["Processes"] : []),
  // Stores and the servers they are synced with.
  suite(
    "DataStoreSync",
    martlet(
      "Vocabulary", "JSON", "Models", "Access", "Runtime", "Store", "SyncEngine", "GraphQLClient", "DataStore",
      "Server", "HTTP", "TestSupport")
      + ["Martlet", "martlet-lab"]),
  suite("StoreSimulation", martlet("StoreSimulation") + ["martlet-sim"]),
  suite("Checklist", martlet("Runtime", "Server", "DataStore") + ["Checklist"]),
  // A server with webhooks and push, their receivers, and clients that subscribe them.
  suite(
    "ChannelDelivery",
    martlet("JSON", "Runtime", "Access", "Signatures", "Server", "Datasync", "TestSupport") + ["MartletCommand"]),
  suite("House", []),
]

let command = Product.executable(name: "martlet", targets: ["MartletCommand"])
let lab = Product.executable(name: "martlet-lab", targets: ["martlet-lab"])

let products: [Product] = [
  .library(name: "Martlet", targets: ["Martlet"]),
  .library(name: "MartletHTTP", targets: ["MartletHTTP"]),
  .library(name: "MartletCache", targets: ["MartletCache"]),
  .library(name: "MartletServer", targets: ["MartletServer"]),
  .library(name: "MartletPublishers", targets: ["MartletPublishers"]),
  .library(name: "MartletDataStore", targets: ["MartletDataStore"]),
  .library(name: "MartletDatasync", targets: ["MartletDatasync"]),
  .library(name: "MartletTesting", targets: ["MartletTesting"]),
  .library(name: "MartletSQLiteStore", targets: ["MartletSQLiteStore"]),
  command,
  lab,
  .plugin(name: "MartletGeneratePlugin", targets: ["MartletGeneratePlugin"]),
]

/// What one works on, in place of everything: `MARTLET_SUITES=Store,Models swift test` builds these suites and what they
/// need, and nothing else. Without the variable everything is built.
let everything = floor0 + floor1 + floor2 + floor3 + floor4 + examples + testing + suites

func reachable(from names: [String], in everything: [Target]) -> Set<String> {
  var found: Set<String> = []
  var pending = names
  while let name = pending.popLast() {
    guard found.insert(name).inserted, let target = everything.first(where: { $0.name == name }) else { continue }
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): pending.append(name)
      default: continue
      }
    }
    // The plugin is the only one, and its tool is all that it needs.
    if target.plugins?.isEmpty == false { pending += ["MartletGeneratePlugin", "martlet-generate"] }
  }
  return found
}

/// Targets that do not exist in the manifest for Apple platforms, and with them everything that needs one.
let linuxOnly: Set<String> = [
  "CMartletSystem", "CMartletOpenSSL", "CMartletZlib", "CMartletCurl", "CMartletAllocationCounter", "MartletLoop",
  "MartletSockets", "MartletSignatures", "MartletHTTPClient",
  // Its servers are Linux's programs.
  "FoundationServerTests",
]

let available = everything.filter { !isApple || reachable(from: [$0.name], in: everything).isDisjoint(with: linuxOnly) }

let chosen = Context.environment["MARTLET_SUITES"]
  .map { reachable(from: $0.split(separator: ",").map { "\($0)Tests" }, in: everything) }

extension Product {
  var targetNames: Set<String> {
    switch self {
    case let library as Library: Set(library.targets)
    case let program as Executable: Set(program.targets)
    case let plugin as Plugin: Set(plugin.targets)
    default: []
    }
  }
}

/// The oldest systems that the client is for. The tests use `MartletTesting`, whose virtual time needs newer ones:
/// `MARTLET_PLATFORMS=newer swift test` on a Mac.
let platforms: [SupportedPlatform] =
  Context.environment["MARTLET_PLATFORMS"] == "newer"
  ? [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)]
  : [.macOS(.v14), .iOS(.v17), .tvOS(.v17), .watchOS(.v10), .visionOS(.v1)]

let package = Package(
  name: "martlet",
  platforms: platforms,
  // Tests run the command under the name of its product.
  products: chosen.map { $0.contains("MartletCommand") ? [command] : [] }
    ?? products.filter { $0.targetNames.isSubset(of: available.map(\.name)) },
  targets: available.filter { chosen?.contains($0.name) ?? true }
)
