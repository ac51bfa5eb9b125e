import Foundation
import Testing

/// What the client's products compile on Apple platforms uses only what exists there and here, and says where it does
/// not.
@Suite struct PlatformTests {
  /// Modules of the client's products, without those that the manifest leaves out on Apple platforms.
  private static let modules = [
    "Access", "Cache", "GraphQLClient", "FoundationNetwork", "GraphQLDocuments", "GraphQLLanguage", "GraphQLOperations",
    "GraphQLStore", "GraphQLClientWire", "GraphQLWire", "HTTP", "JSON",
    "JSONTree",
    "Martlet", "Models", "ModelSDL", "Publishers", "Runtime", "SQLite", "SQLiteStore", "Simulation", "Testing",
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
    "Sources/Store/Folder/DataFiles.swift": "the name of the C library",
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

  private static var files: [Repository.File] {
    modules.flatMap { Repository.current.files(under: "Sources/\($0)", extensions: ["swift"]) }
      .filter { !$0.path.contains("/Network/Linux/") }
  }

  @Test func `every condition by platform is listed with its reason`() {
    let found = Self.files.filter { file in
      file.lines.contains { $0.drop { $0 == " " }.hasPrefix("#if") }
    }
    #expect(Set(found.map(\.path)) == Set(Self.reasons.keys))
  }

  @Test func `what is compiled on Darwin alone is less than 300 lines`() {
    var count = 0
    for file in Self.files {
      // Of each open condition, whether its present branch is Darwin's alone.
      var open: [Bool] = []
      for line in file.lines {
        let code = line.drop { $0 == " " }
        if code.hasPrefix("#if ") {
          open.append(Self.isDarwin(code.dropFirst(4)))
        } else if code.hasPrefix("#elseif ") {
          _ = open.popLast()
          open.append(Self.isDarwin(code.dropFirst(8)))
        } else if code.hasPrefix("#else") {
          // The last branch after Glibc and Musl is Darwin's; after Darwin's it is not.
          let before = open.popLast() ?? false
          open.append(!before && file.text.contains("#if canImport(Glibc)"))
        } else if code.hasPrefix("#endif") {
          _ = open.popLast()
        } else if open.contains(true) {
          count += 1
        }
      }
    }
    #expect(count > 0 && count < 300, "\(count) lines")
  }

  private static func isDarwin(_ condition: Substring) -> Bool {
    ["Darwin", "Combine", "UIKit", "AppKit", "Network", "SwiftUI", "Security"].contains {
      condition.hasPrefix("canImport(\($0))")
    }
  }

  @Test func `nothing is used that one of the platforms, or its oldest version, does not have`() throws {
    let bans: [(pattern: String, allowed: Set<String>)] = [
      ("epoll|eventfd|accept4|MSG_NOSIGNAL", []),
      // Only with the system's 2024 versions.
      (#"import Synchronization|\bMutex[<(]|\bAtomic[<(]"#, []),
      (#"\bInlineArray\b|\butf8Span\b|\bUTF8Span\b"#, []),
      (#"\bU?Int128\b|String\(validating|\bisolated deinit\b|Task\.immediate|\bRangeSet\b|next\(isolation"#, []),
      (#"AsyncSequence<|~Copyable|~Escapable"#, []),
      // Annotated there, and everything that uses it (below).
      ("TaskExecutor|executorPreference", ["Sources/Simulation/Executor/SimulatedExecutor.swift"]),
      // Missing, or failing, in Foundation on Linux.
      (#"\.bytes\(for:|streamTask\(|getBoundStreams|DispatchSerialQueue"#, []),
      (#"^(internal |package |public )?import (Glibc|FoundationNetworking)"#, []),
    ]
    for (pattern, allowed) in bans {
      let expression = try NSRegularExpression(pattern: pattern)
      for file in Self.files where !allowed.contains(file.path) {
        for (number, line) in file.lines.enumerated() {
          let code = String(line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0])
          #expect(
            expression.firstMatch(in: code, range: NSRange(code.startIndex..., in: code)) == nil,
            "\(file.path):\(number + 1) uses \(pattern)")
        }
      }
    }
  }

  @Test func `what uses task executors says which systems have them, and so does everything that uses it`() throws {
    let annotation = "@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)"
    let access = "(?:(?:public|package|internal|private|fileprivate|final) )*"
    let declares = try Regex(
      #"^(?:@\w+ )*"# + access + #"(?:class|struct|enum|extension|protocol|func) (\w+)"#,
      as: (Substring, Substring).self)
    // A declaration of a file, with whether the annotation stands before it.
    var parts: [(place: String, name: String, text: String, isAnnotated: Bool)] = []
    for module in ["Simulation", "Testing"] {
      for file in Repository.current.files(under: "Sources/\(module)", extensions: ["swift"]) {
        var last = ""
        for line in file.lines {
          if let match = String(line).firstMatch(of: declares) {
            parts.append((file.path, String(match.output.1), "", last == annotation))
          }
          last = String(line)
          let code = String(line.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)[0])
          if !parts.isEmpty, parts[parts.count - 1].place == file.path { parts[parts.count - 1].text += code + "\n" }
        }
      }
    }
    var needing: Set<String> = ["TaskExecutor", "executorPreference"]
    // Until no declaration is added that uses one of them.
    var known = 0
    while known != needing.count {
      known = needing.count
      for part in parts where !needing.contains(part.name) {
        let words = Set(part.text.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init))
        if !words.isDisjoint(with: needing) { needing.insert(part.name) }
      }
    }
    #expect(needing.isSuperset(of: ["SimulatedExecutor", "VirtualTime", "ScriptedServer", "ScriptedSocket"]))
    for part in parts where needing.contains(part.name) {
      #expect(part.isAnnotated, "\(part.place): \(part.name) needs \(annotation)")
    }
  }
}
