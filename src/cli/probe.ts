import { randomUUID } from 'node:crypto';
import type { OperatorConfig } from '../config/schema.ts';
import { systemClock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { Deadline } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { Exchange } from '../outbound/http-call.ts';
import { HttpClient } from '../outbound/http-client.ts';
import type { ReadVerdict, WalletAdapter } from '../wallets/adapters/adapter.ts';
import { createAdapter } from '../wallets/adapters/index.ts';

/** What asking one wallet has shown. */
export interface Probed {
  readonly operator: string;
  readonly wallet: string;
  /** `ok`: refused in proper form; `odd`: something answers, but not as it should. */
  readonly result: 'ok' | 'odd' | 'unreachable';
  /** From the call, connecting included, to the last byte of the answer. */
  readonly latencyMs: number;
  /** For people: what came, and what to do about it. */
  readonly detail: string;
}

/** Wallets that are asked side by side. */
const AT_ONCE = 16;

/** A user and a token that nobody has. */
const NOBODY = 'wagergate-probe';

/**
 * Asks every wallet for the balance of a player that does not exist, signed as the gateway signs,
 * on the way the gateway takes (same adapter, same judgement of addresses). Never a call that moves
 * money; a good wallet answers 400 with a code.
 */
export async function probeWallets(
  operators: readonly OperatorConfig[],
): Promise<readonly Probed[]> {
  const waiting = operators.map((operator, index) => ({ operator, index }));
  const probed: Probed[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      probed[next.index] = await probe(next.operator);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return probed;
}

async function probe({ id, wallet, currencies }: OperatorConfig): Promise<Probed> {
  const adapter = createAdapter(wallet, systemClock);
  const http = new HttpClient({
    clock: systemClock,
    origin: new URL(wallet.baseUrl).origin,
    allowPrivate: wallet.allowPrivate,
    tls: wallet.tls,
    timeoutMs: wallet.timeoutMs,
    connections: 1,
  });
  const requestId = randomUUID();
  const token = `${NOBODY}-${requestId}`;
  const startedAtMs = systemClock.monotonicMs();
  const call = {
    operation: 'balance',
    body: JSON.stringify({ userId: NOBODY, currency: currencies[0], token, requestId }),
    requestId,
    deadline: new Deadline(systemClock, startedAtMs, wallet.timeoutMs, 0),
  } as const;
  try {
    const exchange = await http.exchange(
      adapter.readRequest(call, wallet.timeoutMs),
      call.deadline,
    );
    const latencyMs = Math.round(systemClock.monotonicMs() - startedAtMs);
    const judged = judge(exchange, (response) => adapter.readVerdict(call, response));
    return { operator: id, wallet: wallet.baseUrl, latencyMs, ...judged };
  } finally {
    await http.close();
  }
}

type Judgement = Pick<Probed, 'result' | 'detail'>;

function judge(
  exchange: Exchange,
  verdictOf: (
    response: Extract<Exchange, { kind: 'response' }>,
  ) => ReturnType<WalletAdapter['readVerdict']>,
): Judgement {
  switch (exchange.kind) {
    case 'notSent':
      return notReached(`no connection (${exchange.error}): check wallet.baseUrl and the network`);
    case 'failed':
      return notReached(`connected, but no answer (${exchange.error})`);
    case 'response':
      return judgeVerdict(exchange.status, verdictOf(exchange));
    default:
      return unreachable(exchange);
  }
}

function judgeVerdict(status: number, verdict: ReadVerdict): Judgement {
  switch (verdict.kind) {
    case 'declined':
      return verdict.code === CODES.badSignature
        ? odd('it refuses the signature (code 1): compare wallet.secrets with its secret')
        : {
            result: 'ok',
            detail: `refuses an unknown player in proper form, code ${verdict.code}`,
          };
    case 'answered':
      return odd('it gives a balance to a player and token that do not exist');
    case 'unknown':
      return odd(
        `it does not answer by the protocol (${verdict.error}): check wallet.baseUrl's path` +
          `${status === 400 ? '' : ', or what stands in front of it'}, or relax wallet.dialect`,
      );
    default:
      return unreachable(verdict);
  }
}

function odd(detail: string): Judgement {
  return { result: 'odd', detail };
}

function notReached(detail: string): Judgement {
  return { result: 'unreachable', detail };
}
