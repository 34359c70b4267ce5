import { randomUUID } from 'node:crypto';
import { type BetSlip, placeBody } from '../../../src/protocol/callback-bodies.ts';
import type { ServicePlayer, SimulatedService } from '../../../tools/simulator/service.ts';
import type { PlaceOutcome } from '../../../tools/simulator/service-answers.ts';
import type { Misbehaviour } from '../../../tools/simulator/wallet/misbehaviour.ts';
import type { SimulatedWallet } from '../../../tools/simulator/wallet/wallet.ts';
import type { Random } from './random.ts';

export interface Bettor {
  readonly player: ServicePlayer;
  readonly wallet: SimulatedWallet;
}

/** Longer than the gateway waits for a wallet in these tests. */
const TOO_LATE_MS = 2_500;

/** Whatever happens to the call, the gateway gets no answer. */
const SILENT: readonly Misbehaviour[] = [
  { kind: 'reset', effect: 'applied' },
  { kind: 'reset', effect: 'none' },
  { kind: 'reset', partial: true, effect: 'applied' },
  { kind: 'delay', ms: TOO_LATE_MS },
  { kind: 'hang' },
  { kind: 'status', status: 500, effect: 'applied' },
  { kind: 'status', status: 503 },
  { kind: 'code', code: 100, effect: 'applied' },
  { kind: 'code', code: 100 },
  { kind: 'empty' },
];
const SLOW: Misbehaviour = { kind: 'delay', ms: 80 };
const AT_PLACES: readonly Misbehaviour[] = [
  ...SILENT,
  SLOW,
  { kind: 'lateDebit' },
  { kind: 'code', code: 8, effect: 'applied' },
  { kind: 'code', code: 7 },
];
const AT_OTHERS: readonly Misbehaviour[] = [...SILENT, SLOW];

/** Chooses where this bet's wallet will fail, before the bet is placed. */
export function trouble(random: Random, { wallet }: Bettor, transactionId: string): void {
  if (random.chance(0.2)) {
    wallet.misbehave('place', random.pick(AT_PLACES), { transactionId, calls: 1 });
  }
  for (const operation of ['settle', 'unsettle', 'rollback', 'update'] as const) {
    if (!random.chance(0.15)) continue;
    // Only the service repeats results, and not often; the gateway repeats the other operations.
    const calls = operation === 'rollback' || operation === 'update' ? random.whole(1, 2) : 1;
    wallet.misbehave(operation, random.pick(AT_OTHERS), { transactionId, calls });
  }
}

/**
 * Plays one bet from its place to a random end.
 *
 * @returns where the gateway contradicted itself, in words
 */
export async function liveBet(
  service: SimulatedService,
  random: Random,
  bettor: Bettor,
): Promise<readonly string[]> {
  const transactionId = randomUUID();
  const request = { ...bettor.player, amount: random.amount(2_000), transactionId };
  trouble(random, bettor, transactionId);
  const slip = service.slip(request);
  const placed = await service.place(request);
  if (placed.kind === 'failed') await placed.rollback;
  const contradictions: string[] = [];
  if (random.chance(0.1)) contradictions.push(...(await placeAgain(service, slip, placed)));
  if (placed.kind !== 'accepted') return contradictions;

  if (random.chance(0.15)) await service.update(transactionId, `1.${random.whole(30, 99)}`);
  if (random.chance(0.6)) {
    await settle(service, random, transactionId);
    if (random.chance(0.2)) await settle(service, random, transactionId);
    if (random.chance(0.2)) {
      await service.unsettle(transactionId);
      if (random.chance(0.5)) await settle(service, random, transactionId);
    }
  }
  if (random.chance(0.2)) {
    // Sent twice at once, as by an impatient service: it must still have one effect.
    await Promise.all([service.rollback(transactionId), service.rollback(transactionId)]);
  }
  return contradictions;
}

async function settle(service: SimulatedService, random: Random, transactionId: string) {
  const won = random.chance(0.5);
  const amount = won ? random.amount(4_000) : '0';
  await service.settle(transactionId, { amount, resultType: won ? 'won' : 'lost' });
}

/** A late copy of a place gets the same answer as the first, or learns that it was rolled back (I3, I6). */
async function placeAgain(
  service: SimulatedService,
  slip: BetSlip,
  placed: PlaceOutcome,
): Promise<readonly string[]> {
  const copy = await service.call('POST', '/payment/bet', placeBody(slip));
  const code = copy.json?.code;
  // Nobody was there, or there was no time: this says nothing about the bet.
  if (copy.status === 0 || code === 100) return [];
  const time = placed.result.json?.transactionTime;
  const agrees = {
    accepted: copy.status === 200 && copy.json?.transactionTime === time,
    declined: copy.status === 400 && placed.kind === 'declined' && code === placed.code,
    failed: copy.status === 400 && code === 8,
  };
  if (agrees[placed.kind]) return [];
  return [`bet ${slip.transactionId} was ${placed.kind}, its copy got ${copy.status} ${copy.body}`];
}
