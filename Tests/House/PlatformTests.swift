import Foundation
import Testing

/// What the client's products compile on Apple platforms uses only what exists there and here, and says where it does
/// not.
@Suite struct PlatformTests {
  /// Modules of the client's products, without those that the manifest leaves out on Apple platforms.
  private static let modules = [
    "Access", "GraphQLClient", "FoundationNetwork", "GraphQLLanguage", "GraphQLOperations", "GraphQLStore",
    "GraphQLWire", "HTTP", "JSON",
    "JSONTree",
    "Martlet", "Models", "ModelSDL", "Publishers", "Runtime", "SQLite", "SQLiteStore", "Simulation", "Testing",
    "Vocabulary",
    "Wire", "Tracing",
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
    "Sources/Runtime/ThreadMark.swift": "a thread's identity is a pointer or a number",
    "Sources/Runtime/WallClock.swift": "the name of the C library",
    "Sources/Runtime/WriteSignals.swift": "the name of the C library",
    "Sources/Simulation/Executor/SimulatedExecutor.swift": "the name of the C library; a thread's identity",
    "Sources/GraphQLClient/Subscriptions/Cancellable.swift": "Combine has the protocol",
    "Sources/FoundationNetwork/Sockets/SessionSockets.swift": "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Environment/FoundationEnvironment.swift": "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Sessions/SessionDelegation.swift": "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Sessions/SessionObserver.swift":
      "URLSession is a module of its own on Linux; a delegate's methods are optional on Darwin alone",
    "Sources/FoundationNetwork/Sessions/SessionRelay.swift":
      "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Trust/SystemTrust.swift": "the Security framework evaluates certificates",
    "Sources/FoundationNetwork/Exchanges/SessionTasks.swift": "URLSession is a module of its own on Linux",
    "Sources/FoundationNetwork/Exchanges/HTTPExchangeError+system.swift": "URLSession is a module of its own on Linux",
    "Sources/GraphQLClient/Client/LiveValue.swift": "SwiftUI has property wrappers of views",
    "Sources/HTTP/Auth/KeychainCredentialStorage.swift": "the Security framework has the keychain",
    "Sources/HTTP/Network/Foundation/SystemSurroundings.swift": "the Network framework has the paths",
    "Sources/Martlet/Network/Foundation/WebSocketTransport+urlSession.swift":
      "URLSession is a module of its own on Linux",
    "Sources/Store/Backup/BackupRequest.swift": "the name of the C library",
    "Sources/Store/Backup/PartialFolder.swift": "the name of the C library",
    "Sources/Store/Execution/SystemThread.swift": "`pthread_t` is a number or an optional pointer",
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
}
