import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Configuration, OperatorConfig } from '../../src/config/schema/schema.ts';
import type {
  ConfigurationListener,
  ConfigurationSource,
  ReloadResult,
} from '../../src/config/source.ts';
import type { Authority } from '../../src/store/audit/audited.ts';
import { ReloadAudit } from '../../src/wiring/reload-audit.ts';
import { partly } from '../support/partly.ts';

interface Row {
  readonly actor: string;
  /** The ids of the operators that were changed. */
  readonly ids: readonly string[];
}

/** A configuration whose only settings are its operators' names, and an audit written by hand. */
function stage() {
  let listener: ConfigurationListener = () => undefined;
  let current = partly<Configuration>({ gateway: {}, operators: new Map() });
  const changeTo = (...ids: readonly string[]) => {
    const previous = current;
    const operators = new Map(ids.map((id) => [id, partly<OperatorConfig>({ id })]));
    current = { ...previous, operators };
    listener(current, previous);
  };
  const reading: (() => void)[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const read = () => new Promise<void>((resolve) => reading.push(resolve));
  const source = partly<ConfigurationSource>({
    get current() {
      return current;
    },
    onChange: (heard: ConfigurationListener) => {
      listener = heard;
      return () => undefined;
    },
    // One after another, like the real one.
    reload: () => {
      const reload = last.then(read).then(() => partly<ReloadResult>({ result: 'ok' }));
      last = reload;
      return reload;
    },
  });
  const rows: Row[] = [];
  const writing: (() => void)[] = [];
  const audit = {
    append: ({ caller }: Authority, { after }: { readonly after?: unknown }) => {
      const { changes } = partly<{ changes: { operators: { id: string }[] } }>(after as object);
      rows.push({ actor: caller.actor, ids: changes.operators.map(({ id }) => id) });
      return new Promise<void>((resolve) => writing.push(resolve));
    },
  };
  const reloads = new ReloadAudit({ source, audit, logger: pino({ level: 'silent' }) });
  reloads.watch();
  return { reloads, changeTo, reading, writing, rows };
}

const person = (actor: string): Authority => ({
  caller: { actor, role: 'admin', address: '192.0.2.1' },
});

it('keeps a change that comes by itself while the row of a person is written (I12)', async () => {
  const { reloads, changeTo, reading, writing, rows } = stage();
  const asked = reloads.reload(person('ann'));
  await expect.poll(() => reading).toHaveLength(1);
  changeTo('alpha');
  reading[0]?.();
  await expect.poll(() => rows).toEqual([{ actor: 'ann', ids: ['alpha'] }]);
  changeTo('alpha', 'beta');
  await expect
    .poll(() => rows)
    .toEqual([
      { actor: 'ann', ids: ['alpha'] },
      { actor: 'configuration', ids: ['beta'] },
    ]);
  for (const written of writing) written();
  expect(await asked).toMatchObject({ result: 'ok' });
});

it('puts a change to the account of the one of two people whose reload has made it (I12)', async () => {
  const { reloads, changeTo, reading, writing, rows } = stage();
  const asked = ['ann', 'ben'].map((actor) => reloads.reload(person(actor)));
  await expect.poll(() => reading).toHaveLength(1);
  changeTo('alpha');
  reading[0]?.();
  await expect.poll(() => reading).toHaveLength(2);
  changeTo('alpha', 'beta');
  reading[1]?.();
  await expect.poll(() => rows).toHaveLength(2);
  expect(rows).toEqual([
    { actor: 'ann', ids: ['alpha'] },
    { actor: 'ben', ids: ['beta'] },
  ]);
  for (const written of writing) written();
  await Promise.all(asked);
});

it('writes its rows in the order of the changes, however much each has changed (I12)', async () => {
  const { changeTo, rows } = stage();
  const thousands = Array.from({ length: 20_000 }, (_, index) => `operator-${index}`);
  changeTo(...thousands);
  changeTo('alpha');
  changeTo();
  await expect.poll(() => rows).toHaveLength(3);
  expect(rows.map(({ ids }) => ids.length)).toEqual([20_000, 20_001, 1]);
});
