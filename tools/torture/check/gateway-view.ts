import type { BetRecord } from '../service/record.ts';

/** What the gateway itself reports about a bet (`GET /admin/bets/:transactionId`). */
export interface GatewayView {
  /** Deliveries that a person has to decide on. */
  readonly dead: number;
  /** Deliveries that are still pending. */
  readonly open: number;
  /** The whole story, for people. */
  readonly lines: readonly string[];
}

const NOTHING: GatewayView = { dead: 0, open: 0, lines: ['the gateway knows of no such bet'] };

/** @throws Error when the gateway does not answer */
export async function gatewayView(
  adminUrl: string,
  adminToken: string,
  record: BetRecord,
): Promise<GatewayView> {
  const response = await fetch(`${adminUrl}/admin/bets/${record.transactionId}`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  if (response.status === 404) return NOTHING;
  const text = await response.text();
  if (response.status !== 200) {
    return { dead: 0, open: 0, lines: [`the gateway does not tell: ${response.status} ${text}`] };
  }
  const bet: Readonly<Record<string, unknown>> = JSON.parse(text);
  const operations = listIn(bet, 'operations');
  const states = operations.map((operation) => wordIn(operation.delivery, 'state'));
  const head = ['state', 'place', 'settlement', 'rollback', 'inFlight']
    .map((name) => `${name} ${JSON.stringify(bet[name])}`)
    .join(', ');
  return {
    dead: states.filter((state) => state === 'dead').length,
    open: states.filter((state) => state === 'pending' || state === 'held').length,
    lines: [head, ...operations.flatMap(linesOf)],
  };
}

type Fields = Readonly<Record<string, unknown>>;

function linesOf(operation: Fields): string[] {
  const { operation: kind, receivedAt, requestId, answer, delivery } = operation;
  const told = isFields(answer) ? `told ${answer.status}` : 'told nothing';
  const state = wordIn(delivery, 'state');
  const promised = state === undefined ? '' : `, delivery ${state}`;
  const attempts = listIn(operation, 'attempts').map(
    ({ number, startedAt, result, code, latencyMs, error }) =>
      `    attempt ${number} at ${startedAt}: ${result} ${code ?? ''} after ${latencyMs} ms ${error ?? ''}`,
  );
  const request = String(requestId).slice(0, 8);
  return [`  ${receivedAt} ${kind} (request ${request}), ${told}${promised}`, ...attempts];
}

function listIn(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  return Array.isArray(value) ? value.filter(isFields) : [];
}

function wordIn(value: unknown, name: string): string | undefined {
  const word = isFields(value) ? value[name] : undefined;
  return typeof word === 'string' ? word : undefined;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
