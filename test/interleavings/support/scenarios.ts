import type { Deed } from './deed.ts';
import type { Scenario } from './play.ts';
import type { Act } from './service.ts';

/** A scenario, and how many of its orders are played. */
export interface Sampled {
  readonly scenario: Scenario;
  readonly ordersMax: number;
}

type Began = Pick<Scenario, 'begins' | 'isTaken' | 'paysRepeats' | 'isBehind'>;
type Chain = readonly (Act | Deed)[];

const of = (ordersMax: number, began: Began, faults: number, ...actors: Chain[]): Sampled => ({
  scenario: { ...began, actors, faults },
  ordersMax,
});

const PLACED = { begins: 'placed' } as const;
const ELSEWHERE = { begins: 'elsewhere' } as const;
const UNKNOWN = { begins: 'unknown' } as const;
const DEAD = { begins: 'dead' } as const;
const DOUBT = { begins: 'doubt' } as const;
const PENDING = { begins: 'pending' } as const;
const OVERDUE = { begins: 'overdue' } as const;
/** The wallet has carried out the call that got no answer. */
const HAS = { isTaken: true } as const;
/** The wallet would pay a repeat again. */
const HOLDS = { begins: 'dead', paysRepeats: true } as const;
const BEHIND = { isBehind: true } as const;

/** Results that get no answer are answered 503, and the service repeats them. */
export const ANSWERED_503: readonly Sampled[] = [
  of(4, PLACED, 0, ['settle 20'], ['settle 50']),
  of(4, PLACED, 0, ['settle 20'], ['unsettle']),
  of(4, PLACED, 0, ['settle 20'], ['rollback']),
  of(3, PLACED, 0, ['settle 20'], ['copy of settle 20']),
  of(3, PLACED, 0, ['settle 20', 'unsettle'], ['copy of settle 20']),
  of(3, PLACED, 0, ['rollback'], ['copy of rollback'], ['copy of place']),
  of(3, PLACED, 0, ['update 2'], ['update 3']),
  of(4, UNKNOWN, 0, ['place'], ['copy of place'], ['rollback']),
  of(3, UNKNOWN, 0, ['place'], ['settle 20'], ['rollback']),
  of(4, ELSEWHERE, 0, ['settle 20'], ['rollback']),
  of(4, PLACED, 0, ['settle 20'], ['settle 50'], ['rollback']),
  // A process is killed, an answer of PostgreSQL or of the wallet is lost, or a caller gives up.
  of(16, PLACED, 1, ['settle 20', 'settle 50']),
  of(16, UNKNOWN, 1, ['place'], ['rollback']),
  of(12, ELSEWHERE, 1, ['unsettle', 'rollback']),
  // People beside callbacks, the worker and each other.
  of(3, DOUBT, 0, ['say'], ['settle 20 again'], ['rollback']),
  of(3, { ...DOUBT, ...HAS }, 0, ['say'], ['unsettle']),
  of(3, HOLDS, 0, ['retry'], ['settle 50'], ['work']),
  of(3, HOLDS, 0, ['resolve'], ['confirm']),
  of(3, { begins: 'dead rollback' }, 0, ['retry'], ['copy of rollback']),
];

/** A first settle that gets no answer is promised. */
export const PROMISED: readonly Sampled[] = [
  // The settle gets no answer, and the operation that waits for it gives up: that makes two faults.
  of(16, PLACED, 2, ['settle 20'], ['rollback']),
  of(12, PLACED, 1, ['settle 20', 'settle 50'], ['rollback']),
  of(3, DEAD, 0, ['retry'], ['settle 50'], ['work']),
  of(3, DEAD, 0, ['retry'], ['confirm']),
  of(3, DEAD, 0, ['resolve'], ['confirm']),
  of(3, DEAD, 0, ['resolve'], ['unsettle'], ['retry']),
  of(3, { ...DEAD, ...HAS }, 0, ['retry'], ['unsettle'], ['work']),
  of(2, PENDING, 0, ['retry all'], ['work']),
  of(12, OVERDUE, 1, ['retry'], ['work']),
  // The operator's wallet is replaced, and its bets are released to the new one.
  of(3, PLACED, 0, ['raise', 'release'], ['settle 20'], ['rollback']),
  of(3, { ...UNKNOWN, ...BEHIND }, 0, ['raise', 'release'], ['place', 'rollback']),
  of(3, { ...PENDING, ...BEHIND }, 0, ['raise', 'release'], ['rollback', 'work']),
  of(2, PLACED, 0, ['raise', 'lower', 'release'], ['rollback', 'work']),
];

export function titleOf(scenario: Scenario): string {
  const { begins, actors, faults, isTaken, paysRepeats, isBehind } = scenario;
  const all = actors.map((acts) => acts.join(', then ')).join(' | ');
  const at = {
    placed: 'of a placed bet',
    unknown: 'of a new bet',
    elsewhere: 'of a bet placed elsewhere',
    doubt: 'of a bet in doubt',
    dead: 'of a dead letter',
    'dead rollback': 'of a dead rollback',
    pending: 'of a promised result',
    overdue: 'of a promised result at its last attempt',
  }[begins];
  const taken = isTaken ? ' that the wallet has' : '';
  const pays = paysRepeats ? ', which would be paid twice' : '';
  const behind = isBehind ? ', by a process that is behind' : '';
  const failing = faults > 1 ? `, ${faults} steps fail` : faults > 0 ? ', one step fails' : '';
  return `${all} ${at}${taken}${pays}${behind}${failing}`;
}
