import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { ConfigurationFolder } from '../../../tools/torture/deployment/configuration.ts';
import { ALL_OPERATORS, CHARACTERS } from '../../../tools/torture/plan/plan.ts';
import { Wallet } from '../../../tools/torture/world/wallet.ts';

it('faults that change one operator at the same moment leave what the last of them wrote', async () => {
  const wallets = new Map(
    ALL_OPERATORS.map((id) => [id, new Wallet(id, CHARACTERS[id], `${id}-secret`)] as const),
  );
  const folder = await ConfigurationFolder.write(wallets);
  onTestFinished(() => folder.remove());
  for (let n = 0; n < 20; n += 1) {
    await Promise.all([
      folder.setStatus('beta', 'maintenance'),
      folder.touch(),
      folder.setSecrets('beta', ['the-new-secret']),
      folder.setServiceSecrets(['the-services-new-secret']),
      folder.setStatus('beta', 'active'),
    ]);
    const text = await readFile(join(folder.path, 'operators', 'beta.yaml'), 'utf8');
    expect(parse(text)).toMatchObject({
      status: 'active',
      wallet: { secrets: ['the-new-secret'] },
    });
  }
});
