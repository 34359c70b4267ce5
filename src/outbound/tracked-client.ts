import { Client, type Dispatcher, errors } from 'undici';
import { type CallProgress, HttpCall } from './http-call.ts';

/**
 * One connection at a time, which knows the call that it answered last. An answer in HTTP/1.1 does not name its
 * request: a copy that comes a moment later is taken for the answer to the next call, perhaps another bet (I2).
 */
class TrackedClient extends Client {
  #latest: CallProgress | undefined;
  #answered: CallProgress | undefined;

  override dispatch(
    options: Dispatcher.DispatchOptions,
    handler: Dispatcher.DispatchHandler,
  ): boolean {
    this.#noteAnswered();
    if (handler instanceof HttpCall) {
      handler.answeredBefore = this.#answered;
      this.#latest = handler.progress;
    }
    return super.dispatch(options, handler);
  }

  /** The connection has ended. @returns the call answered last on it, unless another one was under way */
  ended(): CallProgress | undefined {
    this.#noteAnswered();
    const answered = this.#latest?.isSent === true ? undefined : this.#answered;
    this.#answered = undefined;
    return answered;
  }

  #noteAnswered(): void {
    if (this.#latest?.answeredAtMs === undefined) return;
    this.#answered = this.#latest;
    this.#latest = undefined;
  }
}

/**
 * The `factory` of a pool.
 * @param onAnsweredTwice gets the call after whose answer the connection brought further bytes
 * @param onClosedIdle the other side closed an idle connection; gets the call answered last on it
 */
export function trackedClients(
  onAnsweredTwice: (last: CallProgress) => void,
  onClosedIdle: (last: CallProgress) => void,
) {
  return (origin: URL, options: object): Dispatcher => {
    const client = new TrackedClient(origin, options);
    client.on('disconnect', (_origin, _targets, error) => {
      const last = client.ended();
      if (last === undefined) return;
      if (isUnaskedAnswer(error)) onAnsweredTwice(last);
      else if (isSocketError(error, 'other side closed')) onClosedIdle(last);
    });
    return client;
  };
}

/** The errors of undici for bytes that came while no request was under way. */
function isUnaskedAnswer(error: Error): boolean {
  return isSocketError(error, 'bad response') || error instanceof errors.HTTPParserError;
}

function isSocketError(error: Error, message: string): boolean {
  return error instanceof errors.SocketError && error.message === message;
}
