import type { Deed } from './deed.ts';
import type { Scenario } from './play.ts';
import type { Act } from './service.ts';

type Actors = Scenario['actors'];

/** The operations of a bet that a wallet holds. */
const OF_A_BET: readonly Act[] = [
  ...(['settle 20', 'settle 50', 'unsettle', 'rollback', 'update 2', 'copy of place'] as const),
];

const pairsOf = (acts: readonly Act[]): Actors[] =>
  acts.flatMap((one, index) => acts.slice(index + 1).map((other) => [[one], [other]]));

const placed = (actors: Actors): Scenario => ({ begins: 'placed', actors, faults: 0 });
const elsewhere = (actors: Actors): Scenario => ({ begins: 'elsewhere', actors, faults: 0 });
const unknown = (actors: Actors): Scenario => ({ begins: 'unknown', actors, faults: 0 });

/** Every pair of operations of one bet, copies included, and chains beside a copy or a rollback. */
export const TWO: readonly Scenario[] = [
  ...pairsOf(OF_A_BET).map(placed),
  placed([['settle 20'], ['copy of settle 20']]),
  placed([['settle 20'], ['settle 20 again']]),
  placed([['unsettle'], ['copy of unsettle']]),
  placed([['rollback'], ['copy of rollback']]),
  placed([['update 2'], ['copy of update 2']]),
  placed([['update 2'], ['update 3']]),
  placed([['settle 20', 'settle 50'], ['copy of settle 20']]),
  placed([['settle 20', 'unsettle'], ['copy of settle 20']]),
  unknown([['place'], ['copy of place']]),
  unknown([['place'], ['settle 20']]),
  unknown([['place'], ['unsettle']]),
  unknown([['place'], ['rollback']]),
  unknown([['place'], ['update 2']]),
  unknown([['place', 'settle 20'], ['rollback']]),
];

/** The first operations that this gateway sees of a bet that another one has placed. */
export const OF_ANOTHER_GATEWAY: readonly Scenario[] = [
  ...pairsOf(['settle 20', 'settle 50', 'unsettle', 'rollback', 'update 2']).map(elsewhere),
  elsewhere([['settle 20'], ['copy of settle 20']]),
  elsewhere([['unsettle'], ['copy of unsettle']]),
  elsewhere([['rollback'], ['copy of rollback']]),
  elsewhere([['update 2'], ['copy of update 2']]),
];

/** The combinations whose order matters most. */
export const THREE: readonly Scenario[] = [
  placed([['settle 20'], ['settle 50'], ['rollback']]),
  placed([['settle 20'], ['settle 50'], ['unsettle']]),
  placed([['settle 20'], ['copy of settle 20'], ['settle 50']]),
  placed([['settle 20'], ['update 2'], ['rollback']]),
  placed([['rollback'], ['copy of rollback'], ['copy of place']]),
  unknown([['place'], ['copy of place'], ['rollback']]),
  unknown([['place'], ['settle 20'], ['rollback']]),
];

type Began = Pick<Scenario, 'begins' | 'isTaken' | 'paysRepeats'>;

const beside = (began: Began, deeds: readonly Deed[], acts: readonly (Act | Deed)[]): Scenario[] =>
  deeds.flatMap((deed) => acts.map((act) => ({ ...began, actors: [[deed], [act]], faults: 0 })));

const together = (began: Began, actors: Actors): Scenario => ({ ...began, actors, faults: 0 });

const RESULTS: readonly Act[] = ['settle 20 again', 'settle 50', 'unsettle', 'rollback'];
const HOLDS = { begins: 'dead', paysRepeats: true } as const;
const HAS = { isTaken: true } as const;

/** People beside callbacks, the worker and each other, where every result that gets no answer is answered 503. */
export const OF_PEOPLE: readonly Scenario[] = [
  ...beside({ begins: 'doubt' }, ['say'], [...RESULTS, 'update 2', 'say', 'confirm']),
  ...beside({ begins: 'doubt', ...HAS }, ['say'], RESULTS),
  together({ begins: 'doubt' }, [['say'], ['settle 20 again'], ['rollback']]),
  together({ begins: 'doubt', ...HAS }, [['say'], ['unsettle'], ['settle 20 again']]),
  // Two who look at the wallet and book there themselves are not played: no gateway sees that.
  ...beside(HOLDS, ['retry', 'resolve', 'say'], [...RESULTS, 'work', 'confirm']),
  ...beside({ ...HOLDS, ...HAS }, ['retry', 'say'], [...RESULTS, 'retry']),
  together(HOLDS, [['retry'], ['settle 50'], ['work']]),
  ...beside(
    { begins: 'dead rollback' },
    ['retry', 'resolve'],
    ['copy of rollback', 'copy of place', 'settle 20', 'retry', 'work', 'confirm'],
  ),
];

