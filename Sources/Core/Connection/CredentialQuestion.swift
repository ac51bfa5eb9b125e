import MartletRuntime
import MartletVocabulary

/// One question to the credential provider, with a deadline. Confined to its loop.
final class CredentialQuestion {
  private let loop: any Loop
  private var completion: ((Result<Credentials, any Error>) -> Void)?
  private var task: SpawnedTask?
  private var timer: LoopTimer?

  /// Asks; `completion` runs once on the loop, never inside this call, not after `cancel`.
  init(
    _ provider: @escaping CredentialProvider, _ reason: CredentialReason, timeout: Duration,
    _ environment: ClientEnvironment, completion: @escaping (Result<Credentials, any Error>) -> Void
  ) {
    loop = environment.loop
    self.completion = completion
    timer = loop.schedule(at: loop.now + timeout) { [weak self] in
      self?.answered(.failure(GraphQLClientError(.timeout, "the credential provider did not answer")))
    }
    let bound = LoopBound(self, on: loop)
    task = environment.spawner.spawn {
      let answer: Result<Credentials, any Error>
      do {
        answer = .success(try await provider(reason))
      } catch {
        answer = .failure(error)
      }
      bound.loop.execute { bound.value.answered(answer) }
    }
  }

  private func answered(_ answer: Result<Credentials, any Error>) {
    let told = completion
    cancel()
    told?(answer)
  }

  func cancel() {
    completion = nil
    timer?.cancel()
    task?.cancel()
    task = nil
  }
}
