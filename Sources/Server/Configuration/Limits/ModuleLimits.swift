internal import MartletChangeFeed
package import MartletJSONTree
package import MartletLoop
package import MartletModels
package import MartletSockets
package import MartletStore
package import MartletTokens
package import MartletTracing
package import MartletTreeRules
package import MartletTreeWire
package import MartletWire

// The bounds of the modules that a server is made of, from the server's. Copied here, for GraphQL's modules in
// `GraphQLModuleLimits.swift`, and for the machines of sessions in `SessionMachines`; a test sets every bound of
// `ServerLimits` and looks at every copy. Transport and Feed call these, so nothing of GraphQL is imported here.

extension ListenerLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    connections = limits.http.connections
    connectionsPerHost = limits.http.connectionsPerHost
    acceptsPerTurn = limits.http.acceptsPerTurn
    acceptsPerSecond = limits.http.acceptsPerSecond
    backlog = Int32(clamping: limits.http.backlog)
    exhaustedPause = limits.http.exhaustedPause
    handshakeTime = limits.http.handshakeTime
    proxyHeaderBytes = limits.http.proxyHeaderBytes
    keepAliveSeconds = limits.http.tcpKeepAlive.map { Int32(clamping: $0.components.seconds) }
  }
}

extension LoopLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    eventsPerTurn = limits.http.eventsPerTurn
    jobsPerTurn = limits.http.jobsPerTurn
    readBytes = limits.http.readBytes
    pendingBytes = limits.http.pendingBytes
    pooledBufferBytes = limits.http.pooledBufferBytes
    poolBytes = limits.http.poolBytes
    flushTime = limits.http.flushTime
    lingerTime = limits.http.lingerTime
    handshakesPerTurn = limits.http.handshakesPerTurn
    closingsPerTurn = limits.http.closingsPerTurn
  }
}

extension HTTPLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    // Each endpoint holds its requests to a length of its own when the head has come.
    bodyBytes = .max
    startLineBytes = limits.http.requestLineBytes
    headerBytes = limits.http.headerBytes
    headerFields = limits.http.headerFields
    chunkLineBytes = limits.http.chunkLineBytes
    pipelinedBytes = limits.http.pipelinedBytes
  }
}

extension WebSocketLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    messageBytes = limits.webSocket.messageBytes
    compressionThreshold = limits.webSocket.compressionThreshold
    pingInterval = limits.webSocket.pingInterval
    pongTimeout = limits.webSocket.pongTimeout
    closeTimeout = limits.webSocket.closeTimeout
  }
}

extension FeedLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    deliveriesPerTurn = limits.session.deliveriesPerTurn
    sendsPerTurn = max(limits.session.sendsPerTurn, 1)
    catchUpBytes = limits.session.catchUpBytes
    catchUpChanges = max(limits.session.catchUpChanges, 1)
    catchUpPages = limits.session.catchUpPages
    catchUpEventBytes = limits.session.catchUpEventBytes
    catchUpWorkPerTurn = limits.session.catchUpWorkPerTurn
    matchingWorkPerTurn = limits.session.matchingWorkPerTurn
    readRetry = limits.session.readRetry
    measuredGroups = limits.session.measuredGroups
    index.scannedPredicates = limits.session.scannedFilters
    index.branchesPerPredicate = limits.session.branchesPerFilter
    index.signaturesPerChannel = limits.session.signaturesPerModel
  }
}

extension FilterLimits {
  package init(_ limits: ServerLimits.Query) {
    self.init()
    listItems = limits.filterListItems
    comparisons = limits.filterComparisons
    // Whatever a program sets: deeper ones SQLite refuses as a whole statement.
    depth = min(limits.filterDepth, depth)
  }
}

