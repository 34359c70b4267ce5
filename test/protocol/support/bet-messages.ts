import { type BetRequest, type ParseResult, parseBet } from '../../../src/protocol/messages.ts';

type Method = 'POST' | 'PUT';

/** JSON written by hand, because numbers must keep the spelling under test. */
export function body(members: Readonly<Record<string, string | undefined>>): Buffer {
  const present = Object.entries(members).filter(([, raw]) => raw !== undefined);
  return Buffer.from(
    `{${present.map(([name, raw]) => `${JSON.stringify(name)}:${raw}`).join(',')}}`,
  );
}

export function message<T>(result: ParseResult<T>): T {
  if (!result.ok) throw new Error(`refused: ${result.field} ${result.why}`);
  return result.message;
}

export function fieldOf(result: ParseResult<unknown>): string | undefined {
  if (result.ok) throw new Error('was accepted');
  return result.field;
}

/** The smallest message of each operation. */
const BET = { transactionId: '"b26153f9"', userId: '"1999"', amount: '12.10', currency: '"USD"' };
export const BETS = {
  place: { method: 'POST', members: { ...BET, type: '1', token: '"5caa4cabce"' } },
  settle: { method: 'PUT', members: { ...BET, type: '2', resultType: '"won"' } },
  unsettle: { method: 'PUT', members: { ...BET, type: '1' } },
  rollback: { method: 'PUT', members: { ...BET, type: '3', errorCode: '50' } },
  update: { method: 'PUT', members: { ...BET, type: '5', coefficient: '1.2' } },
} as const satisfies Record<
  BetRequest['operation'],
  { method: Method; members: Record<string, string> }
>;
export const OPERATIONS = ['place', 'settle', 'unsettle', 'rollback', 'update'] as const;

export function bet(
  operation: BetRequest['operation'],
  changes: Readonly<Record<string, string | undefined>> = {},
): ParseResult<BetRequest> {
  const { method, members } = BETS[operation];
  return parseBet(method, body({ ...members, ...changes }));
}
