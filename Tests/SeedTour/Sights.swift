@testable import SeedTour

/// What there is to see at each stop: every line, in its order.
enum Sights {
  static let all: [(stop: any Stop.Type, lines: String)] = [
    (
      Configuring.self,
      """
      the subscription: Martlet.configure has not been called
      the query: Martlet.configure has not been called
      what helps: Call Martlet.configure when the program starts.
      a file with an unknown member: invalid
      an empty environment: invalid
      configured, and the server has 0 todos
      once more: Martlet.configure was called a second time
      """
    ),
    (
      TodoLoop.self,
      """
      the connection is connecting
      the connection is connected
      a new todo: loop: tea
      a new todo: loop: milk
      the connection is disconnected
      the loop has ended
      the server has 0 subscriptions
      """
    ),
    (
      TodoSink.self,
      """
      the connection is connecting
      the connection is connected
      a new todo: sink: tea
      cancelled: the server has 0 subscriptions
      the connection is connecting
      the connection is connected
      a new todo: sink: milk
      forgotten: the server has 0 subscriptions
      """
    ),
    (
      TwoSinks.self,
      """
      all: connecting
      all: connected
      all: water the plants 1
      all: urgent: pay the rent 1
      urgent ones: urgent: pay the rent 1
      all: finished
      urgent ones: finished
      the server has 0 subscriptions
      -
      all: connecting
      all: connected
      all: water the plants 2
      all: urgent: pay the rent 2
      urgent ones: urgent: pay the rent 2
      urgent ones: finished
      the server has 0 subscriptions
      """
    ),
    (
      ChangesOfTodos.self,
      """
      the server has 1 socket for all four
      created: changes: tea, green, open
      updated: changes: tea, open
      updated: changes: tea, done
      finished: changes: tea, done
      deleted: changes: tea, done
      created: 1 in all
      updated: 2 in all
      deleted: 1 in all
      finished: 1 in all
      the server has 0 subscriptions
      """
    ),
    (
      BrokenEvents.self,
      """
      the connection is connecting
      the connection is connected
      broken: tea: green
      no todo: the answer is no DescribedTodo
      what arrived: {"id":"broken: milk","name":"broken: milk","description":null}
      broken: bread: rye
      the connection is disconnected
      the loop has ended
      """
    ),
    (
      Endings.self,
      """
      loop: connecting
      loop: connected
      loop: JEDI 5
      loop: disconnected
      loop: the end
      sink: connecting
      sink: connected
      sink: EMPIRE 4
      sink: disconnected
      sink: the end
      loop: connecting
      loop: failure: operationFailed, Cannot query field 'onCreateGhost' on type 'Subscription'
      sink: connecting
      sink: failure: operationFailed, Cannot query field 'onCreateGhost' on type 'Subscription'
      """
    ),
    (
      LostConnection.self,
      """
      the connection is connecting
      the connection is connected
      a new todo: before
      now the server is killed
      the connection is interrupted
      the connection is connected
      a new todo: meanwhile
      a new todo: after
      the connection is disconnected
      the loop has ended
      """
    ),
    (
      Transports.self,
      """
      split: subscribed with 1 sockets and 0 HTTP streams
      split: JEDI 5: Ewoks!
      split: the list has 1
      split: finished(cancelled)
      split: 1 events
      chain: subscribed with 0 sockets and 1 HTTP streams
      chain: JEDI 5: Ewoks!
      chain: the list has 2
      chain: finished(cancelled)
      chain: 1 events
      by address: subscribed with 0 sockets and 1 HTTP streams
      by address: JEDI 5: Ewoks!
      by address: the list has 3
      by address: finished(cancelled)
      by address: 1 events
      an address that is none of a server: invalidRequest
      """
    ),
    (
      States.self,
      """
      after the call: pending
      in the loop: active, JEDI 4
      in the loop: active, JEDI 5
      after the loop: finished(completed)
      seen: EMPIRE 3
      after the task was cancelled: finished(cancelled)
      the server's source has stopped
      the loop has thrown: operationFailed
      after an error: finished, with the same error: true
      state: active
      state: paused
      state: active
      state: finished(cancelled)
      """
    ),
    (
      FeedModel.self,
      """
      drawn: waiting for reviews
      drawn: EMPIRE 4
      disappeared: the server has 0 subscriptions
      drawn: EMPIRE 5
      disappeared: the server has 0 subscriptions
      """
    ),
    (
      ReviewScreens.self,
      """
      shown: NEWHOPE 4
      off the screen: the server has 0 subscriptions
      shown: NEWHOPE 5
      let go: the server has 0 subscriptions
      """
    ),
    (
      ReviewLists.self,
      """
      reloaded: JEDI ***** Ewoks!
      reloaded: JEDI ***** Ewoks! | JEDI **
      the list has gone: the server has 0 subscriptions, and the callback is let go
      reloaded: EMPIRE ****
      cancelled twice: the server has 0 subscriptions
      rows: 1
      """
    ),
    (
      Authorization.self,
      """
      the subscription has failed: unauthorized
      no token: the mutation has failed: unauthorized
      the subscription has failed: unauthorized
      a wrong token: the mutation has failed: unauthorized
      reloaded: JEDI *****
      reloaded: JEDI ***** | JEDI ****
      the subscription has failed: unauthorized
      reloaded: NEWHOPE ***
      """
    ),
    (
      Dialects.self,
      """
      graphql-transport-ws
      reloaded: EMPIRE ***** No, I am
      graphql-ws, the older one
      reloaded: EMPIRE ***** No, I am
      AppSync's
      reloaded: EMPIRE ***** No, I am
      reloaded: NEWHOPE ****
      reloaded: NEWHOPE ****
      reloaded: NEWHOPE ****
      a server has met graphqlTransportWS, graphqlWS, appSync
      """
    ),
    (
      LocalPosts.self,
      """
      query: [1 (11.0)], synced: true
      query: [2 (10.5), 1 (11.0)], synced: true
      cleared
      query: [], synced: true
      the loop is ready
      loop: create 3
      loop: delete 3
      loop: ended
      sink: create 4
      stopped
      sink: delete 4
      sink: cancelled
      """
    ),
    (
      SyncedPosts.self,
      """
      item count: 0, isSynced: false
      item count: 1, isSynced: true
      item count: 2, isSynced: true
      the loop has ended
      the server has 4 posts
      """
    ),
    (
      ContactValues.self,
      """
      The 'contacts' node has 1 child nodes
      The 'contacts' node has 2 child nodes
      The contact list is acknowledged
      The contact list is acknowledged
      There are now 3 contacts
      There are now 200 contacts
      Contact watching revoked: too_big: the node /contacts has more than 100 leaves
      """
    ),
    (
      ContactChildren.self,
      """
      added: ada, Ada
      updated: ada, Ada L.
      deleted: ada
      -
      added: bob, Bob
      bob is acknowledged
      deleted: bob
      bob is not yet acknowledged
      bob is acknowledged
      """
    ),
    (
      ContactCallbacks.self,
      """
      The contact ada is added, with value Ada
      The data are acknowledged
      The contact ada is removed
      callback: shown bob
      callback: shown cleo
      callback: acknowledged cleo
      callback: cancelled by this client
      added: bob, Bob, after nothing
      added: cleo, Cleo, after bob
      updated: cleo, Cleopatra, after bob
      The contacts have changed
      The contacts are acknowledged
      The subscription was cancelled
      Something has changed
      Something has changed
      """
    ),
  ]
}