/** The same where a first settle is promised. */
export const OF_PEOPLE_PROMISED: readonly Scenario[] = [
  ...beside({ begins: 'dead' }, ['retry', 'resolve'], [...RESULTS, 'update 2', 'work', 'confirm']),
  ...beside({ begins: 'dead' }, ['retry', 'retry all', 'say'], ['retry', 'resolve', 'settle 50']),
  ...beside({ begins: 'dead', ...HAS }, ['retry', 'resolve'], RESULTS),
  ...beside({ begins: 'pending' }, ['retry', 'retry all'], ['work', 'settle 50']),
  { ...together({ begins: 'overdue' }, [['retry'], ['work']]), faults: 1 },
  { ...together({ begins: 'overdue' }, [['resolve'], ['work']]), faults: 1 },
  together({ begins: 'dead' }, [['retry'], ['settle 50'], ['work']]),
  together({ begins: 'dead' }, [['resolve'], ['unsettle'], ['retry']]),
  together({ begins: 'dead', ...HAS }, [['retry'], ['unsettle'], ['work']]),
];

type Chain = readonly (Act | Deed)[];

const replaced = (began: Began, chain: Chain, isBehind = false): Scenario => ({
  ...together(began, [['raise', 'release'], chain]),
  isBehind,
});
/** The operator's wallet is replaced and its bets are released to the new one, beside callbacks and the worker. */
export const OF_WALLETS: readonly Scenario[] = [
  replaced({ begins: 'placed' }, ['settle 20']),
  replaced({ begins: 'elsewhere' }, ['rollback', 'work']),
  replaced({ begins: 'unknown' }, ['place', 'rollback']),
  replaced({ begins: 'pending' }, ['settle 50', 'work']),
  replaced({ begins: 'dead' }, ['retry', 'work']),
  ...(['settle 20', 'rollback', 'update 2'] as const).map((act) =>
    replaced({ begins: 'placed' }, [act, 'work'], true),
  ),
  ...(['settle 20', 'rollback'] as const).map((act) =>
    replaced({ begins: 'elsewhere' }, [act, 'work'], true),
  ),
  replaced({ begins: 'unknown' }, ['place', 'rollback'], true),
  replaced({ begins: 'pending' }, ['work'], true),
  replaced({ begins: 'pending' }, ['rollback', 'work'], true),
  replaced({ begins: 'dead' }, ['retry', 'work'], true),
  together({ begins: 'placed' }, [
    ['raise', 'lower', 'release'],
    ['rollback', 'work'],
  ]),
  together({ begins: 'pending' }, [['raise', 'release', 'lower', 'release'], ['work']]),
  together({ begins: 'placed' }, [['raise', 'release'], ['settle 20'], ['rollback']]),
];

const forgets = (began: Began, ...chains: readonly Chain[]): Scenario[] =>
  chains.map((chain) => together(began, [['forget'], chain]));

/** A player is forgotten beside callbacks, the worker and people. */
export const FORGETTING: readonly Scenario[] = [
  ...forgets({ begins: 'settled' }, ['settle 50'], ['update 2'], ['copy of place']),
  ...forgets({ begins: 'declined' }, ['rollback'], ['update 2']),
  ...forgets({ begins: 'placed' }, ['settle 20'], ['rollback']),
  ...forgets({ begins: 'doubt' }, ['say'], ['rollback', 'confirm']),
  ...forgets({ begins: 'dead rollback' }, ['retry', 'work']),
  ...forgets({ begins: 'unknown' }, ['place', 'rollback']),
  ...forgets({ begins: 'elsewhere' }, ['update 2', 'rollback']),
];

/** The same where a first settle is promised. */
export const FORGETTING_PROMISED: readonly Scenario[] = [
  ...forgets({ begins: 'pending' }, ['work']),
  ...forgets({ begins: 'dead' }, ['resolve']),
];

export function titleOf(scenario: Scenario): string {
  const { begins, actors, faults, isTaken, paysRepeats, isBehind } = scenario;
  const all = actors.map((acts) => acts.join(', then ')).join(' | ');
  const at = {
    placed: 'of a placed bet',
    declined: 'of a bet that was refused',
    settled: 'of a settled bet',
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
