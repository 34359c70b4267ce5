import { Client, type Dispatcher, errors } from 'undici';
import type { Clock } from '../domain/clock.ts';
import type { CallProgress, HttpCall } from './http-call.ts';

interface Reports {
  readonly clock: Clock;
  /** Further bytes came after the answer to this call. */
  readonly onAnsweredTwice: (last: CallProgress) => void;
  /** The other side closed the connection while it was idle after this call. */
  readonly onClosedIdle: (last: CallProgress) => void;
}

/** One connection, which knows the call answered last: a copy would pass for the answer to the next bet (I2). */
export class TrackedClient extends Client {
  /** On the monotonic clock. */
  connectedAtMs: number | undefined;
  #latest: CallProgress | undefined;
  #answered: CallProgress | undefined;

  constructor(origin: string, options: Client.Options, reports: Reports) {
    super(origin, options);
    this.on('connect', () => {
      this.connectedAtMs = reports.clock.monotonicMs();
    });
    this.on('disconnect', (_origin, _targets, error) => {
      const last = this.#ended();
      if (last === undefined) return;
      if (isUnsolicited(error)) reports.onAnsweredTwice(last);
      else if (isSocketError(error, 'other side closed')) reports.onClosedIdle(last);
    });
  }

  /** @returns whether the call has ended already, unsent; otherwise `drain` tells when the next may come */
  send(request: Dispatcher.DispatchOptions, call: HttpCall): boolean {
    this.#noteAnswered();
    call.answeredBefore = this.#answered;
    this.#latest = call.progress;
    return this.dispatch(request, call);
  }

  /** The connection has ended. @returns the call answered last on it, unless another one was under way */
  #ended(): CallProgress | undefined {
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

/** The errors of undici for bytes that came while no request was under way. */
function isUnsolicited(error: Error): boolean {
  return isSocketError(error, 'bad response') || error instanceof errors.HTTPParserError;
}

function isSocketError(error: Error, message: string): boolean {
  return error instanceof errors.SocketError && error.message === message;
}
