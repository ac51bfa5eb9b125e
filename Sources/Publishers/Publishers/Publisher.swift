#if canImport(Combine)
  @_exported public import Combine
#else
  // The part of Combine that applications use to consume subscriptions, for systems that have no Combine. Names and
  // meanings are Combine's, so that the same source compiles in both places.

  /// Something that sends values over time to its subscribers, and then perhaps one completion.
  ///
  /// A subscriber is called by one thread at a time, not always the same one; use `receive(on:)` to choose it. What a
  /// subscriber has asked for is all it gets.
  public protocol Publisher<Output, Failure> {
    /// What it sends.
    associatedtype Output
    /// How it can fail; `Never` when it cannot.
    associatedtype Failure: Error

    /// Attaches a subscriber, which is given a subscription before anything else.
    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure
  }

  extension Publisher {
    /// Attaches a subscriber.
    public func subscribe<Downstream: Subscriber>(_ subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      receive(subscriber: subscriber)
    }
  }

  /// Something that takes a publisher's values.
  public protocol Subscriber<Input, Failure> {
    /// What it takes.
    associatedtype Input
    /// How what it is attached to can fail.
    associatedtype Failure: Error

    /// It is attached now, and asks for values by the subscription.
    func receive(subscription: any Subscription)
    /// A value; answers how many more it asks for.
    func receive(_ input: Input) -> Subscribers.Demand
    /// Nothing follows.
    func receive(completion: Subscribers.Completion<Failure>)
  }

  /// The bond between a publisher and one subscriber.
  public protocol Subscription: Cancellable {
    /// Asks for so many more values.
    func request(_ demand: Subscribers.Demand)
  }

  /// What belongs to subscribers.
  public enum Subscribers {
    /// How a publisher ended.
    @frozen
    public enum Completion<Failure: Error> {
      /// There are no more values.
      case finished
      /// It failed.
      case failure(Failure)
    }

    /// How many values a subscriber asks for.
    public struct Demand: Hashable, Sendable {
      /// The number; nil without a limit.
      public let max: Int?

      /// All there are.
      public static let unlimited = Demand(max: nil)
      /// None.
      public static let none = Demand(max: 0)
      /// So many; a negative number is a programmer error.
      public static func max(_ value: Int) -> Demand {
        precondition(value >= 0, "a demand is not negative")
        return Demand(max: value)
      }

      /// Both together.
      public static func + (left: Demand, right: Demand) -> Demand {
        guard let a = left.max, let b = right.max else { return .unlimited }
        let (sum, isTooMuch) = a.addingReportingOverflow(b)
        return isTooMuch ? .unlimited : Demand(max: sum)
      }

      /// Adds another demand.
      public static func += (left: inout Demand, right: Demand) { left = left + right }

      /// Whether anything is asked for.
      package var isPositive: Bool { max.map { $0 > 0 } ?? true }

      /// One value was sent.
      package mutating func spend() {
        if let max { self = Demand(max: Swift.max(0, max - 1)) }
      }
    }
  }

  extension Subscribers.Completion: Sendable where Failure: Sendable {}
  extension Subscribers.Completion: Equatable where Failure: Equatable {}
#endif
