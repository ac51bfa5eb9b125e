internal import MartletAccess
internal import MartletChangeFeed
internal import MartletChannels
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// The events of a GraphQL subscription, as a member of the feed. Confined to its loop.
final class OperationSource: ChannelSourcing {
  private weak var channel: Channel?
  private let tools: ChannelTools
  private let request: RequestPayload
  private let caller: Caller
  private unowned let service: GraphQLService
  let meter = DeliveryMeter()
  private var member: Member?
  private var isContinued = false

  init(_ channel: Channel, _ request: RequestPayload, _ caller: Caller, _ service: GraphQLService) {
    self.channel = channel
    tools = channel.tools
    self.request = request
    self.caller = caller
    self.service = service
  }

  private var feed: Feed { tools.feed }

  func begin(after cursor: Cursor?) {
    let member = Member(number: 1, prefix: [], hasCursors: true, subscriber: self, since: feed.applied)
    do throws(Refused) {
      let (group, key) = try Self.group(request, caller, service)
      do { try feed.add(member, to: group, key: key) } catch { throw Refused(description: error.description) }
    } catch {
      channel?.fail(error.description)
      return
    }
    self.member = member
    guard let cursor else {
      channel?.begin(at: feed.applied, keys: nil)
      return
    }
    switch feed.judge(cursor) {
    case .valid: feed.catchUp(member, after: cursor.offset, owesReady: false)
    case .gap(let reason): feed.declareGap(member, reason, from: cursor)
    }
  }

  /// Why an operation cannot be delivered.
  struct Refused: Error {
    let description: String
  }

  /// The tree's rules are asked where a node is subscribed, and not for an operation.
  private static let ofTree = "Changes of the tree are delivered by \"node\", not by \"query\"."

  /// The group of a subscription that the log feeds.
  static func group(
    _ request: RequestPayload, _ caller: Caller, _ service: GraphQLService
  ) throws(Refused) -> (GraphQLGroup, GroupKey) {
    switch service.prepare(request, for: caller) {
    case .failure(let refusal): throw Refused(description: refusal.errors.map(\.error.message).joined(separator: " "))
    case .success(let prepared):
      guard prepared.plan.kind == .subscription else {
        throw Refused(description: "Only subscriptions can be delivered.")
      }
      do {
        if let found = try service.group(of: prepared, request, nil) {
          guard found.0.tree == nil else { throw Refused(description: Self.ofTree) }
          return found
        }
      } catch let refused as Refused {
        throw refused
      } catch {
        throw Refused(description: SubscriptionErrors.list(error).map(\.error.message).joined(separator: " "))
      }
      throw Refused(description: "The subscription has a source of its own, from which nothing can be resumed.")
    }
  }

  func resume() { feed.resume(self) }

  func apply(_ batch: ChangeBatch) {}

  var followed: Int64? { member.map { $0.isCatchingUp ? $0.since : feed.position(of: self).offset } }

  func stop() {
    if let member { feed.remove(member) }
    member = nil
    feed.end(self)
  }
}

extension OperationSource: Subscriber {
  var hasRoom: Bool { channel?.hasRoom == true }
  var isLagging: Bool { !hasRoom }

  func members(of feed: Feed) -> [Member] { member.map { [$0] } ?? [] }

  func write(_ event: FeedEvent, to member: Member) {
    guard let channel else { return }
    channel.skip(to: event.offset - 1)
    let sent = channel.body.event(result: event.payload, at: tools.cursor(at: event.offset), time: tools.now)
    channel.append(ChannelTransaction(offset: event.offset, events: [sent]))
  }

  func caughtUp(_ member: Member, at cursor: Cursor) {}

  func gap(_ member: Member, _ reason: GapReason, from: Cursor?, to: Cursor) {
    channel?.gap(reason.wireName, from: from, to: tools.cursor(at: to.offset), keys: nil)
  }

  /// Looks again in the next turn; a delivery that ends makes room and resumes at once.
  func continueNextTurn() {
    guard !isContinued else { return }
    isContinued = true
    let bound = LoopBound(self, on: tools.loop)
    tools.loop.execute {
      bound.value.isContinued = false
      if bound.value.hasRoom { bound.value.resume() }
    }
  }
}
