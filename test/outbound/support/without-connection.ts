import { systemClock } from '../../../src/domain/clock.ts';
import { type Exchange, HttpCall } from '../../../src/outbound/http-call.ts';

/** This side lacks the resources for a connection. */
export const OWN_SHORTAGES = ['EMFILE', 'ENFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'ENOMEM'];
/** Nobody answers on the other side. */
export const OTHERS_FAULTS = ['ECONNREFUSED', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH'];

/** The result of a call that gets no connection because of an error with this code. */
export async function withoutConnection(
  code: string,
): Promise<Extract<Exchange, { readonly kind: 'notSent' }>> {
  const call = new HttpCall({
    clock: systemClock,
    limitMs: 10_000,
    answerBytesMax: 1_000,
    maySend: () => true,
  });
  // Used before a connection has taken the request, when undici has no usable controller either.
  const controller = {
    aborted: false,
    paused: false,
    reason: null,
    pause: () => undefined,
    resume: () => undefined,
    abort: () => undefined,
  };
  call.onResponseError(controller, Object.assign(new Error(`connect ${code}`), { code }));
  const exchange = await call.outcome;
  if (exchange.kind !== 'notSent') throw new Error(`it ended as ${exchange.kind}`);
  return exchange;
}
