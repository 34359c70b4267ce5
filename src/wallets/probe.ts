import { randomUUID } from 'node:crypto';
import { systemClock } from '../domain/clock.ts';
import { CODES } from '../domain/codes.ts';
import { Deadline } from '../domain/deadline.ts';
import { unreachable } from '../domain/unreachable.ts';
import type { Exchange } from '../outbound/http-call.ts';
import { HttpClient } from '../outbound/http-client.ts';
import type { HttpRequest } from '../outbound/http-message.ts';
import {
  certificateIn,
  peerCertificate,
  type TlsCertificate,
} from '../outbound/peer-certificate.ts';
import type { ReadVerdict, WalletAdapter } from './adapters/adapter.ts';
import { createAdapter } from './adapters/index.ts';
import { settingsMask } from './evidence.ts';
import type { Dialect, WalletOperator } from './wallet-config.ts';

/** An operator whose wallet can be probed; the configuration's operator type is assignable to it. */
interface ProbedOwner extends Pick<WalletOperator, 'id' | 'wallet'> {
  readonly currencies: readonly string[];
}

/** The result of probing one wallet. */
export interface Probed {
  readonly operator: string;
  readonly wallet: string;
  /** `ok`: it refused in proper form; `odd`: something answers, but not as it should. */
  readonly result: 'ok' | 'odd' | 'unreachable';
  /** From the call, including connecting, to the last byte of the answer. */
  readonly latencyMs: number;
  /** For people: what was received, and what to do about it. */
  readonly detail: string;
  /** The wallet's certificate; null without TLS or without a connection. */
  readonly certificate: TlsCertificate | null;
  /** The gateway's client certificate (`wallet.tls.cert`). */
  readonly ownCertificate: TlsCertificate | null;
}

/** How many wallets are probed at the same time. */
const AT_ONCE = 16;

/** A user and a token that nobody has. */
const NOBODY = 'wagergate-probe';

/**
 * Requests the balance of a player who does not exist from every wallet, exactly as the gateway does. A good
 * wallet answers 400 with a code.
 */
export async function probeWallets(operators: readonly ProbedOwner[]): Promise<readonly Probed[]> {
  const waiting = operators.map((operator, index) => ({ operator, index }));
  const probed: Probed[] = [];
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      probed[next.index] = await probeWallet(next.operator);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return probed;
}

/** Probes one wallet. */
export async function probeWallet({ id, wallet, currencies }: ProbedOwner): Promise<Probed> {
  const adapter = createAdapter(wallet, systemClock);
  // A wallet may quote the secret that it expects, which not everybody who may probe it may see.
  const mask = settingsMask(wallet);
  const http = new HttpClient({
    clock: systemClock,
    origin: new URL(wallet.baseUrl).origin,
    allowPrivate: wallet.allowPrivate,
    tls: wallet.tls,
    timeoutMs: wallet.timeoutMs,
    connections: 1,
  });
  const probe = async (change: (request: HttpRequest) => HttpRequest): Promise<ProbeAnswer> => {
    const requestId = randomUUID();
    const token = `${NOBODY}-${requestId}`;
    const startedAtMs = systemClock.monotonicMs();
    const call = {
      operation: 'balance',
      body: JSON.stringify({ userId: NOBODY, currency: currencies[0], token, requestId }),
      requestId,
      deadline: new Deadline(systemClock, startedAtMs, wallet.timeoutMs, 0),
    } as const;
    const request = change(adapter.readRequest(call, wallet.timeoutMs));
    const exchange = await http.exchange(request, call.deadline);
    const latencyMs = Math.round(systemClock.monotonicMs() - startedAtMs);
    const judged = judge(exchange, (response) => adapter.readVerdict(call, response));
    return { ...judged, detail: mask.text(judged.detail), exchange, latencyMs };
  };
  try {
    const first = await probe((request) => request);
    const { result, latencyMs, detail } = await explained(first, probe);
    return {
      operator: id,
      wallet: wallet.baseUrl,
      result,
      latencyMs,
      detail,
      certificate:
        result === 'unreachable'
          ? null
          : await peerCertificate({ ...wallet, site: siteOf(wallet.dialect) }),
      ownCertificate: wallet.tls?.cert === undefined ? null : certificateIn(wallet.tls.cert),
    };
  } finally {
    await http.close();
  }
}

