import { Client, type Dispatcher, errors } from 'undici';
import { type AnsweredCall, type CallProgress, HttpCall } from './http-call.ts';

/**
 * One connection at a time, which notices that the other side says more than it was asked. An answer in HTTP/1.1 does
 * not name its request: the copy of an answer that comes some milliseconds late is taken for the answer to the next
 * call on its connection, which may be another player's bet (I2).
 */
class WatchedConnection extends Client {
  #latest: CallProgress | undefined;
  /** The last one on the present connection. */
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

  /** To be called first when the connection has ended. @returns since when it was idle, if the other side closed it so */
  closedIdleSince(error: Error): number | undefined {
    this.#noteAnswered();
    const isClosed = error instanceof errors.SocketError && error.message === 'other side closed';
    return isClosed && !this.#isUnderWay ? this.#answered?.answeredAtMs : undefined;
  }

  /**
   * To be called when the connection has ended.
   * @returns the call answered last, if bytes ended it that came after that answer and before another request
   */
  ended(error: Error): AnsweredCall | undefined {
    this.#noteAnswered();
    const answered = this.#isUnderWay || !isUnasked(error) ? undefined : this.#answered;
    this.#answered = undefined;
    return answered;
  }

  /** Whether a call was sent whose answer has not come; to be asked once answers are noted. */
  get #isUnderWay(): boolean {
    return this.#latest?.isSent === true;
  }

  #noteAnswered(): void {
    if (this.#latest?.answeredAtMs === undefined) return;
    this.#answered = this.#latest;
    this.#latest = undefined;
  }
}

/** How undici says that bytes came while no request was under way: those of an answer, or any others. */
function isUnasked(error: Error): boolean {
  return (
    (error instanceof errors.SocketError && error.message === 'bad response') ||
    error instanceof errors.HTTPParserError
  );
}

/**
 * For the options of a pool, whose connections are then watched.
 * @param onUnasked gets the call answered last on a connection that brought more than this answer
 * @param onClosedIdle the other side closed an idle connection that it had promised to keep; gets since when it was idle
 */
export function watched(
  onUnasked: (last: AnsweredCall) => void,
  onClosedIdle?: (sinceMs: number) => void,
) {
  return (origin: URL, options: object): Dispatcher => {
    const connection = new WatchedConnection(origin, options);
    connection.on('disconnect', (_origin, _targets, error) => {
      const sinceMs = connection.closedIdleSince(error);
      if (sinceMs !== undefined) onClosedIdle?.(sinceMs);
      const last = connection.ended(error);
      if (last !== undefined) onUnasked(last);
    });
    return connection;
  };
}
