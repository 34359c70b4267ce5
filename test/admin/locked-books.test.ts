import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { placedBet, unplacedBet } from '../support/bet.ts';
import { startTestGateway } from '../support/gateway.ts';
import { connect, onServer } from '../support/server.ts';
import { Browser, signIn, startPeople } from './support/people.ts';

const ADMIN_TOKEN = 'the-admin-token-that-nobody-may-read';
/** More than any pool has connections. */
const LOOKS = 15;
/** As many as two people have under way who look at the books and a statement. */
const FEW_LOOKS = 5;
const AT_ONCE_MS = 2_000;

/** A connection that locks a table until it rolls back. */
async function locking(table: string, databaseUrl: string) {
  const somebody = await connect(databaseUrl);
  onTestFinished(() => somebody.end());
  await somebody.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
  return somebody;
}

async function untilSomeWait(databaseUrl: string): Promise<void> {
  const waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
  const count = () =>
    onServer(databaseUrl, async (client) => (await client.query(waiting)).rowCount);
  await expect.poll(count).toBeGreaterThan(1);
}

it('while somebody keeps the books locked, people wait for them, and no callback with them (I7)', async () => {
  const gateway = await startTestGateway({ env: { ADMIN_TOKEN } });
  onTestFinished(() => gateway.close());
  const { app } = gateway.parts.adminServer();
  onTestFinished(() => app.close());
  // Its token is unknown here, so its owner is looked up in PostgreSQL.
  const bet = await unplacedBet(gateway);
  const somebody = await locking('books_days', gateway.databaseUrl);
  const looks = Array.from({ length: LOOKS }, () =>
    app.inject({
      url: '/admin/books/days?operator=alpha&from=2026-11-01&to=2026-11-20',
      headers: { host: 'localhost', authorization: `Bearer ${ADMIN_TOKEN}` },
    }),
  );
  await untilSomeWait(gateway.databaseUrl);
  expect((await bet.place()).status).toBe(200);
  await somebody.query('ROLLBACK');
  await Promise.all(looks);
});

it('while somebody keeps the books locked, who is signed in at the console goes on with everything else', async () => {
  const people = await startPeople();
  onTestFinished(() => people.close());
  people.issuer.person = { email: 'ann@example.com', roles: 'admin' };
  const browser = new Browser();
  await signIn(browser, people);
  const url = (path: string) => `${people.baseUrl}${path}`;
  expect((await browser.go(url('/admin/me'))).status).toBe(200);
  const somebody = await locking('books_days', people.gateway.databaseUrl);
  const days = '/admin/books/days?operator=alpha&from=2026-11-01&to=2026-11-20';
  const looks = Array.from({ length: FEW_LOOKS }, () => browser.go(url(days)));
  await untilSomeWait(people.gateway.databaseUrl);

  const asked = browser.go(url('/admin/deliveries?state=dead'));
  const first = await Promise.race([asked, sleep(AT_ONCE_MS, undefined, { ref: false })]);
  await somebody.query('ROLLBACK');
  await Promise.all(looks);
  expect(first?.status).toBe(200);
});

it('while somebody keeps the books locked, and people look at them again and again, a list is compared', async () => {
  const gateway = await startTestGateway({ env: { ADMIN_TOKEN } });
  onTestFinished(() => gateway.close());
  const { app } = gateway.parts.adminServer();
  onTestFinished(() => app.close());
  const address = await app.listen({ host: '127.0.0.1', port: 0 });
  const headers = { host: 'localhost', authorization: `Bearer ${ADMIN_TOKEN}` };
  const { transactionId } = await placedBet(gateway);
  const somebody = await locking('books_days', gateway.databaseUrl);
  const days = '/admin/books/days?operator=alpha&from=2026-11-01&to=2026-11-20';
  const looks = Array.from({ length: FEW_LOOKS }, () => app.inject({ url: days, headers }));
  await untilSomeWait(gateway.databaseUrl);

  const sent = fetch(
    `${address}/admin/reconciliations?operator=alpha&from=2026-11-19&to=2026-11-20`,
    {
      method: 'POST',
      headers: { authorization: headers.authorization, 'content-type': 'text/csv' },
      body: `transactionId,state\n${transactionId},placed\n`,
    },
  );
  const first = await Promise.race([sent, sleep(AT_ONCE_MS, undefined, { ref: false })]);
  const state = () =>
    onServer(gateway.databaseUrl, async (client) => {
      const { rows } = await client.query<{ state: string }>('SELECT state FROM reconciliations');
      return rows[0]?.state;
    });
  await expect.poll(state, { timeout: AT_ONCE_MS }).toBe('done');
  await somebody.query('ROLLBACK');
  await Promise.all(looks);
  expect(first?.status).toBe(202);
});

it('while somebody keeps the audit locked, people wait for it, and no operator that asks for its bets (I7)', async () => {
  const gateway = await startTestGateway({ env: { ADMIN_TOKEN } });
  onTestFinished(() => gateway.close());
  const { app } = gateway.parts.adminServer();
  onTestFinished(() => app.close());
  const { transactionId } = await placedBet(gateway);
  const somebody = await locking('audit', gateway.databaseUrl);
  const looks = Array.from({ length: FEW_LOOKS }, () =>
    app.inject({
      url: '/admin/audit',
      headers: { host: 'localhost', authorization: `Bearer ${ADMIN_TOKEN}` },
    }),
  );
  await untilSomeWait(gateway.databaseUrl);

  const asked = gateway.operator('alpha').bet(transactionId);
  const first = await Promise.race([asked, sleep(AT_ONCE_MS, undefined, { ref: false })]);
  await somebody.query('ROLLBACK');
  await Promise.all(looks);
  expect(first?.status).toBe(200);
});