/** By `dialect.headers`, whose names are of any case. */
function siteOf({ headers = {} }: Dialect): string | undefined {
  return Object.entries(headers).find(([name]) => name.toLowerCase() === 'host')?.[1];
}

interface ProbeAnswer extends Judgement {
  readonly exchange: Exchange;
  readonly latencyMs: number;
}

/** Asks again whether a refused signature is accepted with the older header, and whether it is checked at all. */
async function explained(
  first: ProbeAnswer,
  probe: (change: (request: HttpRequest) => HttpRequest) => Promise<ProbeAnswer>,
): Promise<ProbeAnswer> {
  if (first.exchange.kind !== 'response') return first;
  if (first.refusesSignature === true) {
    const older = await probe(withOlderHeader);
    if (older.refusesSignature === true || older.exchange.kind !== 'response') return first;
    const detail = 'it wants the older header x-sign too: set wallet.dialect legacySign: true';
    return { ...first, detail };
  }
  if (first.result !== 'ok') return first;
  const forged = await probe(withWrongSignature);
  if (forged.exchange.kind !== 'response' || forged.result !== 'ok') return first;
  // Any other status may mean a wrong signature as well as an unknown player.
  if (forged.exchange.status !== 400 || forged.detail !== first.detail) return first;
  const detail =
    `${first.detail}; but it answers a WRONG signature in the same way: anybody who reaches the ` +
    'wallet could place and settle bets';
  return { ...first, result: 'odd', detail };
}

const withOlderHeader = (request: HttpRequest): HttpRequest => ({
  ...request,
  headers: { ...request.headers, 'x-sign': request.headers['x-sign-jws'] ?? '' },
});

/** Changes one character of the right signature, so that it is still base64url. */
function withWrongSignature(request: HttpRequest): HttpRequest {
  const jws = request.headers['x-sign-jws'] ?? '';
  const at = jws.lastIndexOf('.') + 1;
  const wrong = jws.slice(0, at) + (jws[at] === 'A' ? 'B' : 'A') + jws.slice(at + 1);
  return { ...request, headers: { ...request.headers, 'x-sign-jws': wrong } };
}

interface Judgement extends Pick<Probed, 'result' | 'detail'> {
  readonly refusesSignature?: boolean;
}

function judge(
  exchange: Exchange,
  verdictOf: (
    response: Extract<Exchange, { kind: 'response' }>,
  ) => ReturnType<WalletAdapter['readVerdict']>,
): Judgement {
  switch (exchange.kind) {
    case 'notSent':
      return notReached(`no connection (${exchange.error}): ${adviceOnConnection(exchange.error)}`);
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
        ? {
            ...odd(
              `it refuses the signature (${said(verdict)}): compare wallet.secrets with its secret`,
            ),
            refusesSignature: true,
          }
        : {
            result: 'ok',
            detail: `refuses an unknown player in proper form, ${said(verdict)}`,
          };
    case 'answered':
      return odd('it gives a balance to a player and token that do not exist');
    case 'unknown':
      return odd(`it does not answer by the protocol (${verdict.error}): ${adviceFor(status)}`);
    default:
      return unreachable(verdict);
  }
}

/** @param error in the words of `describeError` */
function adviceOnConnection(error: string): string {
  return error.startsWith('TLS: its certificate')
    ? 'the operator has to put the certificate right, unless wallet.tls lacks its authority'
    : 'check wallet.baseUrl and the network';
}

function adviceFor(status: number): string {
  // For example after a rotation: only code 1 certainly means the signature.
  const shutOut =
    status === 401 || status === 403
      ? 'does it refuse the signature or our address? Compare wallet.secrets with its secret, '
      : '';
  const inFront = status === 400 ? '' : ', or what stands in front of it';
  return `${shutOut}check wallet.baseUrl's path${inFront}, or relax wallet.dialect`;
}

/** The wallet's code and its own words. */
function said({ code, message }: { readonly code: number; readonly message: string }): string {
  return `code ${code}: ${message}`;
}

function odd(detail: string): Judgement {
  return { result: 'odd', detail };
}

function notReached(detail: string): Judgement {
  return { result: 'unreachable', detail };
}
