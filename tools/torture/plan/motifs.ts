import type { BetWriter } from './bets.ts';
import type { Random } from './random.ts';

/** What a bet's history is about: most begin with a race that chance would find once in ten thousand bets. */
/** @returns whether the service forgets to roll back a place that was answered 100 */
export type Motif = (writer: BetWriter, random: Random) => boolean;

/** Results, corrections and cancellations, with random disturbances. */
const wander: Motif = (writer, random) => {
  writer.place();
  const results = random.whole(0, 4);
  for (let n = 0; n < results; n += 1) {
    if (random.chance(0.25)) writer.update();
    if (random.chance(0.7)) writer.settle();
    else writer.unsettle();
    if (random.chance(0.35)) {
      writer.fates.uncertain(random.pick(['settle', 'unsettle'] as const), n, !writer.isKeyed);
    }
  }
  if (random.chance(0.25)) writer.rollback(random.chance(0.4));
  return false;
};

/** A result is lost and another one replaces it; the lost one may take effect last. */
const lostThenChanged: Motif = (writer, random) => {
  writer.place();
  writer.settle();
  writer.fates.uncertain('settle', 0, !writer.isKeyed);
  if (random.chance(0.5)) writer.fates.uncertain('settle', 1, !writer.isKeyed);
  const more = random.whole(1, 3);
  for (let n = 0; n < more; n += 1) {
    if (random.chance(0.75)) writer.settle();
    else writer.unsettle();
    if (random.chance(0.3)) writer.fates.uncertain('settle', 2 + n, !writer.isKeyed);
    if (random.chance(0.3)) writer.fates.uncertain('unsettle', n, !writer.isKeyed);
  }
  return false;
};

/** Results queue behind one whose outcome the wallet leaves unknown. */
const queueBehind: Motif = (writer, random) => {
  writer.place();
  const first = writer.settle('won', 0);
  const tries = random.whole(1, 3);
  for (let n = 0; n < tries; n += 1) writer.fates.uncertain('settle', n, !writer.isKeyed);
  if (random.chance(0.2)) writer.refuse(first);
  if (random.chance(0.8)) writer.settle('won', random.whole(0, 700));
  if (random.chance(0.8)) writer.unsettle(random.whole(0, 500));
  if (random.chance(0.3)) writer.settle('won', random.whole(0, 500));
  if (random.chance(0.25)) writer.rollback(random.chance(0.5));
  return false;
};

/** The outcome of the place is unknown: nobody may pay twice for the bet, or keep the stake. */
const placeUnknown: Motif = (writer, random) => {
  writer.place();
  writer.fates.uncertain('place', 0, true);
  if (random.chance(0.3)) writer.fates.uncertain('rollback', 0, true);
  if (random.chance(0.2)) writer.fates.uncertain('rollback', 1, true);
  return random.chance(0.3);
};

/** The player cashes out, and ends the session. */
const cashout: Motif = (writer, random) => {
  writer.place();
  writer.settle('cashout');
  if (random.chance(0.7)) writer.fates.uncertain('settle', 0, false);
  if (random.chance(0.6)) {
    const pauseMs = random.whole(0, 600);
    writer.step(
      { kind: 'endSession' },
      { isAlongside: true, pauseMs, twinShare: 0, replayShare: 0 },
    );
  }
  return false;
};

const declined: Motif = (writer, random) => {
  writer.place().fates.decline('place', 0, random.pick([7, 9, 11]));
  return false;
};

/** The service's control stage rolls the bet back, whatever is under way. */
const givenUp: Motif = (writer, random) => {
  writer.place();
  if (random.chance(0.6)) writer.update();
  if (random.chance(0.6)) {
    writer.settle();
    if (random.chance(0.6)) writer.fates.uncertain('settle', 0, !writer.isKeyed);
  }
  if (random.chance(0.4)) writer.fates.uncertain('rollback', 0, true);
  if (random.chance(0.3)) writer.fates.uncertain('update', 0, false);
  writer.rollback(random.chance(0.5));
  return false;
};

/** A first settle that the wallet refuses for good. */
const refused: Motif = (writer, random) => {
  writer.place();
  const amount = writer.settle('won');
  writer.refuse(amount);
  if (random.chance(0.5)) writer.fates.missed('settle', 0);
  if (random.chance(0.4)) writer.settle('won');
  if (random.chance(0.5)) writer.rollback();
  return false;
};

export const MOTIFS: readonly (readonly [weight: number, motif: Motif])[] = [
  [4, wander],
  [4, lostThenChanged],
  [4, queueBehind],
  [3, placeUnknown],
  [2, cashout],
  [1, declined],
  [3, givenUp],
  [1, refused],
];
