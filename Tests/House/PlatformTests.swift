import Foundation
import Testing

/// What the client's products compile on Apple platforms uses only what exists there and here, and says where it does
/// not.
@Suite struct PlatformTests {
  /// Modules of the client's products, without those that the manifest leaves out on Apple platforms.
  static let modules = [
    "Access", "Cache", "GraphQLClient", "FoundationNetwork", "GraphQLDocuments", "GraphQLLanguage", "GraphQLOperations",
    "GraphQLStore", "GraphQLClientWire", "GraphQLWire", "HTTP", "JSON",
    "JSONTree",
    "Martlet", "Models", "ModelSDL", "Patterns", "Publishers", "Runtime", "SQLite", "SQLiteStore", "Simulation",
    "Testing",
    "Vocabulary",
    "HTTPWire", "Wire", "Tracing",
    // MartletDataStore's.
    "ChangeFeed", "DataStore", "LiveQueries", "Store", "SyncEngine",
    // MartletDatasync's.
    "Datasync", "TreeClient", "TreeRules", "TreeWire",
  ]

  /// The files with conditions by platform, and why they need one.
  private static let reasons: [String: String] = [
    "Sources/Runtime/Bell.swift": "condition variables: Darwin waits relatively, Glibc by a chosen clock",
    "Sources/Runtime/Lock.swift": "the system's cheapest lock",
    "Sources/Runtime/MonotonicClock.swift": "the name of the C library",
    "Sources/Runtime/SystemThread.swift": "`pthread_t` is a number or an optional pointer",
    "Sources/Runtime/ThreadNiceness.swift": "a thread's niceness is a class of quality on Darwin",
    "Sources/Runtime/ThreadMark.swift": "a thread's identity is a pointer or a number",
    "Sources/Runtime/WallClock.swift": "the name of the C library",
    "Sources/Runtime/WriteSignals.swift": "the name of the C library",
    "Sources/Simulation/Executor/SimulatedExecutor.swift": "the name of the C library; a thread's identity",
    "Sources/GraphQLClient/Subscriptions/Cancellable.swift": "Combine has the protocol",
    "Sources/FoundationNetwork/Sockets/SessionSockets.swift": "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Environment/FoundationEnvironment.swift": "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Environment/SystemProxy.swift": "Foundation on Linux ignores the proxies of a session",
    "Sources/FoundationNetwork/Sessions/SessionDelegation.swift": "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Sessions/SessionObserver.swift":
      "URLSession is a module of its own on Linux; a delegate's methods are optional on Darwin alone",
    "Sources/FoundationNetwork/Sessions/SessionRelay+passwords.swift":
      "Foundation on Linux does not end a task whose password is not given",
    "Sources/FoundationNetwork/Sessions/SessionRelay.swift":
      "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Trust/SystemTrust.swift": "the Security framework evaluates certificates",
    "Sources/FoundationNetwork/Exchanges/SessionTasks.swift":
      "URLSession is a module of its own on Linux, where a suspended task delivers pieces twice",
    "Sources/FoundationNetwork/Exchanges/HTTPExchangeError+system.swift": "URLSession is a module of its own on Linux",
    "Sources/GraphQLClient/Client/LiveValue.swift": "SwiftUI has property wrappers of views",
    "Sources/HTTP/Auth/KeychainCredentialStorage.swift": "the Security framework has the keychain",
    "Sources/HTTP/Network/Foundation/SystemSurroundings.swift": "the Network framework has the paths",
    "Sources/Martlet/Network/Foundation/WebSocketTransport+urlSession.swift":
      "URLSession is a module of its own on Linux",
    "Sources/Store/Backup/BackupRequest.swift": "the name of the C library",
    "Sources/Store/Backup/PartialFolder.swift": "the name of the C library",
    "Sources/Store/Client/ClientBell.swift": "the name of the C library",
    "Sources/Store/Client/EngineLock.swift": "the name of the C library",
    "Sources/Store/Folder/FolderCheck.swift": "the name of the C library",
    "Sources/Store/Folder/FolderLock.swift": "the name of the C library",
    "Sources/Store/Folder/StorePlace.swift": "the name of the C library",
    "Sources/Publishers/Bridge/Martlet+Publisher.swift": "Combine has publishers",
    "Sources/Publishers/Bridge/Outlet.swift": "Combine has publishers",
    "Sources/Publishers/Bridge/SequenceRelay.swift": "Combine has publishers",
    "Sources/Publishers/Operators/Bond.swift": "Combine has publishers",
    "Sources/Publishers/Operators/ReceiveOn.swift": "Combine has publishers",
    "Sources/Publishers/Operators/Share.swift": "Combine has publishers",
    "Sources/Publishers/Operators/Sink.swift": "Combine has publishers",
    "Sources/Publishers/Operators/Transforms.swift": "Combine has publishers",
    "Sources/Publishers/Publishers/AnyCancellable.swift": "Combine has publishers",
    "Sources/Publishers/Publishers/AnyPublisher.swift": "Combine has publishers",
    "Sources/Publishers/Publishers/Publisher.swift": "Combine has publishers",
    "Sources/Publishers/Schedulers/Scheduler.swift": "Combine has publishers",
  ]

