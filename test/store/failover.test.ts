import { describe, expect, it } from 'vitest';
import type { EmbeddedServer } from '../../tools/embedded/server.ts';
import { placedBet } from '../support/bet.ts';
import { openServerPair } from '../support/server-pair.ts';
import { PATIENT_MS } from '../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };

/** Two servers behind one address, which leads to the primary. */
async function openPair(isBehind: boolean) {
  const { lead, takesWrites, ...pair } = await openServerPair(isBehind);
  const { gateway } = pair;
  return {
    ...pair,
    lead: async (server: EmbeddedServer, { writes }: { readonly writes: boolean }) => {
      lead(server);
      await expect.poll(takesWrites, PATIENT).toBe(writes);
    },
    untilTaking: () => expect.poll(takesWrites, PATIENT).toBe(true),
    lost: () => gateway.metric('gateway_lost_commits_total'),
  };
}

describe('a failover', { timeout: 120_000 }, () => {
  it('to a standby that has everything is not spoken of, and bets go on', async () => {
    const { primary, standby, gateway, lead, untilTaking, lost } = await openPair(false);
    await placedBet(gateway, { amount: '10' });
    await expect.poll(standby.isLevel, PATIENT).toBe(true);
    await primary.kill('SIGQUIT');
    await lead(standby, { writes: false });
    await standby.promote();
    await untilTaking();
    await placedBet(gateway, { amount: '10' });
    expect(await lost()).toBe(0);
  });

  it('to one that was behind is reported, and so is the old server if it returns (I3)', async () => {
    const { primary, standby, gateway, lead, untilTaking, lost } = await openPair(true);
    await placedBet(gateway, { amount: '10' });
    await primary.kill('SIGQUIT');
    await lead(standby, { writes: false });
    // It may still receive what it lacks.
    expect(await lost()).toBe(0);
    await standby.promote();
    await untilTaking();
    await expect.poll(lost, PATIENT).toBe(1);

    await placedBet(gateway, { amount: '10' });
    await primary.restart();
    await lead(primary, { writes: true });
    await expect.poll(lost, PATIENT).toBe(2);
  });
});
