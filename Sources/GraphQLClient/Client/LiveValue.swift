#if canImport(SwiftUI)
  public import SwiftUI

  /// A subscription's latest value as a property of a view.
  ///
  ///     @LiveValue<Departures> private var departures
  ///
  ///     var body: some View {
  ///       Text(departures?.line ?? "…").task { await $departures.follow(client.subscribe(document)) }
  ///     }
  @MainActor @propertyWrapper public struct LiveValue<Value: Decodable & Sendable>: DynamicProperty {
    @State private var live = LiveSubscription<Value>()

    /// The newest data.
    public var wrappedValue: Value? { live.value }
    /// The subscription with its state, errors and gap.
    public var projectedValue: LiveSubscription<Value> { live }

    /// Without a value yet.
    public init() {}
  }
#endif