extension StoreLimits {
  package init(_ limits: ServerLimits) {
    let store = limits.store
    self.init()
    groupOperations = store.groupOperations
    smallWrite = store.smallWrite
    groupsBeforeLarge = store.groupsBeforeLarge
    wholeWrite = store.wholeWrite
    stagedRows = store.stagedRows
    queuedWrites = store.queuedWrites
    queuedOperations = store.queuedOperations
    readers = store.readers
    listNiceness = store.listNiceness
    queuedReads = store.queuedReads
    readTime = store.readTime
    snapshotTime = store.snapshotTime
    sliceRows = store.sliceRows
    readsBetweenSlices = store.readsBetweenSlices
    activeScans = store.activeScans
    transactionTime = store.transactionTime
    transactionChanges = store.transactionChanges
    cascadeChanges = store.cascadeChanges
    recordBytes = store.recordBytes
    eventBytes = store.eventBytes
    treeBytes = limits.tree.entryBytes
    deferredBytes = limits.tree.deferredBytes
    definitionBytes = limits.tree.ruleFileBytes
    outcomeBytes = store.outcomeBytes
    refusalMessageBytes = store.refusalMessageBytes
    schemaBytes = store.schemaBytes
    logAge = store.retention
    logBytes = Int64(store.retentionBytes)
    forgottenAtOnce = store.forgottenAtOnce
    forgottenBytesAtOnce = Int64(store.forgottenBytesAtOnce)
    indexedAtOnce = store.indexedAtOnce
    tombstoneAge = store.tombstoneAge
    unacknowledgedWrites = Int64(store.unacknowledgedWrites)
    writeClients = Int64(store.writeClients)
    checkpointPages = store.checkpointPages
    checkpointWait = store.checkpointWait
    largestLogPages = store.largestLogPages
    pageRows = limits.query.largestPage
    scannedRows = store.scannedRows
    soughtValues = store.soughtValues
    countedRows = store.countedRows
    reportedDamages = store.reportedDamages
    backupPages = Int32(clamping: store.backupPages)
    ringBytes = store.ringBytes
    cacheKiB = Int32(clamping: store.cacheBytes / 1_024)
    terms = store.terms
  }
}

extension TreeLimits {
  package init(_ limits: ServerLimits.Tree) {
    self.init()
    depth = limits.depth
    keyBytes = limits.keyBytes
    textBytes = limits.textBytes
    writeBytes = limits.writeBytes
    children = limits.children
    mergePaths = limits.mergePaths
  }
}

extension TreeWireLimits {
  package init(_ limits: ServerLimits.Tree) {
    self.init()
    frameBytes = limits.frameBytes
    messageBytes = limits.messageBytes
    messageDepth = limits.messageDepth
    listens = limits.listens
    openRequests = limits.openRequests
    deferredWrites = limits.deferredWrites
    windowKeys = limits.windowKeys
  }
}

extension RuleLimits {
  package init(_ limits: ServerLimits.Tree) {
    self.init()
    fileBytes = limits.ruleFileBytes
    levels = limits.ruleLevels
    expressionBytes = limits.ruleExpressionBytes
    expressionDepth = limits.ruleExpressionDepth
    patternInstructions = limits.rulePatternInstructions
    steps = limits.ruleSteps
    problems = limits.ruleProblems
  }
}

extension TokenLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    tokenBytes = limits.access.tokenBytes
    headerBytes = limits.access.tokenHeaderBytes
    depth = limits.access.tokenDepth
    keysTried = limits.access.keysTried
    remembered = limits.access.rememberedTokens
  }
}

extension KeySetLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    defaultAge = limits.access.keySetAge
    leastAge = limits.access.leastKeySetAge
    greatestAge = limits.access.greatestKeySetAge
    unknownKeyPause = limits.access.unknownKeyPause
    outage = limits.access.keySetOutage
    firstPause = limits.access.firstKeySetPause
    greatestPause = limits.access.greatestKeySetPause
    answerTimeout = limits.access.keySetTimeout
    discoveryBytes = limits.access.discoveryBytes
    keySetBytes = limits.access.keySetBytes
    waiters = limits.access.keySetWaiters
    keys = limits.access.keySetKeys
    keyBits = limits.access.keyBits
  }
}

extension LogLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    queuedEntries = limits.log.queuedEntries
    repeats = limits.log.repeats
    repeatInterval = limits.log.repeatInterval
    kinds = limits.log.kinds
    valueBytes = limits.log.valueBytes
    flushTime = limits.log.flushTime
  }
}

extension SpanLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    waiting = limits.tracing.waitingSpans
    perRequest = limits.tracing.spansPerRequest
    commits = limits.tracing.commits
    delay = limits.tracing.delay
    requestTime = limits.tracing.requestTimeout
    longestPause = limits.tracing.longestPause
  }
}

extension AccessLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    tokens = TokenLimits(limits)
    keySets = KeySetLimits(limits)
    authorizer.requests = limits.access.authorizerRequests
    authorizer.queuedCredentials = limits.access.authorizerQueue
    authorizer.waiters = limits.access.authorizerWaiters
    authorizer.cachedAnswers = limits.access.authorizerAnswers
    authorizer.answerBytes = limits.access.authorizerAnswerBytes
    signatureBytes = limits.access.signatureBytes
    signatureFields = limits.access.signatureFields
  }
}
