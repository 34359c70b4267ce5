import type { BetMove, BetPlan } from '../plan/plan.ts';
import { CURRENCY } from '../settings.ts';

/** A player as the service knows one. */
export interface Player {
  readonly userId: string;
  readonly token: string;
  readonly operatorToken: string;
  /** The operator's own id of the player. */
  readonly user: string;
}

export interface Message {
  readonly method: 'POST' | 'PUT';
  readonly body: string;
  readonly requestId: string;
}

/** The service's message about a bet, written by hand: numbers keep their exact text. */
export function messageOf(
  move: BetMove,
  bet: BetPlan,
  ids: { readonly transactionId: string; readonly requestId: string; readonly player: Player },
  paid: string,
): Message {
  const { transactionId, requestId, player } = ids;
  const common = {
    transactionId: quoted(transactionId),
    currency: quoted(CURRENCY),
    userId: quoted(player.userId),
    requestId: quoted(requestId),
    bonusId: bet.isFreebet ? '7001' : 'null',
    bonusTemplateId: bet.isFreebet ? '701' : 'null',
    gameType: '"sportsbook"',
    ticketType: '"single"',
    boosterCoefficient: '1',
  };
  const token = quoted(player.token);
  const coefficient = move.kind === 'update' ? move.coefficient : '1.2';
  const placed = {
    token,
    ...common,
    amount: bet.stake,
    coefficient,
    info: '"bet"',
    ip: '"35.168.110.10"',
    subPartnerId: 'null',
    bonusAmount: bet.isFreebet ? bet.stake : 'null',
    metadata: `[{"disciplineId":"fifa","eventId":"5663102","coefficient":${coefficient},"stage":1}]`,
  };
  const put = (fields: Readonly<Record<string, string>>): Message => ({
    method: 'PUT',
    body: objectText(fields),
    requestId,
  });
  switch (move.kind) {
    case 'place':
      return { method: 'POST', body: objectText({ ...placed, type: '1' }), requestId };
    case 'settle': {
      const { amount, resultType } = move;
      const cashout = resultType === 'cashout' ? { token } : {};
      const result = { amount, coefficient, type: '2', resultType: quoted(resultType) };
      return put({ ...cashout, ...common, ...result });
    }
    case 'unsettle':
      return put({ ...common, amount: paid, coefficient, type: '1' });
    case 'rollback': {
      const errorCode = String(move.errorCode);
      return put({ token, ...common, amount: bet.stake, coefficient, type: '3', errorCode });
    }
    case 'update':
      return put({ ...placed, type: '5' });
  }
}

function quoted(text: string): string {
  return JSON.stringify(text);
}

function objectText(fields: Readonly<Record<string, string>>): string {
  const members = Object.entries(fields).map(([name, raw]) => `${quoted(name)}:${raw}`);
  return `{${members.join(',')}}`;
}
