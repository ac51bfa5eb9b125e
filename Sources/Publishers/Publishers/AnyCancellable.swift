#if !canImport(Combine)
  internal import MartletRuntime

  /// Holds on to something that runs, and cancels it when it is dropped.
  ///
  /// `@unchecked Sendable` holds because the closure is reachable only inside the lock and taken out of it by the one
  /// call that runs it.
  public final class AnyCancellable: Cancellable, Hashable, @unchecked Sendable {
    private let action: Lock<(() -> Void)?>

    /// Runs `cancel` once: at `cancel()`, or when this is dropped.
    public init(_ cancel: @escaping () -> Void) {
      let handed = Handed(cancel)
      action = Lock({ handed.value() })
    }

    /// Holds on to `other`.
    public convenience init(_ other: some Cancellable) {
      self.init { other.cancel() }
    }

    deinit { cancel() }

    /// Cancels, unless that was done before.
    public func cancel() {
      let taken = action.withLock { action -> Handed<(() -> Void)?> in
        defer { action = nil }
        return Handed(action)
      }
      taken.value?()
    }

    /// Puts this into a set, which then holds it.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(self) }

    /// Puts this into a collection, which then holds it.
    public func store(in collection: inout some RangeReplaceableCollection<AnyCancellable>) { collection.append(self) }

    /// Whether both are the same object.
    public static func == (left: AnyCancellable, right: AnyCancellable) -> Bool { left === right }
    /// Hashes which object it is.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }

  extension Cancellable {
    /// Puts this into a set, which then holds it and cancels it when the set lets go.
    public func store(in set: inout Set<AnyCancellable>) { set.insert(AnyCancellable(self)) }
  }
#endif
