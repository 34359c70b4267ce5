import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { CLIENT_ID, startIssuer } from '../support/issuer.ts';
import { startAdmin, type TestAdmin } from './support/admin.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());

const preview = () => admin.get('/admin/config/preview');

describe('what a reload would change', () => {
  it('is nothing while the folder’s content is in force', async () => {
    expect((await preview()).json).toEqual({
      ...{ result: 'ok', problems: [], problemCount: 0, gateway: [], operators: [] },
    });
  });

  it('is told setting by setting, with warnings and what is wrong, and no secret (I8)', async () => {
    const beta = join(admin.gateway.configFolder, 'operators/beta.yaml');
    await writeFile(beta, 'id: beta\nname: Beta\nstatus: asleep\n');
    const { json, text } = await preview();
    expect(json).toMatchObject({ result: 'invalid', operators: [] });
    expect(json.problems).toContainEqual({
      file: 'operators/beta.yaml',
      path: 'status',
      reason: expect.stringContaining('must be one of'),
    });
    expect(json.problems).toHaveLength(Number(json.problemCount));
    expect(text).not.toMatch(/wallet-secret|api-secret/);
    const { json: config } = await admin.get('/admin/config');
    expect(config.operators).toHaveProperty('beta.status', 'maintenance');
  });
});

it('fingerprints of secrets are of a key that nobody has, where there is no admin token (I8)', async () => {
  const issuer = await startIssuer();
  const gateway = await startTestGateway({
    env: { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: CLIENT_ID },
  });
  const shown = async () => {
    const { app } = gateway.parts.adminServer();
    const authorization = `Bearer ${await issuer.token({ roles: 'viewer' })}`;
    const { payload } = await app.inject({ url: '/admin/config', headers: { authorization } });
    await app.close();
    return JSON.parse(payload).operators.alpha['api.secrets'].secrets;
  };
  const fingerprints = [await shown(), await shown()].flat();
  expect(fingerprints).toHaveLength(2);
  // Made with a key that could be guessed, a viewer could try secrets by them.
  expect(new Set(fingerprints).size).toBe(2);
  await gateway.close();
  await issuer.close();
});

describe('templates', () => {
  const assign = (operator: string, body: object) =>
    admin.post(`/admin/operators/${operator}/templates/assign`, body);

  it('become an operator’s own by a person’s word, all or none, on record (I12)', async () => {
    const first = await assign('alpha', { templates: ['57', '58'], reason: 'their order' });
    expect([first.status, first.json]).toEqual([200, { assigned: ['57', '58'], unchanged: [] }]);
    const again = await assign('alpha', { templates: ['58'] });
    expect(again.json).toEqual({ assigned: [], unchanged: ['58'] });
    const taken = await assign('beta', { templates: ['59', '57'] });
    expect([taken.status, taken.json.message]).toEqual([
      409,
      'Nothing assigned: another operator owns template 57 (alpha)',
    ]);
    const { json } = await admin.get('/admin/audit?action=bonus.assign');
    expect(
      json.items.map(({ actor, subject, operator, reason }: Record<string, unknown>) => [
        ...[actor, subject, operator, reason],
      ]),
    ).toEqual([
      ['token', 'template 58', 'alpha', 'their order'],
      ['token', 'template 57', 'alpha', 'their order'],
    ]);
  });

  it.each([
    [{ templates: [] }, 'templates: must name a template'],
    [{ templates: ['x'] }, "templates.0: must be the service's whole number as text"],
    [{ templates: [57] }, 'templates.0: must be a list of ids as text'],
    [{ templates: '57' }, 'templates: must be a list of ids as text'],
    [{ template: ['57'] }, expect.stringContaining('templates')],
  ])('are not taken from %j', async (body, message) => {
    const { status, json } = await assign('alpha', body);
    expect([status, json.message]).toEqual([400, message]);
  });

  it('are not assigned to an unknown operator', async () => {
    expect((await assign('nobody', { templates: ['57'] })).status).toBe(404);
  });
});
