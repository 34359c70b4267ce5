import { expect, it } from 'vitest';
import { GatewayError } from '../../../src/domain/errors.ts';
import type { Database } from '../../../src/store/database.ts';
import { Nonces } from '../../../src/store/sessions/nonces.ts';
import { partly } from '../../support/partly.ts';
import { TestClock } from '../../support/test-clock.ts';

it('a nonce is not used up by a request that was refused because old ones could not be cleared', async () => {
  const clock = new TestClock();
  const used = new Set<string>();
  let canClear = false;
  const database = partly<Database>({
    run: async ({ name }: { name: string }, { nonceHash }: { nonceHash?: Buffer }) => {
      if (name === 'nonce-clear' && !canClear) {
        throw new GatewayError('DATABASE_UNAVAILABLE', 'away');
      }
      if (nonceHash === undefined) return [];
      if (used.has(String(nonceHash))) return ['known'];
      used.add(String(nonceHash));
      return ['first'];
    },
  });
  const nonces = new Nonces(database, clock);
  clock.atMs += 60_000;
  const ask = () => nonces.use('alpha', Buffer.from('one'), new Date());
  await expect(ask()).rejects.toThrow('away');
  canClear = true;
  expect(await ask()).toBe('first');
  expect(await ask()).toBe('known');
});
