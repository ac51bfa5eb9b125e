import Foundation
import Testing

/// `martlet rules`, run as processes.
@Suite struct RulesCommandTests {
  private static let script = #"""
    cat > rules.json <<'END'
    {"rules": {"posts": {"$post": {
      ".read": true, ".write": "auth != null", "title": {".validate": "newData.isString()"}
    }}}}
    END
    cat > cases.json <<'END'
    {"users": {"ada": {"uid": "ada"}}, "cases": [
      {"name": "reads", "read": "posts/p", "allowed": true},
      {"name": "writes", "as": "ada", "write": "posts/p/title", "value": "T", "allowed": true},
      {"name": "guests", "write": "posts/p", "value": 1, "allowed": true},
      {"name": "refused", "write": "posts/q", "value": 1, "allowed": false}
    ]}
    END
    echo '{"rules": {".read": "skies", ".write": 1}}' > wrong.json
    martlet rules check rules.json; echo "= $?"
    martlet rules check wrong.json 2>&1; echo "= $?"
    martlet rules test rules.json cases.json --coverage; echo "= $?"
    martlet rules explain rules.json cases.json --case writes; echo "= $?"
    martlet rules explain rules.json cases.json --case refused; echo "= $?"
    martlet rules coverage rules.json cases.json; echo "= $?"
    """#

  @Test func `rules are checked, tested and explained without a server`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rules-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try await ShellRun.bash(Self.script, in: folder)
    #expect(
      run.output == """
        rules.json is good: 1 .read rule, 1 .write rule, 1 .validate rule.
        = 0
        wrong.json:1:22: /.read: the variable skies does not exist
        wrong.json:1:40: /.write: .write is a boolean or a string, not a number
        = 65
        FAILED guests: denied: /posts/p: no .write rule is true: /posts/$post/.write is false
          /posts/$post/.read: true 1, false 0, failed 0
          /posts/$post/.write: true 1, false 2, failed 0
        ! /posts/$post/title/.validate: true 1, false 0, failed 0
        4 cases, 1 failed.
        = 1
        writes: holds: allowed
          /posts/$post/.write
            auth = {…}
            auth != null = true
          /posts/$post/title/.validate
            newData = newData at /posts/p/title
            newData.isString() = true
        = 0
        refused: holds: denied: /posts/q: no .write rule is true: /posts/$post/.write is false
          /posts/$post/.write
            auth = null
            auth != null = false
        = 0
          /posts/$post/.read: true 1, false 0, failed 0
          /posts/$post/.write: true 1, false 2, failed 0
        ! /posts/$post/title/.validate: true 1, false 0, failed 0
        2 of 3 rules covered.
        = 1

        """)
  }
}
