import { describe, expect, it, onTestFinished } from 'vitest';
import { statement } from '../../src/store/sql/statement.ts';
import { placedBet } from '../support/bet.ts';
import type { TestGateway } from '../support/gateway.ts';
import { rowsOf } from '../support/server.ts';
import { openServerPair } from '../support/server-pair.ts';
import { PATIENT_MS } from '../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };
const SLOWLY = statement('slowly', {}, 'SELECT pg_sleep(0.2)', () => undefined);
/** Long enough for a look, a few tries of a result, and a busy machine. */
const FOLLOWED_MS = 40_000;

/**
 * A primary that runs on although its standby was promoted in its place: the address leads to the new one, but
 * nobody has ended the connections to the old.
 *
 * @returns with an earlier settled bet
 */
async function failedOver() {
  const { primary, standby, gateway, pointTo } = await openServerPair(false);
  // Before that, commits would wait for it.
  const streaming = () => rowsOf(primary.url, 'SELECT state FROM pg_stat_replication');
  await expect.poll(streaming, PATIENT).toEqual([{ state: 'streaming' }]);
  await rowsOf(primary.url, `ALTER SYSTEM SET synchronous_standby_names = '*'`);
  await rowsOf(primary.url, 'SELECT pg_reload_conf()');
  const bet = await placedBet(gateway);
  expect((await bet.settle('20')).status).toBe(200);
  // Enough connections for callbacks that come one after another.
  const operator = gateway.operator('alpha');
  onTestFinished(() => operator.close());
  expect((await operator.bet(bet.transactionId)).status).toBe(200);
  await inParallel(gateway, 4);
  await expect.poll(standby.isLevel, PATIENT).toBe(true);
  await standby.promote();
  pointTo(standby);
  return { gateway, bet, operator };
}

/** Uses this many connections of a pool at a time. */
const inParallel = ({ parts }: TestGateway, count: number) =>
  Promise.all(Array.from({ length: count }, () => parts.journalDatabase.run(SLOWLY, {})));

describe('a failover past an old primary that goes on', { timeout: 120_000 }, () => {
  it('has it asked nothing more once any new connection has been needed (I3, I8)', async () => {
    const { gateway, bet, operator } = await failedOver();
    await inParallel(gateway, 5);

    const other = await gateway.replica();
    const player = await other.player({ user: 'late' });
    const late = await placedBet(other, { player });
    expect((await late.at(gateway).settle('20')).status).toBe(200);
    expect((await gateway.service.balance(player)).status).toBe(200);
    // Prisma's connections are checked separately.
    const seen = async () => (await operator.bet(late.transactionId)).status;
    await expect.poll(seen, { timeout: FOLLOWED_MS }).toBe(200);
    // The old one would wait for its standby.
    expect((await bet.unsettle()).status).toBe(200);
  });

  it('keeps no bet waiting for it, though no new connection is needed (I4)', async () => {
    const { bet } = await failedOver();
    // Its commit waits there for the standby that has left, and keeps the bet locked.
    expect((await bet.settle('30')).status).toBe(503);
    const settled = async () => (await bet.settle('30')).status;
    await expect.poll(settled, { timeout: FOLLOWED_MS }).toBe(200);
  });
});
