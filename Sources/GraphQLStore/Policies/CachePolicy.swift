/// Where the answer of an operation comes from: the store, the network, or both.
///
/// | policy | reads the store | asks the network | results |
/// | --- | --- | --- | --- |
/// | `cacheFirst` | before | on a miss | 1 |
/// | `networkFirst` | when the network fails | always | 1 |
/// | `cacheOnly` | before | never | 0 or 1 |
/// | `networkOnly` | never | always | 1 |
/// | `cacheAndNetwork` | before | always | 1 or 2 |
/// | `noCache` | never, and does not write it either | always | 1 |
///
/// The older names of the field are here as well and mean the same.
public enum CachePolicy: String, Sendable, Hashable, CaseIterable {
  /// The store's data if they are complete, else the network's.
  case cacheFirst
  /// The network's data; the store's when the request fails. A response that carries GraphQL errors is not a failure.
  case networkFirst
  /// The store's data only. Nothing at all when they are not complete.
  case cacheOnly
  /// The network's data, which are written to the store.
  case networkOnly
  /// The store's data if they are complete, and then the network's.
  case cacheAndNetwork
  /// The network's data, which are not written to the store.
  case noCache

  /// What a query does when nothing else is said: `cacheFirst`.
  public static let `default` = CachePolicy.cacheFirst
  /// As `cacheFirst`.
  public static let returnCacheDataElseFetch = CachePolicy.cacheFirst
  /// As `cacheOnly`.
  public static let returnCacheDataDontFetch = CachePolicy.cacheOnly
  /// As `cacheAndNetwork`.
  public static let returnCacheDataAndFetch = CachePolicy.cacheAndNetwork
  /// As `cacheAndNetwork`; the name the field uses with subscriptions: the last stored event first, then live ones.
  public static let cacheThenNetwork = CachePolicy.cacheAndNetwork
  /// As `networkOnly`.
  public static let fetchIgnoringCacheData = CachePolicy.networkOnly
  /// As `noCache`.
  public static let fetchIgnoringCacheCompletely = CachePolicy.noCache

  /// Whether results of the network go into the store.
  package var writesStore: Bool {
    switch self {
    case .cacheFirst, .networkFirst, .networkOnly, .cacheAndNetwork: true
    case .cacheOnly, .noCache: false
    }
  }
}
