import { expect, it, onTestFinished } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { ADMIN_TOKEN, ask } from './support/admin.ts';

it('answers in its own form to the last, and names each dependency to who asks for readiness', async () => {
  const gateway = await startTestGateway({ env: { ADMIN_TOKEN } });
  onTestFinished(() => gateway.close());
  const { app, readiness } = gateway.parts.adminServer();
  readiness.started();
  const rest = Promise.withResolvers<void>();
  app.addHook('preClose', () => rest.promise);
  const baseUrl = await app.listen({ host: '127.0.0.1', port: 0 });
  readiness.draining();
  const closing = app.close();

  const ready = await ask(`${baseUrl}/health/ready`);
  expect([ready.status, ready.json]).toEqual([
    503,
    { status: 'draining', dependencies: { postgresql: 'up', redis: 'up' } },
  ]);
  const live = await ask(`${baseUrl}/health/live`);
  expect([live.status, live.json]).toEqual([200, { status: 'live' }]);
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
  for (const path of ['/admin/operators', '/metrics', '/console', '/nowhere']) {
    const { status, json } = await ask(`${baseUrl}${path}`, { headers });
    expect([path, status, json]).toEqual([
      path,
      503,
      { code: 100, message: 'This process is ending: nothing was done' },
    ]);
  }
  rest.resolve();
  await closing;
});