  static var files: [Repository.File] {
    modules.flatMap { Repository.current.files(under: "Sources/\($0)", extensions: ["swift"]) }
      .filter { !$0.path.contains("/Network/Linux/") }
  }

  /// How many conditions those have that have more than one.
  private static let counts: [String: Int] = [
    "Sources/FoundationNetwork/Sessions/SessionRelay+passwords.swift": 2,
    "Sources/FoundationNetwork/Sessions/SessionObserver.swift": 3,
    "Sources/FoundationNetwork/Exchanges/SessionTasks.swift": 2,
    "Sources/HTTP/Network/Foundation/SystemSurroundings.swift": 2,
    "Sources/Runtime/ThreadMark.swift": 2, "Sources/Runtime/ThreadNiceness.swift": 3,
    "Sources/Runtime/SystemThread.swift": 3, "Sources/Runtime/Lock.swift": 6,
    "Sources/Runtime/Bell.swift": 3, "Sources/Simulation/Executor/SimulatedExecutor.swift": 2,
  ]

  @Test func `every condition by platform is listed with its reason`() {
    var found: [String: Int] = [:]
    for file in Self.files {
      for line in file.lines where line.drop(while: { $0 == " " }).hasPrefix("#if") {
        found[file.path, default: 0] += 1
      }
    }
    #expect(found == Self.reasons.mapValues { _ in 1 }.merging(Self.counts) { $1 })
  }

  @Test func `what is compiled on Darwin alone is less than 300 lines`() {
    let count = Self.files.reduce(0) { sum, file in
      sum + PlatformLines(file.lines).lines.count { $0.onDarwin && !$0.onLinux }
    }
    #expect(count > 0 && count < 300, "\(count) lines")
  }

  @Test func `conditions are read as the compiler reads them`() {
    let text = """
      all
      #if canImport(Darwin)
      darwin
      #elseif canImport(Glibc)
      linux
      #else
      none
      #endif
      #if !canImport(FoundationNetworking)
      darwin
      #else
      linux
      #if os(iOS) || os(macOS) && canImport(AppKit)
      none
      #endif
      linux
      #endif
      #if canImport(Musl)
      none
      #elseif os(Linux)
      linux
      #else
      darwin // epoll
      #endif
      """
    for line in PlatformLines(text.split(separator: "\n")).lines {
      let code = line.code.filter { $0 != " " }
      #expect(line.onLinux == ["all", "linux"].contains(code), "\(line)")
      #expect(line.onDarwin == ["all", "darwin"].contains(code), "\(line)")
    }
  }
}
