import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';

const OPEN_MS = 400;
/** How long after a breaker has become half-open the next player bets. */
const LATER_MS = 100;

it('a breaker is closed by live calls where the only delivery that waits always fails (I7)', async () => {
  const gateway = await startTestGateway({
    worker: true,
    // Far longer than the test: the delivery is tried only because a half-open breaker needs a call.
    gateway: { delivery: { minBackoffMs: 100_000, maxBackoffMs: 300_000 } },
    operators: { alpha: { wallet: { breaker: { minRequests: 3, openMs: OPEN_MS } } } },
  });
  onTestFinished(() => gateway.close());
  const poisoned = await placedBet(gateway);
  const { wallet } = poisoned;
  wallet.misbehave(
    'rollback',
    { kind: 'status', status: 500 },
    { transactionId: poisoned.slip.transactionId },
  );
  expect((await poisoned.rollback()).status).toBe(200);
  const player = await gateway.player();
  const live = async () => {
    const bet = await unplacedBet(gateway, { player, amount: '1' });
    return (await bet.place()).status;
  };
  const breaker = () => gateway.parts.wallets.get('alpha')?.breakerState('money');
  const behave = wallet.misbehave('place', { kind: 'reset' });
  while (breaker() === 'closed') expect(await live()).toBe(400);
  // From now on the wallet works, except for that one bet.
  behave();
  let placed: number;
  do {
    await expect.poll(breaker, { interval: 5 }).not.toBe('open');
    await sleep(LATER_MS);
    placed = await live();
    await sleep(LATER_MS);
  } while (placed !== 200);
}, 60_000);
