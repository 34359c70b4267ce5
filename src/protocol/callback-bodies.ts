import { randomUUID } from 'node:crypto';
import type { ResultType } from '../domain/bet.ts';
import { jsonString } from './json.ts';

/** Members of a JSON object as raw JSON text, so that `12.10` stays `12.10`. */
export type RawFields = Readonly<Record<string, string | undefined>>;

/** One bet, with all members that its later operations repeat. */
export interface BetSlip {
  readonly transactionId: string;
  readonly token: string;
  readonly userId: string;
  readonly currency: string;
  /** Stake, decimal text. */
  readonly amount: string;
  /** Odds, decimal text. */
  readonly coefficient: string;
  /** `null`, or the bonus that the stake comes from. */
  readonly bonusId: number | null;
  readonly bonusTemplateId: number | null;
}

/** The text of a JSON object; a member that is `undefined` is left out. */
export function objectText(fields: RawFields): string {
  const members = Object.entries(fields).flatMap(([name, raw]) =>
    raw === undefined ? [] : `${jsonString(name)}:${raw}`,
  );
  return `{${members.join(',')}}`;
}

/** @param more raw members that override or extend the usual ones; `undefined` leaves one out */
export function profileBody(token: string, more: RawFields = {}): string {
  return objectText({ token: jsonString(token), requestId: jsonString(randomUUID()), ...more });
}

export function balanceBody(
  player: { readonly userId: string; readonly currency: string; readonly token: string },
  more: RawFields = {},
): string {
  return objectText({
    userId: jsonString(player.userId),
    currency: jsonString(player.currency),
    token: jsonString(player.token),
    requestId: jsonString(randomUUID()),
    ...more,
  });
}

export function placeBody(slip: BetSlip, more: RawFields = {}): string {
  return objectText({ ...placeFields(slip), type: '1', ...more });
}

/** The player asks for a cashout, so it carries a token; any other settle carries none. */
export function settleBody(
  slip: BetSlip,
  result: { amount: string; resultType: ResultType; token: string | undefined },
  more: RawFields = {},
): string {
  const token = result.token === undefined ? {} : { token: jsonString(result.token) };
  return objectText({
    ...token,
    ...commonFields(slip),
    amount: result.amount,
    type: '2',
    resultType: jsonString(result.resultType),
    ...more,
  });
}

/** @param amount the payout that is undone */
export function unsettleBody(slip: BetSlip, amount: string, more: RawFields = {}): string {
  return objectText({ ...commonFields(slip), amount, type: '1', ...more });
}

export function rollbackBody(slip: BetSlip, errorCode: number, more: RawFields = {}): string {
  const token = jsonString(slip.token);
  const code = String(errorCode);
  return objectText({ token, ...commonFields(slip), type: '3', errorCode: code, ...more });
}

export function updateBody(slip: BetSlip, coefficient: string, more: RawFields = {}): string {
  return objectText({ ...placeFields({ ...slip, coefficient }), type: '5', ...more });
}

function commonFields(slip: BetSlip): RawFields {
  return {
    transactionId: jsonString(slip.transactionId),
    currency: jsonString(slip.currency),
    amount: slip.amount,
    userId: jsonString(slip.userId),
    coefficient: slip.coefficient,
    requestId: jsonString(randomUUID()),
    bonusId: String(slip.bonusId),
    bonusTemplateId: String(slip.bonusTemplateId),
    gameType: '"sportsbook"',
    ticketType: '"single"',
    boosterCoefficient: '1',
  };
}

function placeFields(slip: BetSlip): RawFields {
  return {
    token: jsonString(slip.token),
    ...commonFields(slip),
    info: '"bet info"',
    ip: '"35.168.110.10"',
    subPartnerId: 'null',
    bonusAmount: slip.bonusId === null ? 'null' : slip.amount,
    metadata: `[${objectText(outcomeFields(slip.coefficient))}]`,
  };
}

/** The outcome of the published samples. */
function outcomeFields(coefficient: string): RawFields {
  return {
    disciplineId: '"fifa"',
    discipline: '"Fifa"',
    tournamentId: '"3971"',
    tournament: '"Championship of League"',
    tournamentRegionCode: '"GB"',
    eventId: '"5663102"',
    event: '"Club Black and Club White"',
    eventDate: '"2021-03-05 11:08:00"',
    marketId: '"5fa4e904d043dea8811a5f98"',
    market: '"Match Winner"',
    outcomeId: '"111"',
    outcome: '"Club Black"',
    coefficient,
    stage: '1',
  };
}
