import { describe, expect, it } from 'vitest';
import { placedBet } from '../support/bet.ts';
import { openServerPair } from '../support/server-pair.ts';
import { PATIENT_MS } from '../support/timing.ts';

const PATIENT = { timeout: PATIENT_MS };

describe('a failover', { timeout: 120_000 }, () => {
  it('to a standby that has everything needs nobody, and bets go on', async () => {
    const { primary, standby, gateway, lead, takesWrites } = await openServerPair(false);
    await placedBet(gateway, { amount: '10' });
    await expect.poll(standby.isLevel, PATIENT).toBe(true);
    await primary.kill('SIGQUIT');
    lead(standby);
    await expect.poll(takesWrites, PATIENT).toBe(false);
    await standby.promote();
    await expect.poll(takesWrites, PATIENT).toBe(true);
    await placedBet(gateway, { amount: '10' });
  });
});
