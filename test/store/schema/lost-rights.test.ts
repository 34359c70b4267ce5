import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { TestBet } from '../../support/bet.ts';
import { startTestGateway } from '../../support/gateway.ts';
import { rowsOf } from '../../support/server.ts';

const RUNBOOK = new URL('../../../docs/runbooks/callbacks.md', import.meta.url);

it('a role that has lost all its rights takes bets again after what the runbook says', async () => {
  const role = `gateway_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  let owner = '';
  const gateway = await startTestGateway({
    through: async (urls) => {
      owner = urls.databaseUrl;
      await rowsOf(owner, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
      await rowsOf(owner, `GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`);
      const url = new URL(owner);
      Object.assign(url, { username: role, password });
      return { ...urls, databaseUrl: url.href };
    },
  });
  onTestFinished(async () => {
    await rowsOf(owner, `DROP OWNED BY ${role}`);
    await rowsOf(owner, `DROP ROLE ${role}`);
    await gateway.close();
  });
  const [grants = ''] = /GRANT ALL ON ALL TABLES[^`]*/.exec(await readFile(RUNBOOK, 'utf8')) ?? [];
  for (const one of grants.split(';')) await rowsOf(owner, one.replace('…', role));
  const player = await gateway.player();
  const slip = gateway.service.slip({ ...player, amount: '10' });
  const bet = new TestBet(gateway, player, slip, 'alpha');
  expect(await bet.place()).toMatchObject({ status: 200 });
  expect(await bet.settle('20')).toMatchObject({ status: 200 });
});
