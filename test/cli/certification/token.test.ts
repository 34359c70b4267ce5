import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { secretText } from '../../../src/cli/certification/token.ts';
import { UsageError } from '../../../src/cli/failures.ts';
import { folderWith } from '../../config/support/folder.ts';

const fromFile = (content: string) => {
  const file = join(folderWith({ secret: content }), 'secret');
  const none = { value: undefined, env: undefined };
  return () => secretText({ option: '--secret', ...none, file }, {});
};

describe('a secret in a file', () => {
  it('is its one line, without what stands around it', () => {
    expect(fromFile(' the secret of now \r\n\n')()).toBe('the secret of now');
  });

  it.each(['\n', '\r\n'])('is not two lines, taken for one secret (%j)', (lineBreak) => {
    const read = fromFile(`the-secret-of-now${lineBreak}the-secret-of-before\n`);
    expect(read).toThrow(UsageError);
    expect(read).toThrow(/secret \(--secret-file\) must hold one line$/);
  });
});
