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

export function titleOf({ begins, actors, faults }: Scenario): string {
  const all = actors.map((acts) => acts.join(', then ')).join(' | ');
  const at = {
    placed: 'of a placed bet',
    unknown: 'of a new bet',
    elsewhere: 'of a bet placed elsewhere',
  }[begins];
  const failing = faults > 1 ? `, ${faults} steps fail` : faults > 0 ? ', one step fails' : '';
  return `${all} ${at}${failing}`;
}
