import { expect, it, onTestFinished } from 'vitest';
import { unplacedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';

const TOTAL_MS = 900;
const TURN_MS = 20;
const BETS = 120;

it('a place that waited with its connection for longer than a callback may take is not sent (I1)', async () => {
  const gateway = await startTestGateway({ gateway: { deadline: { totalMs: TOTAL_MS } } });
  onTestFinished(() => gateway.close());
  const player = await gateway.player();
  const bets = await Promise.all(
    Array.from({ length: BETS }, () => unplacedBet(gateway, { player, amount: '1' })),
  );
  // One connection is accepted per turn of the event loop, and each turn takes a while.
  gateway.app.server.prependListener('connection', () => {
    const endsAtMs = performance.now() + TURN_MS;
    while (performance.now() < endsAtMs);
  });
  const answers = await Promise.all(bets.map((bet) => bet.place()));
  // More cannot have been read in time, however they came; the last of these had no time left for an answer.
  const inTimeMax = (2 * TOTAL_MS) / TURN_MS;
  expect(bets.filter((bet) => bet.arrivals().length > 0).length).toBeLessThan(inTimeMax);
  const others = answers.filter(({ status }) => status !== 200);
  expect(others.length).toBeGreaterThan(BETS - inTimeMax);
  expect(others.map(({ json }) => json?.code)).toEqual(others.map(() => 100));
});
