// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

// A stand-in for the part of SwiftUI that the seeds' samples touch, so that they compile and run where there is none.
// A view is drawn as lines of text. Names and isolation are those of the framework.
@_exported import Observation

@MainActor @preconcurrency public protocol View {
  associatedtype Body: View
  @ViewBuilder var body: Body { get }
}

/// A view without a body: it draws itself.
@MainActor public protocol Drawn: View where Body == Never {
  func draw(on screen: Screen)
}

extension Never: View {
  public var body: Never { fatalError("a drawn view has no body") }
}

extension Drawn {
  public var body: Never { fatalError("a drawn view has no body") }
}

@resultBuilder public enum ViewBuilder {
  public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
  public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { .first(first) }
  public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { .second(second) }
}

public enum Either<First: View, Second: View>: Drawn {
  case first(First)
  case second(Second)

  public func draw(on screen: Screen) {
    switch self {
    case .first(let view): screen.draw(view)
    case .second(let view): screen.draw(view)
    }
  }
}

public struct Group<Content: View>: Drawn {
  let content: Content
  public init(@ViewBuilder content: () -> Content) { self.content = content() }
  public func draw(on screen: Screen) { screen.draw(content) }
}

public struct Text: Drawn {
  let text: String
  public init(_ text: String) { self.text = text }
  public func draw(on screen: Screen) { screen.lines.append(text) }
}

public struct ProgressView: Drawn {
  let title: String
  public init(_ title: String) { self.title = title }
  public func draw(on screen: Screen) { screen.lines.append(title) }
}

struct TaskView<Content: View>: Drawn {
  let content: Content
  let action: @MainActor () async -> Void

  func draw(on screen: Screen) {
    screen.tasks.append(action)
    screen.draw(content)
  }
}

extension View {
  /// Begins when the view appears and is cancelled when it disappears.
  public func task(_ action: @escaping @MainActor () async -> Void) -> some View {
    TaskView(content: self, action: action)
  }
}

@propertyWrapper public struct State<Value> {
  private final class Box {
    var value: Value
    init(_ value: Value) { self.value = value }
  }

  private let box: Box
  public init(wrappedValue: Value) { box = Box(wrappedValue) }

  @MainActor @preconcurrency public var wrappedValue: Value {
    get { box.value }
    nonmutating set {
      box.value = newValue
      Screen.shown?.redraw()
    }
  }
}

/// What one view would show: tells each picture that differs from the one before.
@MainActor public final class Screen {
  static var shown: Screen?

  public var lines: [String] = []
  var tasks: [@MainActor () async -> Void] = []
  private let root: (Screen) -> Void
  private let tell: (String) -> Void
  private var picture: [String] = []
  private var running: [Task<Void, Never>] = []

  public init(_ view: some View, tell: @escaping (String) -> Void) {
    root = { $0.draw(view) }
    self.tell = tell
  }

  public func draw<Content: View>(_ view: Content) {
    if let drawn = view as? any Drawn { drawn.draw(on: self) } else { draw(view.body) }
  }

  public func appear() {
    Screen.shown = self
    redraw()
    running = tasks.map { action in Task { await action() } }
  }

  /// Returns when the view's tasks have ended.
  public func disappear() async {
    for task in running { task.cancel() }
    for task in running { await task.value }
    running = []
    Screen.shown = nil
  }

  func redraw() {
    lines = []
    tasks = []
    // What is observed tells of a change before it happens: the picture is drawn in the next turn.
    withObservationTracking {
      root(self)
    } onChange: {
      Task { @MainActor in Screen.shown?.redraw() }
    }
    guard lines != picture else { return }
    picture = lines
    for line in lines { tell(line) }
  }
}
