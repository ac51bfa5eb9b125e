internal import MartletAccess
internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeRules
internal import MartletTreeWire
internal import MartletVocabulary

/// The rules in force, for all loops; they can be replaced while the server runs.
package final class TreePolicy: Sendable {
  private struct State {
    var rules: RuleSet
    /// The store of the tree, once it is open.
    var store: Store?
  }

  private let state: Lock<State>

  init(_ rules: RuleSet) {
    state = Lock(State(rules: rules, store: nil))
  }

  var rules: RuleSet { state.withLock { $0.rules } }

  /// Puts other rules in force for what is read and written from now on. The indexes that they declare are built
  /// meanwhile.
  func replace(_ rules: RuleSet) {
    let store = state.withLock { state in
      state.rules = rules
      return state.store
    }
    if let store { TreeIndexing(store).declare(rules.treeIndexes) }
  }

  /// The store has been opened, and keeps the indexes that the rules declare.
  func opened(_ store: Store) {
    let rules = state.withLock { state in
      state.store = store
      return state.rules
    }
    TreeIndexing(store).declare(rules.treeIndexes)
  }
}

/// A caller as the tree's rules see it.
struct TreeCaller: Sendable, Equatable {
  /// What rules see as `auth`; null for a guest.
  var auth: JSONValue
  /// Rules do not apply.
  var isAdministrator = false
  /// The owner of its numbered writes.
  var writer = ""
  /// The caller as the models' rules see it.
  var identity = Identity.guest

  static let guest = TreeCaller(auth: .null)
  static let administrator = TreeCaller(auth: .null, isAdministrator: true)

  /// The holder of a key or a token; what a development server admits without either is a guest of the tree, and of
  /// the models' rules nothing restricts it.
  init(_ identity: Identity) {
    guard let subject = identity.subject, identity.provider != .system else {
      self = .guest
      self.identity = identity
      return
    }
    self.identity = identity
    writer = identity.writer
    // The tokens of Firebase, and those of this server's sign-in, say how their user signed in.
    let provider = identity.claims["firebase"]?["sign_in_provider"]?.string ?? identity.provider.rawValue
    auth = ["uid": .string(subject), "provider": .string(provider), "token": .object(identity.claims)]
  }

  init(auth: JSONValue, isAdministrator: Bool = false) {
    self.auth = auth
    self.isAdministrator = isAdministrator
  }
}

/// A caller with what admitted it.
struct TreeAdmitted {
  var caller: TreeCaller
  /// Judged again when other keys are in force; nil for a guest.
  var grant: AccessControl.Grant?
  /// When its rights end, by the loop's clock.
  var deadline: Instant?

  static let guest = TreeAdmitted(caller: .guest)

  init(caller: TreeCaller) { self.caller = caller }

  init(_ caller: Caller) {
    self.caller = TreeCaller(caller.identity)
    grant = caller.grant
    deadline = caller.deadline
  }

  /// An administrator as the caller that rules are to see. No other caller may choose.
  func restricted(to variables: JSONValue?) -> TreeAdmitted {
    guard let variables, caller.isAdministrator else { return self }
    return TreeAdmitted(caller: TreeCaller(auth: variables.object == nil ? .null : variables))
  }
}

/// The stored tree, read path by path for rules.
struct StoredTree: RuleTree {
  let tree: TreeReading

  func glimpse(at path: TreePath) throws -> TreeGlimpse { try tree.glimpse(at: path) }
  func priority(at path: TreePath) throws -> TreeScalar? { try tree.priority(at: path) }
  func child(of path: TreePath, after key: TreeKey?) throws -> TreeKey? { try tree.child(of: path, after: key) }
}

/// Why the tree refuses a read or a write.
enum TreeRefusal: Error {
  /// No credentials were accepted, and guests are not admitted.
  case unauthenticated
  case denied(RuleDenial)
  /// The value is another one than the caller expected.
  case stale(TreeNode)
  case invalid(TreeError)
  /// The rules of the model of this name do not let the caller see any of its records.
  case forbidden(TreePath, String)
  /// No tree of this name was declared.
  case unknownNamespace(String)
  case store(StoreError)
  /// The answer to a write that was sent again: the first one's, in the protocol's words.
  case repeated(status: String, reason: String)
}

extension TreeRefusal: CustomStringConvertible {
  /// The protocol's word and the reason. The store keeps it as the outcome of a numbered write.
  var description: String {
    let answer = answer
    return "\(answer.status): \(answer.data.string ?? "")"
  }

  /// A refusal that the store kept; nil for another text.
  init?(kept text: String) {
    for status in ["permission_denied", "datastale", "invalid_data"] where text.hasPrefix(status + ": ") {
      self = .repeated(status: status, reason: String(text.dropFirst(status.utf8.count + 2)))
      return
    }
    return nil
  }
}
