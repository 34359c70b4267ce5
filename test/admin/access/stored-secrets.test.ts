import { expect, it } from 'vitest';
import { rowsOf } from '../../support/server.ts';
import { ADMIN_TOKEN, ask } from '../support/admin.ts';
import { Browser, signIn, startPeople } from '../support/people.ts';

it('PostgreSQL holds nothing that would open a session: neither a cookie nor a link', async () => {
  const people = await startPeople();
  people.issuer.person = { email: 'a@x.example', roles: ['admin'] };
  const browser = new Browser();
  await signIn(browser, people);
  const { json } = await ask(`${people.baseUrl}/admin/console/links`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
    body: '{}',
  });
  const secrets = [
    browser.cookies.get('__Host-wagergate-session'),
    new URL(json.url).hash.slice(1),
  ];
  const rows = await rowsOf(
    people.gateway.databaseUrl,
    'SELECT s::text FROM console_sessions s UNION ALL SELECT l::text FROM console_links l',
  );
  expect(rows).toHaveLength(2);
  for (const secret of secrets) {
    expect(secret).toHaveLength(43);
    expect(JSON.stringify(rows)).not.toContain(secret);
    // PostgreSQL shows bytes in hexadecimal.
    expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret ?? '').toString('hex'));
  }
  await people.close();
});
