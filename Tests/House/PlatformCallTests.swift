import Foundation
import Testing

/// What the client's products call exists on every platform that compiles it.
@Suite struct PlatformCallTests {
  /// Patterns of what a platform does not have, each with the files that may have it.
  private static let notOnDarwin: [(pattern: String, allowed: Set<String>)] = [
    // Linux's own calls and constants.
    (#"\b(epoll|eventfd|timerfd|signalfd|inotify)_?\w*"#, []),
    (
      #"\b(accept4|pipe2|dup3|fdatasync|syncfs|sync_file_range|(posix_)?fallocate|copy_file_range|sendfile|splice)\b"#,
      []
    ),
    (#"\b(renameat2|memfd_create|getrandom|gettid|prctl|sched_[a-z]+affinity|mallinfo2?|malloc_trim)\b"#, []),
    (#"\b(secure_getenv|explicit_bzero|__errno_location|pthread_condattr_setclock|pthread_setname_np)\b"#, []),
    (#"\b(MSG_NOSIGNAL|MSG_MORE|SOCK_CLOEXEC|SOCK_NONBLOCK|O_TMPFILE|O_DIRECT|O_PATH|CLOCK_\w+_COARSE)\b"#, []),
    (#"SOCK_(STREAM|DGRAM)\.rawValue|"/(proc|sys)/"#, []),
    (#"^(internal |package |public )?import (Glibc|FoundationNetworking)"#, []),
    // On a Mac alone, and so neither on a phone nor on a watch.
    (
      #"\b(Process|NSTask|NSUserNotification|NSAppleScript)\(|\bHost\.current|homeDirectoryForCurrentUser|\bsystem\("#,
      []
    ),
    // Only with the system's 2024 versions.
    (#"import Synchronization|\bMutex[<(]|\bAtomic[<(]"#, []),
    (#"\bInlineArray\b|\butf8Span\b|\bUTF8Span\b"#, []),
    (#"\bU?Int128\b|String\(validating|\bisolated deinit\b|Task\.immediate|\bRangeSet\b|next\(isolation"#, []),
    (#"AsyncSequence<|~Copyable|~Escapable"#, []),
    // Annotated there, and everything that uses it (below).
    ("TaskExecutor|executorPreference", ["Sources/Simulation/Executor/SimulatedExecutor.swift"]),
  ]

  /// Missing, unavailable, or failing, in Foundation on Linux, which is what proves the rest.
  private static let notOnLinux: [(pattern: String, allowed: Set<String>)] = [
    (#"\.bytes\((for|from):|streamTask\(|StreamTask\b|getBoundStreams|getStreamsToHost|DispatchSerialQueue"#, []),
    (#"background\(withIdentifier|waitsForConnectivity|tlsMinimumSupportedProtocolVersion|multipathServiceType"#, []),
    (
      #"allows(Expensive|Constrained)NetworkAccess|sharedContainerIdentifier|sessionSendsLaunchEvents|isDiscretionary"#,
      []
    ),
    (
      #"acceptConnectionInBackgroundAndNotify|withResumeData|earliestBeginDate|dataTaskPublisher|proxyConfigurations"#,
      []
    ),
    (#"autoreleasepool|@objc\b|#selector|#keyPath|NSPredicate\(format|NSFileCoordinator|NSUbiquit|forUbiquity"#, []),
    (#"forSecurityApplicationGroupIdentifier|beginActivity|performExpiringActivity|thermalState|OSLog|os_log"#, []),
    // A task's own delegate gets no data there.
    (#"[tT]ask\.delegate\s*="#, []),
  ]

  private static func uses(
    _ bans: [(pattern: String, allowed: Set<String>)], where isCompiled: (PlatformLines.Line) -> Bool
  ) throws -> [String] {
    var found: [String] = []
    let expressions = try bans.map { (try NSRegularExpression(pattern: $0.pattern), $0) }
    for file in PlatformTests.files {
      for line in PlatformLines(file.lines).lines where isCompiled(line) {
        for (expression, ban) in expressions where !ban.allowed.contains(file.path) {
          let range = NSRange(line.code.startIndex..., in: line.code)
          guard let match = expression.firstMatch(in: line.code, range: range) else { continue }
          found.append("\(file.path):\(line.number) \((line.code as NSString).substring(with: match.range))")
        }
      }
    }
    return found
  }

  @Test func `nothing is used that Darwin, one of its platforms or its oldest version does not have`() throws {
    // Inside a condition, too, unless its branch is Linux's alone.
    #expect(try Self.uses(Self.notOnDarwin) { $0.onDarwin } == [])
  }

  @Test func `Linux's own loop is used in no branch of a condition`() throws {
    #expect(try Self.uses(Array(Self.notOnDarwin.prefix(1))) { _ in true } == [])
  }

  @Test func `nothing is used that Foundation on Linux does not have`() throws {
    #expect(try Self.uses(Self.notOnLinux) { $0.onLinux } == [])
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
