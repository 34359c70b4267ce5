import { vi } from 'vitest';
import type { SqlValue } from '../../src/store/sql/sql-value.ts';
import type { TestGateway } from './gateway.ts';

interface Sent {
  readonly name: string;
  readonly values: readonly SqlValue[];
}

/** The statements that a gateway sends from now on, except those of batches of places. */
export function watchStatements({ parts }: TestGateway): {
  readonly sent: () => readonly Sent[];
  readonly end: () => void;
} {
  const spies = [parts.database, parts.journalDatabase].map((one) => vi.spyOn(one, 'query'));
  return {
    sent: () =>
      spies.flatMap(({ mock }) => mock.calls.map(([{ name }, values]) => ({ name, values }))),
    end: () => {
      for (const spy of spies) spy.mockRestore();
    },
  };
}
