import { Client, type Dispatcher, errors } from 'undici';
import { type CallProgress, HttpCall } from './http-call.ts';

/** One connection, which knows the call answered last: a copy would pass for the answer to the next bet (I2). */
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
 * The `factory` of a pool. Both get the call answered last on the connection.
 * @param onAnsweredTwice further bytes came after its answer @param onClosedIdle it was closed while idle
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
      if (isUnsolicited(error)) onAnsweredTwice(last);
      else if (isSocketError(error, 'other side closed')) onClosedIdle(last);
    });
    return client;
  };
}

/** The errors of undici for bytes that came while no request was under way. */
function isUnsolicited(error: Error): boolean {
  return isSocketError(error, 'bad response') || error instanceof errors.HTTPParserError;
}

function isSocketError(error: Error, message: string): boolean {
  return error instanceof errors.SocketError && error.message === message;
}
