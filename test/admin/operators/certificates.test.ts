import { mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wagergate } from '../../cli/support/command-line.ts';
import { startAdmin, type TestAdmin } from '../support/admin.ts';

let admin: TestAdmin;
let folder = '';
beforeAll(async () => {
  admin = await startAdmin();
  folder = join(admin.gateway.configFolder, 'certificates/alpha');
  await mkdir(folder, { recursive: true });
});
afterAll(() => admin.close());

const read = (id = 'alpha') => admin.get(`/admin/operators/${id}/certificate`);
const put = (text: string) => writeFile(join(folder, 'certificate.json'), text);

describe('the certificate of an operator', () => {
  it('does not exist before a certification, nor for an unknown operator', async () => {
    for (const id of ['alpha', 'beta', 'nobody', '..', '%2e%2e%2falpha']) {
      expect([id, (await read(id)).status]).toEqual([id, 404]);
    }
  });

  it('is what certify has written there, without the calls', async () => {
    const { userId } = await admin.gateway.player();
    // There is no sandbox: nothing is tried, and the certificate says so.
    const { code } = await wagergate(
      ['certify', '--operator', 'alpha', '--user', userId, '--token', 'nobodys', '--out', folder],
      {
        env: { GATEWAY_CONFIG: admin.gateway.configFolder, SERVICE_SECRET: 'the-services-secret' },
      },
    );
    expect(code).toBeGreaterThan(0);
    const written = JSON.parse(await readFile(join(folder, 'certificate.json'), 'utf8'));
    const { status, json } = await read();
    expect(status).toBe(200);
    const { verdict, summary, startedAt, wallet, complete } = written;
    expect(json).toMatchObject({ verdict, summary, startedAt, wallet, complete });
    expect(json).not.toHaveProperty('cases');
    expect(json.findings).toHaveLength(written.findings.length);
  });

  it('is not said to be missing where the file may not be read, or is too large to be a certificate', async () => {
    const file = join(folder, 'certificate.json');
    await rm(file, { force: true });
    // No rights keep root from reading; a link that leads to itself is read by nobody.
    await symlink(file, file);
    const unreadable = await read();
    expect([unreadable.status, unreadable.json]).toEqual([
      409,
      { code: 8, message: 'The certificate there cannot be read (ELOOP)' },
    ]);
    await rm(file);
    await writeFile(file, '{}');
    await truncate(file, 16 * 1024 * 1024 + 1);
    const large = await read();
    expect([large.status, large.json]).toEqual([
      409,
      { code: 8, message: 'The certificate there is larger than 16 MiB' },
    ]);
    await rm(file);
    expect((await read()).status).toBe(404);
  });

  it.each(['', '{', '[]', '{"verdict":"fit"}', 'null'])('is not made up from %j', async (text) => {
    await put(text);
    const { status, json } = await read();
    expect([status, json.code]).toEqual([409, 8]);
  });
});
