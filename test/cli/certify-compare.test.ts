import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { certificateText } from '../../src/cli/text/certificate-text.ts';
import { certification, sandbox } from '../certify/support/certification.ts';
import { debitsDuplicates, refundsTwice } from '../certify/support/flawed-wallets.ts';
import { folderWith } from '../config/support/folder.ts';
import { certify, folderFor } from './support/certify-runs.ts';
import { wagergate } from './support/command-line.ts';

describe('certify compare', () => {
  async function certified(mistake: Parameters<typeof sandbox>[0]): Promise<string> {
    const folder = folderFor(await sandbox(mistake));
    await certify(folder, '--only', 'rollback');
    return join(folder, 'out');
  }

  it('shows what became better, and says when a certificate was changed', async () => {
    const before = await certified(refundsTwice);
    const after = await certified({});
    const { code, stdout, stderr } = await wagergate(['certify', 'compare', before, after]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('Verdict: not_fit → fit');
    expect(stdout).toMatch(/Better\n[\s\S]*rollback-twice {2}failed → passed/);
    const file = join(after, 'certificate.json');
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('"operator": "alpha"', '"operator": "beta"'),
    );
    const changed = await wagergate(['certify', 'compare', before, file, '--json']);
    expect(changed.stderr).toMatch(/^warning: .*was changed after it was written\n$/);
    expect(JSON.parse(changed.stdout).verdict).toEqual({ before: 'not_fit', after: 'fit' });
  });

  it('keeps a terminal from being moved about by an id in a certificate that an operator has sent', async () => {
    const [before, after] = [await certified(refundsTwice), await certified({})];
    for (const folder of [before, after]) {
      const file = join(folder, 'certificate.json');
      const text = readFileSync(file, 'utf8');
      const hostile = String.raw`rollback-twice\u001b[2J\u001b[31mVerdict: fit\n\u202eall is well`;
      writeFileSync(file, text.replaceAll('"rollback-twice"', `"${hostile}"`));
    }
    const { code, stdout } = await wagergate(['certify', 'compare', before, after]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /Better\n {2}rollback-twice.*Verdict: fit .*all is well {2}failed → passed/,
    );
    for (const moving of ['\u001b', '\u202e']) expect(stdout).not.toContain(moving);
  });

  it('needs two certificates: code 2', async () => {
    const folder = folderWith({ 'other.json': '{"a":1}' });
    const { code, stderr } = await wagergate([
      ...['certify', 'compare', join(folder, 'other.json'), folder],
    ]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^error: .*does not exist|is not a certificate/);
  });
});

describe('the table', () => {
  it('is coloured for terminals, beside words that say the same', async () => {
    const certificate = await certification(await sandbox(debitsDuplicates));
    const coloured = certificateText(certificate, true);
    expect(coloured).toContain('\u001b[31m✗ failed');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences are what it is about
    expect(coloured.replaceAll(/\u001b\[\d+m/g, '')).toBe(certificateText(certificate, false));
  });
});
