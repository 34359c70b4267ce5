import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { linesOfFile } from '../../../src/config/folder/line-of-path.ts';
import { folderWith } from '../support/folder.ts';

const FILE = `# a comment
id: alpha
wallet:
  baseUrl:
    https://wallet.example
  secrets: [\${WALLET_SECRET}, other]
  headers:
    "x odd": 1
currencies:
  - EUR
  - usd
`;

describe('the line of a setting', () => {
  const lineIn = (path: string, text = FILE) =>
    linesOfFile(join(folderWith({ 'alpha.yaml': text }), 'alpha.yaml'))(path);

  it.each([
    ['id', 2],
    ['wallet', 3],
    ['wallet.baseUrl', 4],
    ['wallet.secrets', 6],
    ['wallet.secrets[1]', 6],
    ['wallet.headers["x odd"]', 8],
    ['currencies[1]', 11],
    ['currencies[7]', 9],
    ['wallet.timeoutMs', 3],
    ['wallet.dialect.paths.bet', 3],
  ])('%s is where its key stands, or the group that lacks it', (path, line) => {
    expect(lineIn(path)).toBe(line);
  });

  it('does not exist if the setting is missing, in text that is no YAML, and in no file', () => {
    expect(lineIn('api.cid')).toBeUndefined();
    expect(lineIn('id', 'id: [')).toBeUndefined();
    expect(linesOfFile('/nowhere/at/all.yaml')('id')).toBeUndefined();
  });
});
