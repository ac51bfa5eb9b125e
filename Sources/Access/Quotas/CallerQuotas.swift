package import MartletVocabulary

/// What identities and addresses use of a server, against what each of them may use.
///
/// A table of bounded size: entries without use are removed when room is needed. When there is no room, identities and
/// addresses without an entry share one per scope, so that neither memory nor what they may use together grows with the
/// number of names that a caller can invent.
package struct CallerQuotas: Sendable {
  /// Whose use is counted.
  package struct Party: Sendable, Hashable {
    package var scope: QuotaScope
    /// A name of the identity with its provider, or the bytes of the address.
    package var name: [UInt8]

    package init(_ scope: QuotaScope, _ name: [UInt8]) {
      self.scope = scope
      self.name = name
    }
  }

  /// What is held until it is released: a connection or a subscription, counted for these entries.
  package struct Hold: Sendable {
    fileprivate var resource: QuotaResource
    fileprivate var places: [Place]
  }

  fileprivate enum Place: Sendable, Hashable {
    case own(Party)
    /// The entry of all that have none of their own.
    case shared(QuotaScope)
  }

  private struct Entry: Sendable {
    var connections = 0
    var subscriptions = 0
    var meters = QuotaMeters()

    func isIdle(at now: Instant) -> Bool { connections == 0 && subscriptions == 0 && meters.isIdle(at: now) }
  }

  private let allowances: [QuotaScope: QuotaAllowance]
  private let burst: Duration
  private let capacity: Int
  private var entries: [Place: Entry] = [:]
  private var sweptAt: Instant?

  /// - Parameters:
  ///   - burst: How much of a rate may be used at once.
  ///   - capacity: Entries of the table.
  package init(identity: QuotaAllowance, address: QuotaAllowance, burst: Duration, capacity: Int) {
    allowances = [.identity: identity, .address: address]
    self.burst = burst
    self.capacity = max(1, capacity)
  }

  /// Entries of the table now, the shared ones included.
  package var count: Int { entries.count }

  /// Spends what an operation uses, for all of the given entries or for none.
  package mutating func spend(_ use: QuotaUse, by parties: [Party], at now: Instant) throws(QuotaRefusal) {
    let places = try allowing(use, by: parties, at: now)
    for place in places { entries[place, default: Entry()].meters.spend(use, allowance(of: place), at: now) }
  }

  /// Looks whether as much may be spent, and spends nothing.
  package mutating func judge(_ use: QuotaUse, by parties: [Party], at now: Instant) throws(QuotaRefusal) {
    _ = try allowing(use, by: parties, at: now)
  }

  private mutating func allowing(
    _ use: QuotaUse, by parties: [Party], at now: Instant
  ) throws(QuotaRefusal) -> [Place] {
    let places = bounded(parties).map { place(of: $0, at: now) }
    for place in places {
      let allowance = allowance(of: place)
      if let (resource, wait) = entries[place]?.meters.refusal(of: use, allowance, burst: burst, at: now) {
        throw QuotaRefusal(place.scope, resource, retryAfter: wait)
      }
    }
    return places
  }

  /// Counts a connection or a subscription, for all of the given entries or for none, until it is released.
  package mutating func hold(
    _ resource: QuotaResource, by parties: [Party], at now: Instant
  ) throws(QuotaRefusal) -> Hold {
    let places = bounded(parties).map { place(of: $0, at: now) }
    for place in places {
      let allowance = allowance(of: place)
      let most = resource == .connections ? allowance.connections : allowance.subscriptions
      guard let most else { continue }
      if count(resource, of: place) >= most { throw QuotaRefusal(place.scope, resource) }
    }
    for place in places { add(1, resource, to: place) }
    return Hold(resource: resource, places: places)
  }

  package mutating func release(_ hold: Hold) {
    for place in hold.places { add(-1, hold.resource, to: place) }
  }

  // MARK: The table

  private func bounded(_ parties: [Party]) -> [Party] {
    parties.filter { allowances[$0.scope]?.isEmpty == false }
  }

  private func allowance(of place: Place) -> QuotaAllowance { allowances[place.scope] ?? QuotaAllowance() }

  private func count(_ resource: QuotaResource, of place: Place) -> Int {
    let entry = entries[place]
    return (resource == .connections ? entry?.connections : entry?.subscriptions) ?? 0
  }

  private mutating func add(_ amount: Int, _ resource: QuotaResource, to place: Place) {
    if resource == .connections {
      entries[place, default: Entry()].connections += amount
    } else {
      entries[place, default: Entry()].subscriptions += amount
    }
  }

  /// The entry of a party: its own, or the shared one where there is no room.
  private mutating func place(of party: Party, at now: Instant) -> Place {
    let own = Place.own(party)
    if entries[own] != nil || entries.count < capacity { return own }
    // Looking through the whole table for each newcomer would cost more than what it protects from.
    if sweptAt.map({ now - $0 >= .seconds(1) }) ?? true {
      sweptAt = now
      entries = entries.filter { !$0.value.isIdle(at: now) }
      if entries.count < capacity { return own }
    }
    return .shared(party.scope)
  }
}

extension CallerQuotas.Place {
  fileprivate var scope: QuotaScope {
    switch self {
    case .own(let party): party.scope
    case .shared(let scope): scope
    }
  }
}
