#if canImport(SwiftUI)
  import Martlet
  import SwiftUI

  struct BoardApplication: App {
    var body: some Scene {
      WindowGroup { BoardView(client: Preview.client()) }
    }
  }

  /// The newest departure, by the property wrapper.
  struct BoardView: View {
    let client: GraphQLClient
    @LiveValue<Departed> private var departed

    var body: some View {
      VStack(alignment: .leading) {
        Text(departed?.departed.line ?? "…").font(.largeTitle)
        Text(departed?.departed.destination ?? "")
        if $departed.gap != nil { Text("Departures are missing.").foregroundStyle(.secondary) }
      }
      .task { await $departed.follow(client.subscribe(Preview.document, as: Departed.self)) }
    }
  }

  /// The same by the observable object, with its state.
  struct StateView: View {
    let client: GraphQLClient
    @State private var live = LiveSubscription<Departed>()

    var body: some View {
      Text(verbatim: "\(live.state): \(live.value?.departed.line ?? "…")")
        .task { await live.follow(client.subscribe(Preview.document, as: Departed.self)) }
    }
  }

  #Preview("Newest departure") { BoardView(client: Preview.client()) }
  #Preview("State") { StateView(client: Preview.client()) }
#endif
