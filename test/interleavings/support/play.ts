import { findingsOf, wordsBroken } from './check.ts';
import { type Deed, isDeed } from './deed.ts';
import { perform } from './deeds.ts';
import type { Course } from './explore.ts';
import { Gates } from './gates.ts';
import { heal } from './heal.ts';
import { isFinal, type Lived, send } from './lived.ts';
import { ScriptedWallet } from './scripted-wallet.ts';
import { type Act, Messages, slipOf } from './service.ts';
import { getIntoTrouble, type Trouble } from './trouble.ts';
import type { Lane, Replica, World } from './world.ts';

/** The concurrent operations of one bet. */
export interface Scenario {
  /** `elsewhere`: a wallet has accepted its place through another gateway, and this one has not seen it. */
  readonly begins: 'unknown' | 'placed' | 'elsewhere' | Trouble;
  /** Whether the wallet has carried out the call that got no answer. Default: no. */
  readonly isTaken?: boolean;
  /** Whether the wallet pays repeats again (`unknownRepeats: hold`). Default: no. */
  readonly paysRepeats?: boolean;
  /** Each is its own process, which performs its acts one after another as long as it gets final answers. */
  readonly actors: readonly (readonly (Act | Deed)[])[];
  /** The last actor's process never reads that the operator has another wallet. Default: it does. */
  readonly isBehind?: boolean;
  /** How many steps may fail. */
  readonly faults: number;
}

/** Plays one order, then lets time repair what it can, and judges. @returns what is wrong */
export async function playScenario(
  world: World,
  lane: Lane,
  scenario: Scenario,
  course: Course,
): Promise<readonly string[]> {
  const isPlacedElsewhere = scenario.begins === 'elsewhere';
  const wallet = new ScriptedWallet(lane.operatorId, isPlacedElsewhere, scenario.paysRepeats);
  lane.wallet = wallet;
  const slip = slipOf(lane);
  const messages = new Messages(slip);
  const lived: Lived = {
    ...{ slip, messages, sent: [], wallet, isPlacedElsewhere, moment: 0 },
    ...{ done: [], deliveryId: '', byHand: { result: '20' } },
  };
  await clearQueue(world, lane);
  lane.generation = 1;
  await begin(world, lane, scenario, lived);
  const gates = new Gates(scenario.faults, (actor) => wallet.callerIsGone(actor));
  const problems: string[] = [];
  for (const [index, acts] of scenario.actors.entries()) {
    gates.start(`${'ABC'[index]}`, async () => {
      try {
        const isLast = index === scenario.actors.length - 1;
        const replica = lane.replica(isLast && scenario.isBehind === true);
        await live(world, lane, replica, lived, acts);
      } catch (error) {
        problems.push(`${acts.join(', ')} failed: ${error}`);
      }
    });
  }
  await gates.settled();
  for (let move = course.next(gates); move !== undefined; move = course.next(gates)) {
    lived.moment += 1;
    await gates.take(move);
  }
  gates.close();
  if (course.isKnown) return [];
  lived.moment += 1;
  problems.push(...(await wordsBroken(world, lived)));
  await heal(world, lane, lived);
  const found = [...problems, ...(await findingsOf(world, lived))];
  return found.map((why) => `${why}\n${storyOf(lived)}`);
}

function storyOf({ sent, done }: Lived): string {
  const deeds = done.map(({ deed, answer }) => `  ${deed}: ${answer ?? 'nothing'}`);
  return sent
    .map(({ message, from, to, answer }) => {
      const told = answer === undefined ? 'nothing' : `${answer.status} ${answer.body}`;
      return `  ${message.id} (${from} to ${to}) was told ${told}`;
    })
    .concat(deeds)
    .join('\n');
}

async function begin(world: World, lane: Lane, scenario: Scenario, lived: Lived) {
  const { begins } = scenario;
  if (begins === 'unknown' || begins === 'elsewhere') return;
  await send(lane.replica(), lived, 'place');
  lived.moment += 1;
  if (begins === 'placed') return;
  await getIntoTrouble(world, lane, lived, begins, scenario.isTaken === true);
  lived.moment += 1;
}

/** Closes what an earlier run of the lane has left, so that nobody works on it any more. */
async function clearQueue(world: World, { operatorId }: Lane): Promise<void> {
  await world.sql(
    'clear-queue',
    `UPDATE deliveries SET state = 'resolved'
      WHERE operator_id = $1 AND state IN ('live', 'pending', 'dead')`,
    [operatorId],
  );
  await world.sql('clear-holds', 'DELETE FROM operator_holds WHERE operator_id = $1', [operatorId]);
}

async function live(
  world: World,
  lane: Lane,
  replica: Replica,
  lived: Lived,
  acts: readonly (Act | Deed)[],
): Promise<void> {
  for (const act of acts) {
    if (isDeed(act)) {
      await perform(world, lane, replica, lived, act);
      continue;
    }
    const first = await send(replica, lived, act);
    if (isFinal(first)) continue;
    // A place is sent only once; everything else is repeated by the service.
    if (first.message.kind === 'place') return;
    if (!isFinal(await send(replica, lived, act))) return;
  }
}
